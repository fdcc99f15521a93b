// /v1/payment_intents: an object that can succeed once, created and confirmed in two steps or one.
#include <algorithm>
#include <array>

#include "provider/simulator/list_page.hpp"
#include "provider/simulator/payments.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec create_params[] = {
    {"amount", ParamKind::integer, true},
    {"currency", ParamKind::id, true},
    {"customer", ParamKind::id},
    {"payment_method", ParamKind::id},
    {"confirm", ParamKind::boolean},
    {"off_session", ParamKind::boolean},
    {"error_on_requires_action", ParamKind::boolean},
    {"description", ParamKind::text},
    {"metadata", ParamKind::metadata},
    {"payment_method_types", ParamKind::list},
    {"automatic_payment_methods", ParamKind::object},
    {"capture_method", ParamKind::id},
    {"confirmation_method", ParamKind::id},
    {"receipt_email", ParamKind::text},
    {"return_url", ParamKind::text},
    {"setup_future_usage", ParamKind::text},
    {"statement_descriptor", ParamKind::text},
    {"statement_descriptor_suffix", ParamKind::text},
    {"expand", ParamKind::list},
};
constexpr ParamSpec confirm_params[] = {
    {"payment_method", ParamKind::id},
    {"off_session", ParamKind::boolean},
    {"error_on_requires_action", ParamKind::boolean},
    {"receipt_email", ParamKind::text},
    {"return_url", ParamKind::text},
    {"setup_future_usage", ParamKind::text},
    {"expand", ParamKind::list},
};
constexpr ParamSpec update_params[] = {
    {"amount", ParamKind::integer},     {"currency", ParamKind::id},
    {"customer", ParamKind::id},        {"payment_method", ParamKind::id},
    {"description", ParamKind::text},   {"metadata", ParamKind::metadata},
    {"receipt_email", ParamKind::text}, {"expand", ParamKind::list},
};
constexpr ParamSpec cancel_params[] = {
    {"cancellation_reason", ParamKind::text},
    {"expand", ParamKind::list},
};
constexpr ParamSpec list_params[] = {
    {"customer", ParamKind::id},      {"created", ParamKind::range},
    {"limit", ParamKind::integer},    {"starting_after", ParamKind::id},
    {"ending_before", ParamKind::id}, {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {
    {"client_secret", ParamKind::text},
    {"expand", ParamKind::list},
};

std::optional<ApiError> check_method(const Params& params) {
  if (!params.has("payment_method") || is_payment_source(params.text("payment_method"))) {
    return std::nullopt;
  }
  return invalid_param("", "payment_method", "Not a payment method: send a pm_... id.");
}

std::optional<ApiError> check_create(const Params& params) {
  if (auto error = check_amount(params)) return error;
  if (auto error = check_method(params)) return error;
  if (params.has("off_session") && !params.flag("confirm")) {
    return invalid_param("", "off_session", "off_session is only taken with confirm=true.");
  }
  if (params.has("capture_method") && params.text("capture_method") != "automatic" &&
      params.text("capture_method") != "automatic_async") {
    return invalid_param("", "capture_method", "The simulator captures automatically only.");
  }
  if (params.flag("confirm") && !params.has("payment_method")) {
    return invalid_param("parameter_missing", "payment_method",
                         "confirm=true needs a payment_method.");
  }
  return std::nullopt;
}

std::optional<ApiError> check_update(const Params& params) {
  // Checked together, so that the amount is a multiple that the currency allows.
  if (params.has("currency") && !params.has("amount")) return missing_param("amount");
  return check_method(params);
}

std::optional<ApiError> check_cancel(const Params& params) {
  static constexpr std::string_view known[] = {"duplicate", "fraudulent", "requested_by_customer",
                                               "abandoned"};
  const std::string reason = params.text("cancellation_reason");
  if (reason.empty() || std::find(std::begin(known), std::end(known), reason) != std::end(known)) {
    return std::nullopt;
  }
  return invalid_param("", "cancellation_reason",
                       "cancellation_reason is duplicate, fraudulent, requested_by_customer or "
                       "abandoned.");
}

bool expands_charge(const Params& params) {
  const auto expand = params.list("expand");
  return std::any_of(expand.begin(), expand.end(), [](const std::string& path) {
    return path == "latest_charge" || path == "data.latest_charge";
  });
}

boost::json::object show(EndpointContext& context, const PaymentIntent& intent,
                         const Params& params) {
  boost::json::object body = to_json(intent);
  if (expands_charge(params)) {
    if (const Charge* charge = context.store.charges().find(intent.latest_charge)) {
      body["latest_charge"] = to_json(*charge);
    }
  }
  return body;
}

EndpointAnswer unexpected_state(const PaymentIntent& intent, const std::string& why) {
  ApiError error = invalid_param("payment_intent_unexpected_state", "", why);
  error.payment_intent = to_json(intent);
  return refuse(error);
}

EndpointAnswer confirm_intent(EndpointContext& context, PaymentIntent& intent,
                              const Params& params) {
  const bool may_confirm = intent.status == IntentStatus::requires_payment_method ||
                           intent.status == IntentStatus::requires_confirmation ||
                           intent.status == IntentStatus::requires_action;
  if (!may_confirm) {
    return unexpected_state(intent, "An intent of status " + std::string(to_text(intent.status)) +
                                        " cannot be confirmed.");
  }
  if (params.has("payment_method")) intent.payment_method = params.text("payment_method");
  if (intent.payment_method.empty()) {
    return unexpected_state(intent, "The intent has no payment method; send one.");
  }
  intent.key = context.key;
  intent.request = context.request_id;
  PaymentOutcome outcome = outcome_for(context, intent.payment_method);
  const bool payer_absent = params.flag("off_session") || params.flag("error_on_requires_action");
  if (outcome.kind == OutcomeKind::authenticate && !payer_absent) {
    outcome.kind = OutcomeKind::require_action;
  }
  if (outcome.kind == OutcomeKind::require_action) {
    intent.status = IntentStatus::requires_action;
    context.store.save(intent);
    tell(context, "payment_intent.requires_action", intent);
    return {200, show(context, intent, params)};
  }
  const Charge& charge = make_charge(context, charge_for(intent), outcome);
  apply_charge(context, intent, charge);
  if (charge.status == ChargeStatus::failed) {
    ApiError error = card_error(charge);
    error.payment_intent = to_json(intent);
    return refuse(error);
  }
  return {200, show(context, intent, params)};
}

EndpointAnswer create(EndpointContext& context, const Params& params, const std::string&) {
  PaymentIntent intent;
  intent.amount = *params.integer("amount");
  intent.currency = params.text("currency");
  intent.customer = params.text("customer");
  if (context.strict_customers && !intent.customer.empty() &&
      context.store.customers().find(intent.customer) == nullptr) {
    return refuse(no_such(400, "customer", intent.customer, "customer"));
  }
  if (intent.amount < smallest_amount(intent.currency)) {
    return refuse(invalid_param("amount_too_small", "amount", "Amount is below the minimum."));
  }
  intent.id = context.store.next_id("pi_");
  intent.created_s = context.now_s();
  intent.description = params.text("description");
  intent.payment_method = params.text("payment_method");
  intent.metadata = params.metadata();
  if (params.has("payment_method_types")) {
    intent.payment_method_types = params.list("payment_method_types");
  }
  if (!intent.payment_method.empty()) intent.status = IntentStatus::requires_confirmation;
  PaymentIntent& kept = context.store.add(std::move(intent));
  tell(context, "payment_intent.created", kept);
  if (params.flag("confirm")) return confirm_intent(context, kept, params);
  return {200, show(context, kept, params)};
}

EndpointAnswer confirm(EndpointContext& context, const Params& params, const std::string& id) {
  PaymentIntent* intent = context.store.intents().find(id);
  if (intent == nullptr) return refuse(no_such(404, "payment_intent", id, "intent"));
  return confirm_intent(context, *intent, params);
}

EndpointAnswer cancel(EndpointContext& context, const Params& params, const std::string& id) {
  PaymentIntent* intent = context.store.intents().find(id);
  if (intent == nullptr) return refuse(no_such(404, "payment_intent", id, "intent"));
  const bool may_cancel = intent->status == IntentStatus::requires_payment_method ||
                          intent->status == IntentStatus::requires_confirmation ||
                          intent->status == IntentStatus::requires_action;
  if (!may_cancel) {
    return unexpected_state(*intent, "An intent of status " + std::string(to_text(intent->status)) +
                                         " cannot be canceled.");
  }
  intent->status = IntentStatus::canceled;
  intent->canceled_s = context.now_s();
  intent->cancellation_reason = params.text("cancellation_reason");
  context.store.save(*intent);
  tell(context, "payment_intent.canceled", *intent);
  return {200, show(context, *intent, params)};
}

EndpointAnswer update(EndpointContext& context, const Params& params, const std::string& id) {
  PaymentIntent* intent = context.store.intents().find(id);
  if (intent == nullptr) return refuse(no_such(404, "payment_intent", id, "intent"));
  const bool closed = intent->status == IntentStatus::succeeded ||
                      intent->status == IntentStatus::processing ||
                      intent->status == IntentStatus::canceled;
  const bool about_money = params.has("amount") || params.has("currency") ||
                           params.has("customer") || params.has("payment_method");
  if (closed && about_money) {
    return unexpected_state(*intent, "An intent of status " + std::string(to_text(intent->status)) +
                                         " cannot be changed.");
  }
  if (params.has("customer") && params.text("customer") != intent->customer) {
    return refuse(invalid_param("", "customer", "The simulator keeps the customer of an intent."));
  }
  if (params.has("amount")) {
    const std::string currency =
        params.has("currency") ? params.text("currency") : intent->currency;
    FormParams money = {{"amount", {}, params.text("amount")}, {"currency", {}, currency}};
    if (auto error = check_amount(Params(std::move(money)))) return refuse(*error);
    if (*params.integer("amount") < smallest_amount(currency)) {
      return refuse(invalid_param("amount_too_small", "amount", "Amount is below the minimum."));
    }
    intent->amount = *params.integer("amount");
    intent->currency = currency;
  }
  if (params.has("description")) intent->description = params.text("description");
  if (params.has("payment_method")) {
    intent->payment_method = params.text("payment_method");
    if (intent->status == IntentStatus::requires_payment_method) {
      intent->status = IntentStatus::requires_confirmation;
    }
  }
  params.merge_metadata(intent->metadata);
  context.store.save(*intent);
  return {200, show(context, *intent, params)};
}

EndpointAnswer read(EndpointContext& context, const Params& params, const std::string& id) {
  const PaymentIntent* intent = context.store.intents().find(id);
  if (intent == nullptr) return refuse(no_such(404, "payment_intent", id, "intent"));
  return {200, show(context, *intent, params)};
}

EndpointAnswer list(EndpointContext& context, const Params& params, const std::string&) {
  const auto fits = [](const PaymentIntent&) { return true; };
  const auto render = [&](const PaymentIntent& intent) { return show(context, intent, params); };
  if (params.has("customer")) {
    return list_page(context.store.intents_of(params.text("customer")), params,
                     "/v1/payment_intents", fits, render, context.page_max);
  }
  return list_page(context.store.intents().all(), params, "/v1/payment_intents", fits, render,
                   context.page_max);
}

constexpr std::array<Endpoint, 6> endpoints{{
    {"POST", "/v1/payment_intents", create_params, check_create, create},
    {"GET", "/v1/payment_intents", list_params, check_page, list},
    {"POST", "/v1/payment_intents/{}/confirm", confirm_params, check_method, confirm},
    {"POST", "/v1/payment_intents/{}/cancel", cancel_params, check_cancel, cancel},
    {"POST", "/v1/payment_intents/{}", update_params, check_update, update},
    {"GET", "/v1/payment_intents/{}", read_params, nullptr, read},
}};

}  // namespace

std::span<const Endpoint> intent_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
