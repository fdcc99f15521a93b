// From the configuration to what the entities may know of it.
#include "app/config/config.hpp"

#include <algorithm>

namespace onceward::app {

billing::BillingPolicy billing_policy(const Config& config) {
  const auto& provider = config.provider;
  billing::BillingPolicy policy;
  policy.ns = config.keys.ns;
  policy.account = provider.account;
  policy.mode = provider.mode;
  policy.scheme = config.keys.scheme;
  policy.flow = provider.flow;
  policy.cap_mode = config.spend_cap.mode;
  policy.rebill_after_unknown = provider.rebill_after_unknown;
  policy.below_minimum = provider.below_minimum;
  policy.allow_future = config.schedule.allow_future;
  policy.call_timeout = provider.timeout;
  policy.attempt_deadline = provider.attempt_deadline;
  policy.provider_bound = provider.provider_bound;
  policy.same_key_burst = static_cast<int>(std::max(provider.max_network_retries, 1U));
  policy.dunning_attempts = static_cast<int>(config.dunning.attempts);
  policy.dunning_spread = config.dunning.spread;
  return policy;
}

}  // namespace onceward::app
