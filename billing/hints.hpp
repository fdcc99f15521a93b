// Objects that hints named: reading them, and what money found there makes of the obligation.
// Private to billing.
#pragma once

#include <string>

#include "billing/draft.hpp"

namespace onceward::billing {

/// Starts the read of a hinted object that is due. True if the obligation's own requests must wait
/// for it: another payment may have been made, and a send beside it could be the second one.
[[nodiscard]] bool advance_hinted(Draft& draft);

/// The answer to the read of a hinted object.
void on_hinted_object(Draft& draft, const std::string& object, const ExternalAnswer& answer);

/// Money of this obligation beside what completed it; recorded once per charge.
void unexpected_payment(Draft& draft, const ProviderObject& object, std::string alarm);

/// Whether it is the very charge that completed the obligation.
[[nodiscard]] bool is_what_was_charged(const ObligationState& obligation,
                                       const ProviderObject& object);

/// Correlation of the read of a hinted object.
[[nodiscard]] IdempotencyKey hinted_key(const PeriodPurpose& of, const std::string& object);

}  // namespace onceward::billing
