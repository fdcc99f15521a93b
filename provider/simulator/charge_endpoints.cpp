// /v1/charges: the one-call flow, whose only guard against a second charge is the key.
#include <array>

#include "provider/simulator/list_page.hpp"
#include "provider/simulator/payments.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec create_params[] = {
    {"amount", ParamKind::integer, true},
    {"currency", ParamKind::id, true},
    {"customer", ParamKind::id},
    {"source", ParamKind::id},
    {"description", ParamKind::text},
    {"metadata", ParamKind::metadata},
    {"capture", ParamKind::boolean},
    {"receipt_email", ParamKind::text},
    {"statement_descriptor", ParamKind::text},
    {"statement_descriptor_suffix", ParamKind::text},
    {"expand", ParamKind::list},
};
constexpr ParamSpec list_params[] = {
    {"customer", ParamKind::id},       {"created", ParamKind::range},
    {"payment_intent", ParamKind::id}, {"limit", ParamKind::integer},
    {"starting_after", ParamKind::id}, {"ending_before", ParamKind::id},
    {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {{"expand", ParamKind::list}};

std::optional<ApiError> check_create(const Params& params) {
  if (auto error = check_amount(params)) return error;
  if (!params.has("source") && !params.has("customer")) {
    return invalid_param("parameter_missing", "source", "Send a source or a customer.");
  }
  if (params.has("source") && !is_payment_source(params.text("source"))) {
    return invalid_param("", "source",
                         "Not a source: send a tok_..., card_..., src_... or pm_... id.");
  }
  if (params.has("capture") && !params.flag("capture")) {
    return invalid_param("", "capture", "The simulator captures at once; leave capture out.");
  }
  return std::nullopt;
}

EndpointAnswer create(EndpointContext& context, const Params& params, const std::string&) {
  Charge charge;
  charge.amount = *params.integer("amount");
  charge.currency = params.text("currency");
  charge.customer = params.text("customer");
  charge.description = params.text("description");
  charge.payment_method = params.text("source");
  charge.metadata = params.metadata();
  if (context.strict_customers && !charge.customer.empty() &&
      context.store.customers().find(charge.customer) == nullptr) {
    return refuse(no_such(400, "customer", charge.customer, "customer"));
  }
  if (charge.amount < smallest_amount(charge.currency)) {
    return refuse(invalid_param("amount_too_small", "amount", "Amount is below the minimum."));
  }
  PaymentOutcome outcome = outcome_for(context, charge.payment_method);
  // This flow has no step in which a payer could act.
  if (outcome.kind == OutcomeKind::require_action) outcome.kind = OutcomeKind::authenticate;
  const Charge& made = make_charge(context, std::move(charge), outcome);
  if (made.status == ChargeStatus::failed) return refuse(card_error(made));
  return {200, to_json(made)};
}

EndpointAnswer read(EndpointContext& context, const Params&, const std::string& id) {
  const Charge* charge = context.store.charges().find(id);
  if (charge == nullptr) return refuse(no_such(404, "charge", id, "id"));
  return {200, to_json(*charge)};
}

EndpointAnswer list(EndpointContext& context, const Params& params, const std::string&) {
  const std::string intent = params.text("payment_intent");
  const auto fits = [&](const Charge& charge) {
    return intent.empty() || charge.payment_intent == intent;
  };
  const auto show = [](const Charge& charge) { return to_json(charge); };
  if (params.has("customer")) {
    return list_page(context.store.charges_of(params.text("customer")), params, "/v1/charges", fits,
                     show, context.page_max);
  }
  return list_page(context.store.charges().all(), params, "/v1/charges", fits, show,
                   context.page_max);
}

constexpr std::array<Endpoint, 3> endpoints{{
    {"POST", "/v1/charges", create_params, check_create, create},
    {"GET", "/v1/charges", list_params, check_page, list},
    {"GET", "/v1/charges/{}", read_params, nullptr, read},
}};

}  // namespace

std::span<const Endpoint> charge_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
