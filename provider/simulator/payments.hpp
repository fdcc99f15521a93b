// Taking money: the only place that makes charges and writes the ledger.
#pragma once

#include <optional>
#include <string>

#include "provider/simulator/endpoint.hpp"

namespace onceward::provider::simulator {

/// How an attempt with this payment method or source ends: a fault rule first, then the token.
[[nodiscard]] PaymentOutcome outcome_for(EndpointContext& context, const std::string& source);

/// What an intent charges: everything but the outcome.
[[nodiscard]] Charge charge_for(const PaymentIntent& intent);
/// Completes `charge` (id, time, status, request) by the outcome, stores it, and writes the ledger
/// if money moved. Decline and authentication make a failed charge with its error.
Charge& make_charge(EndpointContext& context, Charge charge, const PaymentOutcome& outcome);

/// Ends every pending charge whose time has come, and its intent.
void settle_due(EndpointContext& context);
/// The payer has authenticated, or refused to, an intent in requires_action. False when it is not.
[[nodiscard]] bool finish_action(EndpointContext& context, PaymentIntent& intent, bool succeeds);

/// The 402 answer for a failed charge.
[[nodiscard]] ApiError card_error(const Charge& charge);

/// Sets status, charge and error of the intent from its newest charge, and tells the events.
void apply_charge(EndpointContext& context, PaymentIntent& intent, const Charge& charge);
void tell(EndpointContext& context, const char* type, const PaymentIntent& intent);

/// A ledger row about this charge: without time, key and request of the movement.
[[nodiscard]] LedgerRow ledger_row_of(const Charge& charge);
/// The stored form of a ledger row, which is also what GET /_sim/ledger and /_sim/refunds list.
[[nodiscard]] boost::json::object to_json(const LedgerRow& row);
[[nodiscard]] Result<LedgerRow> parse_ledger_row(std::string_view text);

}  // namespace onceward::provider::simulator
