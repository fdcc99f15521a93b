// JSON of the provider's objects, as clients see it.
#include "provider/simulator/objects.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value() : json::value(text);
}

json::object to_json(const Metadata& metadata) {
  json::object object;
  for (const auto& [key, value] : metadata) object[key] = value;
  return object;
}

json::object to_json(const PaymentError& error) {
  json::object object;
  object["type"] = "card_error";
  object["code"] = error.code;
  object["decline_code"] = text_or_null(error.decline_code);
  object["message"] = error.message;
  object["charge"] = text_or_null(error.charge);
  object["payment_method"] =
      json::object({{"id", error.payment_method}, {"object", "payment_method"}, {"type", "card"}});
  return object;
}

}  // namespace

std::string_view find(const Metadata& metadata, std::string_view key) noexcept {
  for (const auto& [name, value] : metadata) {
    if (name == key) return value;
  }
  return {};
}

std::string_view to_text(ChargeStatus status) noexcept {
  switch (status) {
    case ChargeStatus::succeeded:
      return "succeeded";
    case ChargeStatus::pending:
      return "pending";
    case ChargeStatus::failed:
      return "failed";
  }
  return "";
}

std::string_view to_text(RefundStatus status) noexcept {
  switch (status) {
    case RefundStatus::pending:
      return "pending";
    case RefundStatus::succeeded:
      return "succeeded";
    case RefundStatus::failed:
      return "failed";
  }
  return "";
}

std::string_view to_text(DisputeStatus status) noexcept {
  switch (status) {
    case DisputeStatus::needs_response:
      return "needs_response";
    case DisputeStatus::won:
      return "won";
    case DisputeStatus::lost:
      return "lost";
  }
  return "";
}

std::string_view to_text(IntentStatus status) noexcept {
  switch (status) {
    case IntentStatus::requires_payment_method:
      return "requires_payment_method";
    case IntentStatus::requires_confirmation:
      return "requires_confirmation";
    case IntentStatus::requires_action:
      return "requires_action";
    case IntentStatus::processing:
      return "processing";
    case IntentStatus::succeeded:
      return "succeeded";
    case IntentStatus::canceled:
      return "canceled";
  }
  return "";
}

json::object to_json(const Customer& customer) {
  json::object object;
  object["id"] = customer.id;
  object["object"] = "customer";
  object["created"] = customer.created_s;
  object["description"] = text_or_null(customer.description);
  object["email"] = text_or_null(customer.email);
  object["invoice_settings"] =
      json::object({{"default_payment_method", text_or_null(customer.payment_method)}});
  object["livemode"] = false;
  object["metadata"] = to_json(customer.metadata);
  object["name"] = text_or_null(customer.name);
  return object;
}

json::object to_json(const PaymentMethod& method) {
  json::object object;
  object["id"] = method.id;
  object["object"] = "payment_method";
  object["card"] = json::object({{"brand", "visa"}, {"last4", "4242"}});
  object["created"] = method.created_s;
  object["customer"] = text_or_null(method.customer);
  object["livemode"] = false;
  object["metadata"] = to_json(method.metadata);
  object["type"] = "card";
  return object;
}

json::object to_json(const Charge& charge) {
  const bool paid = charge.status == ChargeStatus::succeeded;
  json::object object;
  object["id"] = charge.id;
  object["object"] = "charge";
  object["amount"] = charge.amount;
  object["amount_captured"] = paid ? charge.amount : 0;
  object["amount_refunded"] = charge.amount_refunded;
  object["captured"] = charge.status != ChargeStatus::failed;
  object["created"] = charge.created_s;
  object["currency"] = charge.currency;
  object["customer"] = text_or_null(charge.customer);
  object["description"] = text_or_null(charge.description);
  object["disputed"] = charge.disputed;
  object["failure_code"] = charge.error ? json::value(charge.error->code) : json::value();
  object["failure_message"] = charge.error ? json::value(charge.error->message) : json::value();
  object["livemode"] = false;
  object["metadata"] = to_json(charge.metadata);
  json::object outcome;
  outcome["network_status"] = charge.error ? "declined_by_network" : "approved_by_network";
  outcome["reason"] = charge.error ? text_or_null(charge.error->decline_code) : json::value();
  outcome["type"] = charge.error ? "issuer_declined" : "authorized";
  object["outcome"] = std::move(outcome);
  object["paid"] = paid;
  object["payment_intent"] = text_or_null(charge.payment_intent);
  object["payment_method"] = text_or_null(charge.payment_method);
  object["refunded"] = paid && charge.amount_refunded == charge.amount;
  object["status"] = to_text(charge.status);
  return object;
}

json::object to_json(const PaymentIntent& intent) {
  json::object object;
  object["id"] = intent.id;
  object["object"] = "payment_intent";
  object["amount"] = intent.amount;
  object["amount_capturable"] = 0;
  object["amount_received"] = intent.amount_received;
  object["canceled_at"] = intent.canceled_s == 0 ? json::value() : json::value(intent.canceled_s);
  object["cancellation_reason"] = text_or_null(intent.cancellation_reason);
  object["capture_method"] = "automatic";
  object["client_secret"] = intent.id + "_secret_sim";
  object["confirmation_method"] = "automatic";
  object["created"] = intent.created_s;
  object["currency"] = intent.currency;
  object["customer"] = text_or_null(intent.customer);
  object["description"] = text_or_null(intent.description);
  object["last_payment_error"] =
      intent.last_error ? json::value(to_json(*intent.last_error)) : json::value();
  object["latest_charge"] = text_or_null(intent.latest_charge);
  object["livemode"] = false;
  object["metadata"] = to_json(intent.metadata);
  object["next_action"] = intent.status == IntentStatus::requires_action
                              ? json::value(json::object({{"type", "use_stripe_sdk"}}))
                              : json::value();
  object["payment_method"] = text_or_null(intent.payment_method);
  json::array types;
  for (const std::string& type : intent.payment_method_types) types.emplace_back(type);
  object["payment_method_types"] = std::move(types);
  object["status"] = to_text(intent.status);
  return object;
}

json::object to_json(const Refund& refund) {
  json::object object;
  object["id"] = refund.id;
  object["object"] = "refund";
  object["amount"] = refund.amount;
  object["charge"] = refund.charge;
  object["created"] = refund.created_s;
  object["currency"] = refund.currency;
  if (!refund.failure_reason.empty()) object["failure_reason"] = refund.failure_reason;
  object["metadata"] = to_json(refund.metadata);
  object["payment_intent"] = text_or_null(refund.payment_intent);
  object["reason"] = text_or_null(refund.reason);
  object["status"] = to_text(refund.status);
  return object;
}

json::object to_json(const Dispute& dispute) {
  json::object object;
  object["id"] = dispute.id;
  object["object"] = "dispute";
  object["amount"] = dispute.amount;
  object["charge"] = dispute.charge;
  object["created"] = dispute.created_s;
  object["currency"] = dispute.currency;
  object["evidence_details"] = json::object({{"due_by", dispute.evidence_due_s}});
  object["is_charge_refundable"] = false;
  object["livemode"] = false;
  object["metadata"] = to_json(dispute.metadata);
  object["payment_intent"] = text_or_null(dispute.payment_intent);
  object["reason"] = dispute.reason;
  object["status"] = to_text(dispute.status);
  return object;
}

}  // namespace onceward::provider::simulator
