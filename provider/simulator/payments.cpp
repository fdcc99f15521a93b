// Charges, their ends, and the ledger.
#include "provider/simulator/payments.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/announce.hpp"
#include "provider/simulator/json_reader.hpp"

namespace onceward::provider::simulator {
namespace {

void tell(EndpointContext& context, const Charge& charge) {
  announce(context, "charge." + std::string(to_text(charge.status)), to_json(charge),
           {charge.request, charge.key});
}

/// The one line that says: money has moved.
void write_ledger(EndpointContext& context, const Charge& charge) {
  LedgerRow row = ledger_row_of(charge);
  row.at = context.now;
  row.key = charge.key;
  row.request = charge.request;
  const LedgerRow& kept = context.ledger.append(std::move(row));
  context.changes.put("ledger", std::to_string(kept.seq),
                      [&] { return boost::json::serialize(to_json(kept)); });
}

PaymentError error_of(const PaymentOutcome& outcome, const Charge& charge) {
  const bool authenticate = outcome.kind == OutcomeKind::authenticate;
  PaymentError error;
  error.code = authenticate ? "authentication_required" : outcome.code;
  error.decline_code = authenticate ? "authentication_required" : outcome.decline_code;
  error.message = decline_message(outcome);
  error.charge = charge.id;
  error.payment_method = charge.payment_method;
  return error;
}

void settle(EndpointContext& context, Charge& charge) {
  const bool succeeds = charge.settlement->succeeds;
  charge.settlement.reset();
  if (succeeds) {
    charge.status = ChargeStatus::succeeded;
    write_ledger(context, charge);
  } else {
    charge.status = ChargeStatus::failed;
    charge.error = error_of(decline_with("generic_decline"), charge);
  }
  context.store.save(charge);
  tell(context, charge);
  if (PaymentIntent* intent = context.store.intents().find(charge.payment_intent)) {
    apply_charge(context, *intent, charge);
  }
}

}  // namespace

PaymentOutcome outcome_for(EndpointContext& context, const std::string& source) {
  if (auto forced = context.forced_outcome()) return *std::move(forced);
  const PaymentMethod* method = context.store.payment_methods().find(source);
  return outcome_of_token(method == nullptr ? source : method->token).value_or(PaymentOutcome{});
}

Charge& make_charge(EndpointContext& context, Charge charge, const PaymentOutcome& outcome) {
  charge.id = context.store.next_id("ch_");
  charge.created_s = context.now_s();
  charge.key = context.key;
  charge.request = context.request_id;
  switch (outcome.kind) {
    case OutcomeKind::succeed:
      charge.status = ChargeStatus::succeeded;
      break;
    case OutcomeKind::process:
      charge.status = ChargeStatus::pending;
      charge.settlement =
          Settlement{context.now.plus(outcome.process_for), outcome.process_succeeds};
      break;
    case OutcomeKind::decline:
    case OutcomeKind::authenticate:
    case OutcomeKind::require_action:
      charge.status = ChargeStatus::failed;
      charge.error = error_of(outcome, charge);
      break;
  }
  Charge& kept = context.store.add(std::move(charge));
  if (kept.status == ChargeStatus::succeeded) write_ledger(context, kept);
  if (kept.settlement) context.store.pending_charges().push_back(&kept);
  tell(context, kept);
  return kept;
}

void settle_due(EndpointContext& context) {
  auto& pending = context.store.pending_charges();
  for (std::size_t at = 0; at < pending.size();) {
    Charge& charge = *pending[at];
    if (charge.settlement->at > context.now) {
      ++at;
      continue;
    }
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(at));
    settle(context, charge);
  }
}

bool finish_action(EndpointContext& context, PaymentIntent& intent, bool succeeds) {
  if (intent.status != IntentStatus::requires_action) return false;
  PaymentOutcome outcome;
  if (!succeeds) outcome.kind = OutcomeKind::authenticate;
  // The money belongs to the confirm that asked for it.
  context.key = intent.key;
  context.request_id = intent.request;
  apply_charge(context, intent, make_charge(context, charge_for(intent), outcome));
  return true;
}

Charge charge_for(const PaymentIntent& intent) {
  Charge charge;
  charge.amount = intent.amount;
  charge.currency = intent.currency;
  charge.customer = intent.customer;
  charge.description = intent.description;
  charge.payment_intent = intent.id;
  charge.payment_method = intent.payment_method;
  charge.metadata = intent.metadata;
  return charge;
}

void apply_charge(EndpointContext& context, PaymentIntent& intent, const Charge& charge) {
  intent.latest_charge = charge.id;
  switch (charge.status) {
    case ChargeStatus::succeeded:
      intent.status = IntentStatus::succeeded;
      intent.amount_received = charge.amount;
      intent.last_error.reset();
      break;
    case ChargeStatus::pending:
      intent.status = IntentStatus::processing;
      break;
    case ChargeStatus::failed:
      // The provider lets go of a payment method that failed; the next confirm names one again.
      intent.status = IntentStatus::requires_payment_method;
      intent.last_error = charge.error;
      intent.payment_method.clear();
      break;
  }
  context.store.save(intent);
  tell(context,
       charge.status == ChargeStatus::succeeded ? "payment_intent.succeeded"
       : charge.status == ChargeStatus::pending ? "payment_intent.processing"
                                                : "payment_intent.payment_failed",
       intent);
}

void tell(EndpointContext& context, const char* type, const PaymentIntent& intent) {
  announce(context, type, to_json(intent), {context.request_id, context.key});
}

LedgerRow ledger_row_of(const Charge& charge) {
  LedgerRow row;
  row.name_space = find(charge.metadata, "onceward_namespace");
  row.customer = find(charge.metadata, "onceward_customer");
  if (row.customer.empty()) row.customer = charge.customer;
  row.period = find(charge.metadata, "onceward_period");
  row.purpose = find(charge.metadata, "onceward_purpose");
  row.payment_intent = charge.payment_intent;
  row.charge = charge.id;
  row.amount = charge.amount;
  row.currency = charge.currency;
  row.status = "succeeded";
  return row;
}

ApiError card_error(const Charge& charge) {
  ApiError error;
  error.status = 402;
  error.type = "card_error";
  error.code = charge.error->code;
  error.decline_code = charge.error->decline_code;
  error.message = charge.error->message;
  error.charge = charge.id;
  return error;
}

boost::json::object to_json(const LedgerRow& row) {
  boost::json::object object;
  object["seq"] = row.seq;
  object["at"] = to_iso(row.at);
  object["namespace"] = row.name_space;
  object["customer"] = row.customer;
  object["period"] = row.period;
  object["purpose"] = row.purpose;
  object["payment_intent"] = row.payment_intent;
  object["charge"] = row.charge;
  object["amount"] = row.amount;
  object["currency"] = row.currency;
  object["key"] = row.key;
  object["request"] = row.request;
  object["status"] = row.status;
  if (!row.refund.empty()) object["refund"] = row.refund;
  return object;
}

Result<LedgerRow> parse_ledger_row(std::string_view text) {
  boost::system::error_code error;
  const auto value = boost::json::parse(text, error);
  if (error || !value.is_object()) return fail(ErrorCode::store_corrupt, "ledger row: no object");
  JsonReader reader(value.get_object());
  LedgerRow row;
  row.seq = static_cast<std::uint64_t>(reader.required_integer("seq"));
  const auto at = parse_iso(reader.required_text("at"));
  row.name_space = reader.text("namespace");
  row.customer = reader.text("customer");
  row.period = reader.text("period");
  row.purpose = reader.text("purpose");
  row.payment_intent = reader.text("payment_intent");
  row.charge = reader.required_text("charge");
  row.amount = reader.required_integer("amount");
  row.currency = reader.required_text("currency");
  row.key = reader.text("key");
  row.request = reader.text("request");
  row.status = reader.required_text("status");
  row.refund = reader.text("refund");
  if (!reader.bad_member().empty() || !at) {
    return fail(ErrorCode::store_corrupt, "ledger row: bad member " + reader.bad_member());
  }
  row.at = *at;
  return row;
}

}  // namespace onceward::provider::simulator
