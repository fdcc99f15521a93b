// Matching of fault rules.
#include "provider/simulator/faults.hpp"

#include <algorithm>

namespace onceward::provider::simulator {
namespace {

/// '*' stands for any text, also none.
bool fits_glob(std::string_view pattern, std::string_view text) {
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  std::size_t p = 0;
  std::size_t t = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool fits(const FaultMatch& match, const RequestFacts& facts) {
  if (match.nth && *match.nth != facts.nr) return false;
  if (match.key && *match.key != facts.key) return false;
  if (match.customer && *match.customer != facts.customer &&
      *match.customer != facts.provider_customer) {
    return false;
  }
  if (match.path && !fits_glob(*match.path, facts.path)) return false;
  if (match.event && !fits_glob(*match.event, facts.event)) return false;
  if (match.money && *match.money != facts.money) return false;
  const std::string method = match.method.value_or("POST");
  return method == "ANY" || method == facts.method;
}

std::string customer_of(const RequestFacts& facts) {
  return facts.customer.empty() ? facts.provider_customer : facts.customer;
}

}  // namespace

bool Faults::acts(FaultRule& rule, const RequestFacts& facts, Timestamp driver_now) {
  if (!fits(rule.match, facts)) return false;
  const auto* gate = std::get_if<GateFault>(&rule.action);
  const bool in_use = gate != nullptr && gate->kind == GateFault::Kind::key_in_use;
  if (in_use) {
    // A key that was found in use stays in use for its time, and is then free for good.
    const auto known = rule.in_use_until.find(facts.key);
    if (known != rule.in_use_until.end()) return driver_now < known->second;
  }
  if (gate != nullptr && gate->kind == GateFault::Kind::stale_connection &&
      (!facts.idle || *facts.idle < gate->idle_for)) {
    return false;
  }
  const auto* outcome = std::get_if<OutcomeFault>(&rule.action);
  const bool per_customer = outcome != nullptr && outcome->times_per_customer.has_value();
  if (rule.count && rule.acted >= *rule.count) return false;
  if (per_customer && rule.acted_on[customer_of(facts)] >= *outcome->times_per_customer) {
    return false;
  }
  if (rule.matched++ < rule.skip) return false;
  if (rule.parts_per_million < 1'000'000 && !random_.happens(rule.parts_per_million)) return false;
  ++rule.acted;
  if (per_customer) ++rule.acted_on[customer_of(facts)];
  if (in_use) rule.in_use_until[facts.key] = driver_now.plus(gate->in_use_for);
  return true;
}

std::vector<WebhookFault> Faults::take_webhook(const RequestFacts& facts, Timestamp driver_now,
                                               bool of_attempt, std::string& acted) {
  std::vector<WebhookFault> taken;
  for (FaultRule& rule : rules_) {
    const auto* fault = std::get_if<WebhookFault>(&rule.action);
    if (fault == nullptr || fault->is_of_attempt() != of_attempt) continue;
    const bool had = std::any_of(taken.begin(), taken.end(), [&](const WebhookFault& before) {
      return before.kind == fault->kind;
    });
    if (had || !acts(rule, facts, driver_now)) continue;
    note_fault(acted, rule.name);
    taken.push_back(*fault);
  }
  return taken;
}

}  // namespace onceward::provider::simulator
