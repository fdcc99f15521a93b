// /v1/customers, /v1/payment_methods and /v1/account.
#include <array>

#include "provider/simulator/list_page.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec customer_params[] = {
    {"name", ParamKind::text},         {"email", ParamKind::text},
    {"description", ParamKind::text},  {"payment_method", ParamKind::id},
    {"source", ParamKind::id},         {"invoice_settings", ParamKind::object},
    {"metadata", ParamKind::metadata}, {"expand", ParamKind::list},
};
constexpr ParamSpec list_params[] = {
    {"email", ParamKind::text},       {"created", ParamKind::range},
    {"limit", ParamKind::integer},    {"starting_after", ParamKind::id},
    {"ending_before", ParamKind::id}, {"expand", ParamKind::list},
};
constexpr ParamSpec method_params[] = {
    {"type", ParamKind::id, true},
    {"card", ParamKind::object},
    {"billing_details", ParamKind::object},
    {"metadata", ParamKind::metadata},
    {"expand", ParamKind::list},
};
constexpr ParamSpec attach_params[] = {
    {"customer", ParamKind::id, true},
    {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {{"expand", ParamKind::list}};

void take_customer_params(Customer& customer, const Params& params) {
  if (params.has("name")) customer.name = params.text("name");
  if (params.has("email")) customer.email = params.text("email");
  if (params.has("description")) customer.description = params.text("description");
  if (params.has("payment_method")) customer.payment_method = params.text("payment_method");
  const std::string preferred = params.nested("invoice_settings", "default_payment_method");
  if (!preferred.empty()) customer.payment_method = preferred;
  params.merge_metadata(customer.metadata);
}

EndpointAnswer create_customer(EndpointContext& context, const Params& params, const std::string&) {
  Customer customer;
  customer.id = context.store.next_id("cus_");
  customer.created_s = context.now_s();
  take_customer_params(customer, params);
  return {200, to_json(context.store.add(std::move(customer)))};
}

EndpointAnswer update_customer(EndpointContext& context, const Params& params,
                               const std::string& id) {
  Customer* customer = context.store.customers().find(id);
  if (customer == nullptr) return refuse(no_such(404, "customer", id, "id"));
  take_customer_params(*customer, params);
  context.store.save(*customer);
  return {200, to_json(*customer)};
}

EndpointAnswer read_customer(EndpointContext& context, const Params&, const std::string& id) {
  const Customer* customer = context.store.customers().find(id);
  if (customer == nullptr) return refuse(no_such(404, "customer", id, "id"));
  return {200, to_json(*customer)};
}

EndpointAnswer list_customers(EndpointContext& context, const Params& params, const std::string&) {
  const std::string email = params.text("email");
  return list_page(
      context.store.customers().all(), params, "/v1/customers",
      [&](const Customer& customer) { return email.empty() || customer.email == email; },
      [](const Customer& customer) { return to_json(customer); }, context.page_max);
}

std::optional<ApiError> check_method(const Params& params) {
  if (params.text("type") != "card") {
    return invalid_param("", "type", "The simulator has payment methods of type card only.");
  }
  const std::string token = params.nested("card", "token");
  if (token.empty() && params.nested("card", "number").empty()) {
    return invalid_param("parameter_missing", "card[token]",
                         "Send card[token]=tok_visa or a test number in card[number].");
  }
  if (!token.empty() && !is_payment_source(token)) {
    return invalid_param("", "card[token]", "Not a token: " + token);
  }
  return std::nullopt;
}

EndpointAnswer create_method(EndpointContext& context, const Params& params, const std::string&) {
  PaymentMethod method;
  method.id = context.store.next_id("pm_");
  method.created_s = context.now_s();
  method.token = params.nested("card", "token");
  if (method.token.empty()) method.token = params.nested("card", "number");
  method.metadata = params.metadata();
  return {200, to_json(context.store.add(std::move(method)))};
}

EndpointAnswer attach_method(EndpointContext& context, const Params& params,
                             const std::string& id) {
  PaymentMethod* method = context.store.payment_methods().find(id);
  if (method == nullptr) return refuse(no_such(404, "payment_method", id, "payment_method"));
  method->customer = params.text("customer");
  context.store.save(*method);
  return {200, to_json(*method)};
}

EndpointAnswer read_method(EndpointContext& context, const Params&, const std::string& id) {
  const PaymentMethod* method = context.store.payment_methods().find(id);
  if (method == nullptr) return refuse(no_such(404, "payment_method", id, "payment_method"));
  return {200, to_json(*method)};
}

EndpointAnswer read_account(EndpointContext&, const Params&, const std::string&) {
  EndpointAnswer answer;
  answer.body["id"] = "acct_simulator";
  answer.body["object"] = "account";
  answer.body["charges_enabled"] = true;
  answer.body["country"] = "US";
  answer.body["default_currency"] = "usd";
  return answer;
}

constexpr std::array<Endpoint, 8> endpoints{{
    {"POST", "/v1/customers", customer_params, nullptr, create_customer},
    {"GET", "/v1/customers", list_params, check_page, list_customers},
    {"POST", "/v1/customers/{}", customer_params, nullptr, update_customer},
    {"GET", "/v1/customers/{}", read_params, nullptr, read_customer},
    {"POST", "/v1/payment_methods", method_params, check_method, create_method},
    {"POST", "/v1/payment_methods/{}/attach", attach_params, nullptr, attach_method},
    {"GET", "/v1/payment_methods/{}", read_params, nullptr, read_method},
    {"GET", "/v1/account", read_params, nullptr, read_account},
}};

}  // namespace

std::span<const Endpoint> customer_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
