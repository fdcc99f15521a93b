// Refunds in the making: sending, reading the refunds of a charge, and what each answer makes of a
// refund. Private to billing.
#pragma once

#include "billing/draft.hpp"

namespace onceward::billing {

/// Starts whatever the refunds of the obligation owe now, or asks for a permit.
void advance_refunds(Draft& draft);

/// The answer to the request of one refund.
void on_refund_answer(Draft& draft, std::uint32_t number, const ExternalAnswer& answer);

/// The answer to the read of all refunds of the charge.
void on_refund_list(Draft& draft, const ExternalAnswer& answer);

/// Correlation of the read of all refunds of an obligation's charge.
[[nodiscard]] IdempotencyKey refund_list_key(const PeriodPurpose& of);

}  // namespace onceward::billing
