// /v1/refunds: money back, in whole or in parts, never more than was taken.
#include <algorithm>
#include <array>

#include "provider/simulator/announce.hpp"
#include "provider/simulator/list_page.hpp"
#include "provider/simulator/refunds.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec create_params[] = {
    {"charge", ParamKind::id},   {"payment_intent", ParamKind::id}, {"amount", ParamKind::integer},
    {"reason", ParamKind::text}, {"metadata", ParamKind::metadata}, {"expand", ParamKind::list},
};
constexpr ParamSpec update_params[] = {
    {"metadata", ParamKind::metadata},
    {"expand", ParamKind::list},
};
constexpr ParamSpec list_params[] = {
    {"charge", ParamKind::id},         {"payment_intent", ParamKind::id},
    {"created", ParamKind::range},     {"limit", ParamKind::integer},
    {"starting_after", ParamKind::id}, {"ending_before", ParamKind::id},
    {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {{"expand", ParamKind::list}};

std::optional<ApiError> check_create(const Params& params) {
  if (!params.has("charge") && !params.has("payment_intent")) {
    return invalid_param("parameter_missing", "charge", "Send a charge or a payment_intent.");
  }
  if (params.has("amount") && *params.integer("amount") < 1) {
    return invalid_param("parameter_invalid_integer", "amount", "amount is an integer above 0.");
  }
  static constexpr std::string_view known[] = {"", "duplicate", "fraudulent",
                                               "requested_by_customer"};
  const std::string reason = params.text("reason");
  if (std::find(std::begin(known), std::end(known), reason) != std::end(known)) return std::nullopt;
  return invalid_param("", "reason", "reason is duplicate, fraudulent or requested_by_customer.");
}

/// The charge that was asked for; the error says why there is none.
std::variant<Charge*, ApiError> charge_of(EndpointContext& context, const Params& params) {
  std::string id = params.text("charge");
  if (params.has("payment_intent")) {
    const std::string intent_id = params.text("payment_intent");
    const PaymentIntent* intent = context.store.intents().find(intent_id);
    if (intent == nullptr) return no_such(404, "payment_intent", intent_id, "payment_intent");
    if (!id.empty() && id != intent->latest_charge) {
      return invalid_param("", "charge", "The charge is not one of the payment_intent.");
    }
    if (intent->status != IntentStatus::succeeded) {
      return invalid_param("charge_not_refundable", "payment_intent",
                           "This payment_intent has no successful charge to refund.");
    }
    id = intent->latest_charge;
  }
  Charge* charge = context.store.charges().find(id);
  if (charge == nullptr) return no_such(404, "charge", id, "charge");
  return charge;
}

std::optional<ApiError> check_refundable(const Charge& charge, std::int64_t amount) {
  if (charge.status != ChargeStatus::succeeded) {
    return invalid_param("charge_not_refundable", "charge",
                         "Charge " + charge.id + " took no money.");
  }
  ApiError error;
  error.charge = charge.id;
  if (charge.disputed) {
    error.code = "charge_disputed";
    error.message = "Charge " + charge.id + " has been charged back; it cannot be refunded.";
    return error;
  }
  if (charge.refundable() == 0) {
    error.code = "charge_already_refunded";
    error.message = "Charge " + charge.id + " has already been refunded.";
    return error;
  }
  if (amount > charge.refundable()) {
    error.param = "amount";
    error.message = "Refund amount " + std::to_string(amount) + " is greater than the " +
                    std::to_string(charge.refundable()) + " that is left of the charge.";
    return error;
  }
  return std::nullopt;
}

EndpointAnswer create(EndpointContext& context, const Params& params, const std::string&) {
  auto found = charge_of(context, params);
  if (const auto* error = std::get_if<ApiError>(&found)) return refuse(*error);
  Charge& charge = *std::get<Charge*>(found);
  Refund refund;
  refund.amount = params.integer("amount").value_or(charge.refundable());
  refund.reason = params.text("reason");
  refund.metadata = params.metadata();
  if (const auto error = check_refundable(charge, refund.amount)) return refuse(*error);
  return {200, to_json(make_refund(context, charge, std::move(refund)))};
}

EndpointAnswer update(EndpointContext& context, const Params& params, const std::string& id) {
  Refund* refund = context.store.refunds().find(id);
  if (refund == nullptr) return refuse(no_such(404, "refund", id, "id"));
  params.merge_metadata(refund->metadata);
  context.store.save(*refund);
  announce(context, "refund.updated", to_json(*refund), {context.request_id, context.key});
  return {200, to_json(*refund)};
}

EndpointAnswer read(EndpointContext& context, const Params&, const std::string& id) {
  const Refund* refund = context.store.refunds().find(id);
  if (refund == nullptr) return refuse(no_such(404, "refund", id, "id"));
  return {200, to_json(*refund)};
}

EndpointAnswer list(EndpointContext& context, const Params& params, const std::string&) {
  const std::string intent = params.text("payment_intent");
  const auto fits = [&](const Refund& refund) {
    return intent.empty() || refund.payment_intent == intent;
  };
  const auto show = [](const Refund& refund) { return to_json(refund); };
  if (params.has("charge")) {
    return list_page(context.store.refunds_of(params.text("charge")), params, "/v1/refunds", fits,
                     show, context.page_max);
  }
  return list_page(context.store.refunds().all(), params, "/v1/refunds", fits, show,
                   context.page_max);
}

constexpr std::array<Endpoint, 4> endpoints{{
    {"POST", "/v1/refunds", create_params, check_create, create},
    {"GET", "/v1/refunds", list_params, check_page, list},
    {"POST", "/v1/refunds/{}", update_params, nullptr, update},
    {"GET", "/v1/refunds/{}", read_params, nullptr, read},
}};

}  // namespace

std::span<const Endpoint> refund_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
