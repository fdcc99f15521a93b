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
/// No automatic try: the reason names what would change that.
struct GiveUp {
  std::string reason;  ///< "dunning_exhausted", "card_refused_for_good", "payment_method_needed"
};
using DunningStep = std::variant<TryAgain, GiveUp>;

/// After the `declines`-th decline (1-based) of an obligation whose first try was at `first`.
/// Tries are spread evenly over policy.dunning_spread, at least a day apart: card schemes count
/// re-attempts, and a card is never tried twice a day.
[[nodiscard]] DunningStep next_try(const BillingPolicy& policy, provider::DeclineBucket bucket,
                                   std::uint32_t declines, Timestamp first, Timestamp now);

}  // namespace onceward::billing
