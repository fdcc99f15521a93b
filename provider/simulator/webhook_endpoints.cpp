// /v1/webhook_endpoints: who is told. The secret is shown once, at creation.
#include <algorithm>
#include <array>

#include "provider/simulator/list_page.hpp"
#include "provider/simulator/webhook_sender.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr ParamSpec create_params[] = {
    {"url", ParamKind::id, true},     {"enabled_events", ParamKind::list, true},
    {"description", ParamKind::text}, {"metadata", ParamKind::metadata},
    {"api_version", ParamKind::id},   {"connect", ParamKind::boolean},
    {"expand", ParamKind::list},
};
constexpr ParamSpec update_params[] = {
    {"url", ParamKind::id},           {"enabled_events", ParamKind::list},
    {"description", ParamKind::text}, {"metadata", ParamKind::metadata},
    {"disabled", ParamKind::boolean}, {"expand", ParamKind::list},
};
constexpr ParamSpec list_params[] = {
    {"limit", ParamKind::integer},
    {"starting_after", ParamKind::id},
    {"ending_before", ParamKind::id},
    {"expand", ParamKind::list},
};
constexpr ParamSpec read_params[] = {{"expand", ParamKind::list}};

std::optional<ApiError> check_url(const Params& params) {
  const std::string url = params.text("url");
  if (!params.has("url") || url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0) {
    return std::nullopt;
  }
  return invalid_param("url_invalid", "url", "Not a URL: begin it with http:// or https://.");
}

void take_params(WebhookEndpoint& endpoint, const Params& params) {
  if (params.has("url")) endpoint.url = params.text("url");
  if (params.has("enabled_events")) endpoint.enabled_events = params.list("enabled_events");
  if (params.has("description")) endpoint.description = params.text("description");
  if (params.has("disabled")) endpoint.enabled = !params.flag("disabled");
  params.merge_metadata(endpoint.metadata);
}

EndpointAnswer create(EndpointContext& context, const Params& params, const std::string&) {
  if (context.webhooks.endpoints().size() >= webhook_endpoints_max) {
    return refuse(invalid_param("", "", "There are 16 webhook endpoints; delete one first."));
  }
  WebhookEndpoint endpoint;
  endpoint.id = context.store.next_id("we_");
  endpoint.created_s = context.now_s();
  endpoint.api_version = params.text("api_version");
  endpoint.secrets.push_back({context.store.next_id("whsec_"), std::nullopt});
  take_params(endpoint, params);
  const WebhookEndpoint& kept = context.webhooks.add(std::move(endpoint));
  EndpointAnswer answer{200, to_json(kept)};
  answer.body["secret"] = kept.secrets[0].text;
  return answer;
}

EndpointAnswer update(EndpointContext& context, const Params& params, const std::string& id) {
  WebhookEndpoint* endpoint = context.webhooks.find(id);
  if (endpoint == nullptr) return refuse(no_such(404, "webhook_endpoint", id, "id"));
  take_params(*endpoint, params);
  context.webhooks.save(*endpoint);
  return {200, to_json(*endpoint)};
}

EndpointAnswer remove(EndpointContext& context, const Params&, const std::string& id) {
  if (context.webhooks.find(id) == nullptr) {
    return refuse(no_such(404, "webhook_endpoint", id, "id"));
  }
  context.webhooks.remove(id);
  return {200, {{"id", id}, {"object", "webhook_endpoint"}, {"deleted", true}}};
}

EndpointAnswer read(EndpointContext& context, const Params&, const std::string& id) {
  const WebhookEndpoint* endpoint = context.webhooks.find(id);
  if (endpoint == nullptr) return refuse(no_such(404, "webhook_endpoint", id, "id"));
  return {200, to_json(*endpoint)};
}

EndpointAnswer list(EndpointContext& context, const Params& params, const std::string&) {
  return list_page(
      context.webhooks.endpoints(), params, "/v1/webhook_endpoints",
      [](const WebhookEndpoint&) { return true; },
      [](const WebhookEndpoint& endpoint) { return to_json(endpoint); }, context.page_max);
}

constexpr std::array<Endpoint, 5> endpoints{{
    {"POST", "/v1/webhook_endpoints", create_params, check_url, create},
    {"GET", "/v1/webhook_endpoints", list_params, check_page, list},
    {"POST", "/v1/webhook_endpoints/{}", update_params, check_url, update},
    {"GET", "/v1/webhook_endpoints/{}", read_params, nullptr, read},
    {"DELETE", "/v1/webhook_endpoints/{}", read_params, nullptr, remove},
}};

}  // namespace

std::span<const Endpoint> webhook_endpoints() noexcept {
  return endpoints;
}

}  // namespace onceward::provider::simulator
