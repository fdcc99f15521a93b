// The stored form of the provider's objects: what clients see, plus a member `sim` with what only
// the simulator knows; and the way back.
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <functional>

#include "provider/simulator/json_reader.hpp"
#include "provider/simulator/objects.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

std::string with_hidden(json::object shown, json::object hidden) {
  shown["sim"] = std::move(hidden);
  return json::serialize(shown);
}

/// Parses `text` and lets `read` take the members; what it missed makes the row corrupt.
template <class T>
Result<T> parse_with(std::string_view text,
                     const std::function<void(JsonReader& shown, JsonReader& hidden, T&)>& read) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return fail(ErrorCode::store_corrupt, "row is no JSON object");
  JsonReader shown(*object);
  const json::object nothing;
  const json::object* sim = shown.object("sim");
  JsonReader hidden(sim == nullptr ? nothing : *sim);
  T result;
  result.id = shown.required_text("id");
  result.created_s = shown.required_integer("created");
  result.metadata = shown.text_members("metadata");
  read(shown, hidden, result);
  for (const JsonReader* reader : {&shown, &hidden}) {
    if (!reader->bad_member().empty()) {
      return fail(ErrorCode::store_corrupt, "row has a bad member: " + reader->bad_member());
    }
  }
  return result;
}

std::optional<PaymentError> read_error(JsonReader& hidden) {
  const json::object* object = hidden.object("error");
  if (object == nullptr) return std::nullopt;
  JsonReader reader(*object);
  return PaymentError{reader.text("code"), reader.text("decline_code"), reader.text("message"),
                      reader.text("charge"), reader.text("payment_method")};
}

void hide_error(json::object& hidden, const std::optional<PaymentError>& error) {
  if (!error) return;
  json::object object;
  object["code"] = error->code;
  object["decline_code"] = error->decline_code;
  object["message"] = error->message;
  object["charge"] = error->charge;
  object["payment_method"] = error->payment_method;
  hidden["error"] = std::move(object);
}

void hide_settlement(json::object& hidden, const std::optional<Settlement>& settlement) {
  if (!settlement) return;
  hidden["settles_at_ms"] = settlement->at.ms;
  hidden["settles_well"] = settlement->succeeds;
}

Settlement read_settlement(JsonReader& hidden) {
  return Settlement{{hidden.required_integer("settles_at_ms")}, hidden.flag("settles_well")};
}

template <class Status, std::size_t N>
bool read_status(const std::string& text, const Status (&all)[N], Status& status) {
  for (const Status candidate : all) {
    if (to_text(candidate) == text) {
      status = candidate;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string to_stored(const Customer& customer) {
  return with_hidden(to_json(customer), {{"payment_method", customer.payment_method}});
}

std::string to_stored(const PaymentMethod& method) {
  return with_hidden(to_json(method), {{"token", method.token}});
}

std::string to_stored(const Charge& charge) {
  json::object hidden;
  hidden["key"] = charge.key;
  hidden["request"] = charge.request;
  hide_error(hidden, charge.error);
  hide_settlement(hidden, charge.settlement);
  return with_hidden(to_json(charge), std::move(hidden));
}

std::string to_stored(const Refund& refund) {
  json::object hidden;
  hidden["key"] = refund.key;
  hidden["request"] = refund.request;
  hide_settlement(hidden, refund.settlement);
  return with_hidden(to_json(refund), std::move(hidden));
}

std::string to_stored(const Dispute& dispute) {
  return with_hidden(to_json(dispute), {{"due_by", dispute.evidence_due_s}});
}

std::string to_stored(const PaymentIntent& intent) {
  json::object hidden;
  hidden["key"] = intent.key;
  hidden["request"] = intent.request;
  hide_error(hidden, intent.last_error);
  return with_hidden(to_json(intent), std::move(hidden));
}

template <>
Result<Customer> parse_stored<Customer>(std::string_view text) {
  return parse_with<Customer>(text, [](JsonReader& shown, JsonReader& hidden, Customer& customer) {
    customer.name = shown.text("name");
    customer.email = shown.text("email");
    customer.description = shown.text("description");
    customer.payment_method = hidden.text("payment_method");
  });
}

template <>
Result<PaymentMethod> parse_stored<PaymentMethod>(std::string_view text) {
  return parse_with<PaymentMethod>(
      text, [](JsonReader& shown, JsonReader& hidden, PaymentMethod& method) {
        method.customer = shown.text("customer");
        method.token = hidden.text("token");
      });
}

template <>
Result<Charge> parse_stored<Charge>(std::string_view text) {
  bool known_status = false;
  auto charge =
      parse_with<Charge>(text, [&](JsonReader& shown, JsonReader& hidden, Charge& result) {
        result.amount = shown.required_integer("amount");
        result.currency = shown.required_text("currency");
        result.customer = shown.text("customer");
        result.description = shown.text("description");
        result.payment_intent = shown.text("payment_intent");
        result.payment_method = shown.text("payment_method");
        static constexpr ChargeStatus all[] = {ChargeStatus::succeeded, ChargeStatus::pending,
                                               ChargeStatus::failed};
        known_status = read_status(shown.text("status"), all, result.status);
        result.amount_refunded = shown.integer("amount_refunded");
        result.disputed = shown.flag("disputed");
        result.error = read_error(hidden);
        result.key = hidden.text("key");
        result.request = hidden.text("request");
        if (result.status == ChargeStatus::pending) result.settlement = read_settlement(hidden);
      });
  if (charge && !known_status) return fail(ErrorCode::store_corrupt, "charge of unknown status");
  return charge;
}

template <>
Result<Refund> parse_stored<Refund>(std::string_view text) {
  bool known_status = false;
  auto refund =
      parse_with<Refund>(text, [&](JsonReader& shown, JsonReader& hidden, Refund& result) {
        result.amount = shown.required_integer("amount");
        result.currency = shown.required_text("currency");
        result.charge = shown.required_text("charge");
        result.payment_intent = shown.text("payment_intent");
        result.reason = shown.text("reason");
        result.failure_reason = shown.text("failure_reason");
        static constexpr RefundStatus all[] = {RefundStatus::pending, RefundStatus::succeeded,
                                               RefundStatus::failed};
        known_status = read_status(shown.text("status"), all, result.status);
        result.key = hidden.text("key");
        result.request = hidden.text("request");
        if (result.status == RefundStatus::pending) result.settlement = read_settlement(hidden);
      });
  if (refund && !known_status) return fail(ErrorCode::store_corrupt, "refund of unknown status");
  return refund;
}

template <>
Result<Dispute> parse_stored<Dispute>(std::string_view text) {
  bool known_status = false;
  auto dispute =
      parse_with<Dispute>(text, [&](JsonReader& shown, JsonReader& hidden, Dispute& result) {
        result.amount = shown.required_integer("amount");
        result.currency = shown.required_text("currency");
        result.charge = shown.required_text("charge");
        result.payment_intent = shown.text("payment_intent");
        result.reason = shown.text("reason");
        result.evidence_due_s = hidden.integer("due_by");
        static constexpr DisputeStatus all[] = {DisputeStatus::needs_response, DisputeStatus::won,
                                                DisputeStatus::lost};
        known_status = read_status(shown.text("status"), all, result.status);
      });
  if (dispute && !known_status) return fail(ErrorCode::store_corrupt, "dispute of unknown status");
  return dispute;
}

template <>
Result<PaymentIntent> parse_stored<PaymentIntent>(std::string_view text) {
  bool known_status = false;
  auto intent = parse_with<PaymentIntent>(
      text, [&](JsonReader& shown, JsonReader& hidden, PaymentIntent& result) {
        result.amount = shown.required_integer("amount");
        result.amount_received = shown.required_integer("amount_received");
        result.currency = shown.required_text("currency");
        result.customer = shown.text("customer");
        result.description = shown.text("description");
        result.payment_method = shown.text("payment_method");
        result.latest_charge = shown.text("latest_charge");
        result.cancellation_reason = shown.text("cancellation_reason");
        result.canceled_s = shown.integer("canceled_at");
        result.last_error = read_error(hidden);
        result.key = hidden.text("key");
        result.request = hidden.text("request");
        result.payment_method_types.clear();
        if (const json::array* types = shown.array("payment_method_types")) {
          for (const json::value& type : *types) {
            if (const auto* name = type.if_string()) {
              result.payment_method_types.emplace_back(name->data(), name->size());
            }
          }
        }
        static constexpr IntentStatus all[] = {IntentStatus::requires_payment_method,
                                               IntentStatus::requires_confirmation,
                                               IntentStatus::requires_action,
                                               IntentStatus::processing,
                                               IntentStatus::succeeded,
                                               IntentStatus::canceled};
        known_status = read_status(shown.text("status"), all, result.status);
      });
  if (intent && !known_status) return fail(ErrorCode::store_corrupt, "intent of unknown status");
  return intent;
}

}  // namespace onceward::provider::simulator
