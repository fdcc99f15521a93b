// Dunning: when a declined obligation is tried again. Pure; all times come from the caller.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include <onceward/billing/billing_policy.hpp>
#include <onceward/provider/classification.hpp>

namespace onceward::billing {

/// Try again at this time.
struct TryAgain {
  Timestamp at;
};
/// Only another payment method helps; without one it is given up at `until`.
struct WaitForMethod {
  Timestamp until;
};
/// No further try.
struct GiveUp {
  std::string reason;  ///< "dunning_exhausted", "card_refused_for_good"
};
using DunningStep = std::variant<TryAgain, WaitForMethod, GiveUp>;

/// After the `declines`-th decline (1-based) of an obligation whose first one was at `first`. Tries
/// are spread evenly over policy.dunning_spread from then on, at least a day apart, and none is
/// later: card schemes count re-attempts, and a card is never tried twice a day.
[[nodiscard]] DunningStep next_try(const BillingPolicy& policy, provider::DeclineBucket bucket,
                                   std::uint32_t declines, Timestamp first, Timestamp now);

}  // namespace onceward::billing
