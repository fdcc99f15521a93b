// The dunning plan.
#include <onceward/billing/dunning.hpp>

#include <algorithm>

namespace onceward::billing {

namespace {
constexpr std::chrono::milliseconds a_day = std::chrono::hours{24};
}

DunningStep next_try(const BillingPolicy& policy, provider::DeclineBucket bucket,
                     std::uint32_t declines, Timestamp first, Timestamp now) {
  ONCEWARD_CHECK(declines >= 1, "dunning follows a decline");
  const Timestamp end = first.plus(policy.dunning_spread);
  const auto tries = static_cast<std::uint32_t>(std::max(policy.dunning_attempts, 1));
  if (bucket == provider::DeclineBucket::never) return GiveUp{"card_refused_for_good"};
  if (declines >= tries || end < now) return GiveUp{"dunning_exhausted"};
  if (bucket == provider::DeclineBucket::customer_action) return WaitForMethod{end};
  const auto gaps = static_cast<std::int64_t>(tries - 1);
  const Timestamp planned =
      first.plus(policy.dunning_spread * static_cast<std::int64_t>(declines) / gaps);
  const Timestamp at = std::max(planned, now.plus(a_day));
  if (end < at) return GiveUp{"dunning_exhausted"};
  return TryAgain{at};
}

}  // namespace onceward::billing
