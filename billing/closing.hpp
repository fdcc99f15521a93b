// Closing an obligation without a charge of our own: first nothing may be payable any more.
// Private.
#pragma once

#include "billing/draft.hpp"

namespace onceward::billing {

/// No request that moves money is unresolved: cancels the payable intent, or, if there is none,
/// closes the obligation as its state says. Does nothing if it is not to be closed.
void close_up(Draft& draft);

/// A payment that an operator vouches for, of an obligation that was closed unpaid.
void record_payment(Draft& draft, Resolution resolution, const std::string& reference);

/// No automatic step is safe: an operator owns it from now on. One whom an operator has judged
/// already is closed as he said.
void park(Draft& draft, std::string reason);

}  // namespace onceward::billing
