// The next request of an obligation that has none unresolved. Private to billing.
#pragma once

#include "billing/draft.hpp"

namespace onceward::billing {

/// Starts what is due: the closing steps, the first request, or the next try after a decline. The
/// latter only after a read that shows the period still owed, and never twice a day with one card.
void start_next(Draft& draft);

/// Whether a try after a decline is due, so that a read of the provider's state decides about it.
[[nodiscard]] bool next_try_is_due(const Draft& draft);

/// Records what follows the decline that the draft has just recorded.
void plan_after_decline(Draft& draft);

}  // namespace onceward::billing
