// Secrets and JSON of webhook endpoints.
#include "provider/simulator/webhook_endpoint.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "provider/simulator/json_reader.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

bool WebhookEndpoint::takes(std::string_view type) const {
  return std::any_of(enabled_events.begin(), enabled_events.end(),
                     [&](const std::string& known) { return known == "*" || known == type; });
}

std::vector<std::string> WebhookEndpoint::active_secrets(Timestamp now) const {
  std::vector<std::string> active;
  for (const WebhookSecret& secret : secrets) {
    if (!secret.expires_at || now < *secret.expires_at) active.push_back(secret.text);
  }
  return active;
}

void WebhookEndpoint::roll(std::string secret, Timestamp now,
                           std::chrono::milliseconds keep_old_for) {
  secrets.resize(1);
  secrets[0].expires_at = now.plus(keep_old_for);
  secrets.insert(secrets.begin(), WebhookSecret{std::move(secret), std::nullopt});
}

json::object to_json(const WebhookEndpoint& endpoint) {
  json::object object;
  object["id"] = endpoint.id;
  object["object"] = "webhook_endpoint";
  object["api_version"] =
      endpoint.api_version.empty() ? json::value() : json::value(endpoint.api_version);
  object["application"] = nullptr;
  object["created"] = endpoint.created_s;
  object["description"] =
      endpoint.description.empty() ? json::value() : json::value(endpoint.description);
  json::array types;
  for (const std::string& type : endpoint.enabled_events) types.emplace_back(type);
  object["enabled_events"] = std::move(types);
  object["livemode"] = false;
  json::object metadata;
  for (const auto& [key, value] : endpoint.metadata) metadata[key] = value;
  object["metadata"] = std::move(metadata);
  object["status"] = endpoint.enabled ? "enabled" : "disabled";
  object["url"] = endpoint.url;
  return object;
}

std::string to_stored(const WebhookEndpoint& endpoint) {
  json::object object = to_json(endpoint);
  json::array secrets;
  for (const WebhookSecret& secret : endpoint.secrets) {
    json::object entry{{"text", secret.text}};
    if (secret.expires_at) entry["expires_ms"] = secret.expires_at->ms;
    secrets.emplace_back(std::move(entry));
  }
  object["sim_secrets"] = std::move(secrets);
  return json::serialize(object);
}

Result<WebhookEndpoint> parse_webhook_endpoint(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return fail(ErrorCode::store_corrupt, "row is no JSON object");
  JsonReader reader(value.get_object());
  WebhookEndpoint endpoint;
  endpoint.id = reader.required_text("id");
  endpoint.created_s = reader.required_integer("created");
  endpoint.url = reader.required_text("url");
  endpoint.description = reader.text("description");
  endpoint.api_version = reader.text("api_version");
  endpoint.metadata = reader.text_members("metadata");
  endpoint.enabled = reader.text("status") == "enabled";
  if (const json::array* types = reader.array("enabled_events")) {
    for (const json::value& type : *types) {
      if (const auto* name = type.if_string()) {
        endpoint.enabled_events.emplace_back(name->data(), name->size());
      }
    }
  }
  if (const json::array* secrets = reader.array("sim_secrets")) {
    for (const json::value& entry : *secrets) {
      if (!entry.is_object()) continue;
      JsonReader secret(entry.get_object());
      WebhookSecret read{secret.text("text"), std::nullopt};
      if (entry.get_object().contains("expires_ms")) {
        read.expires_at = Timestamp{secret.integer("expires_ms")};
      }
      endpoint.secrets.push_back(std::move(read));
    }
  }
  if (!reader.bad_member().empty() || endpoint.secrets.empty()) {
    return fail(ErrorCode::store_corrupt, "row has a bad member: " + reader.bad_member());
  }
  return endpoint;
}

}  // namespace onceward::provider::simulator
