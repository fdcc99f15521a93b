// Control of what goes beyond single requests: webhooks, disputes, API keys, chaos, limits, search.
#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "provider/simulator/control_request.hpp"
#include "provider/simulator/disputes.hpp"
#include "provider/simulator/json_reader.hpp"
#include "provider/simulator/webhook_registration.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

/// Refuses members that a handler does not read: they would silently do nothing.
std::optional<ControlAnswer> refuse_others(const json::object& body,
                                           std::initializer_list<std::string_view> known) {
  for (const auto& entry : body) {
    if (std::find(known.begin(), known.end(), std::string_view(entry.key())) != known.end())
      continue;
    std::string all;
    for (const std::string_view name : known) all.append(all.empty() ? "" : ", ").append(name);
    return bad("unknown member " + std::string(entry.key()) + "; known are " + all);
  }
  return std::nullopt;
}

/// False when the member is no list of texts; absent leaves `values` as they are.
bool read_texts(const json::object& body, std::string_view name, std::vector<std::string>& values) {
  const json::value* member = body.if_contains(name);
  if (member == nullptr) return true;
  if (!member->is_array()) return false;
  values.clear();
  for (const json::value& entry : member->get_array()) {
    if (!entry.is_string()) return false;
    values.emplace_back(entry.get_string().data(), entry.get_string().size());
  }
  return true;
}

ControlAnswer registered(const ProviderState& state, const Result<WebhookRegistration>& made) {
  if (!made) {
    return {made.error().code == ErrorCode::not_found ? 404 : 400,
            json::object({{"error", made.error().context}})};
  }
  json::object body;
  for (const WebhookEndpoint& endpoint : state.webhooks.endpoints()) {
    if (endpoint.id == made->id) body = to_json(endpoint);
  }
  body["secret"] = made->secret;
  return {200, std::move(body)};
}

ControlAnswer add_endpoint(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"url", "secret", "enabled_events"})) return *wrong;
  JsonReader reader(request.body);
  NewWebhookEndpoint endpoint;
  endpoint.url = reader.required_text("url");
  endpoint.secret = reader.text("secret");
  const bool types = read_texts(request.body, "enabled_events", endpoint.enabled_events);
  if (!reader.bad_member().empty() || !types) {
    return bad("expected {\"url\": TEXT, \"secret\": TEXT, \"enabled_events\": [TEXT]}");
  }
  return registered(request.state, register_webhook(request.state, std::move(endpoint)));
}

ControlAnswer roll_endpoint(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"endpoint", "secret", "expires_in_s"}))
    return *wrong;
  JsonReader reader(request.body);
  const std::string id = reader.required_text("endpoint");
  const std::string secret = reader.text("secret");
  const bool stated = request.body.contains("expires_in_s");
  const std::int64_t seconds = stated ? reader.required_integer("expires_in_s") : 24 * 3600;
  if (!reader.bad_member().empty() || seconds < 0 || seconds > 24 * 3600) {
    return bad("expected {\"endpoint\": ID, \"secret\": TEXT, \"expires_in_s\": 0 to 86400}");
  }
  return registered(request.state,
                    roll_webhook(request.state, id, secret, std::chrono::seconds(seconds)));
}

ControlAnswer list_endpoints(ControlRequest& request) {
  json::array rows;
  for (const WebhookEndpoint& endpoint : request.state.webhooks.endpoints()) {
    json::object entry = to_json(endpoint);
    json::array secrets;
    for (const auto& secret : endpoint.active_secrets(request.state.clock.now())) {
      secrets.emplace_back(secret);
    }
    entry["secrets"] = std::move(secrets);
    rows.emplace_back(std::move(entry));
  }
  return {200, std::move(rows)};
}

ControlAnswer list_webhooks(ControlRequest& request) {
  json::array rows;
  for (const WebhookAttempt& attempt : request.state.webhooks.log()) {
    json::object entry;
    entry["nr"] = attempt.nr;
    entry["endpoint"] = attempt.endpoint;
    entry["event"] = attempt.event;
    entry["type"] = attempt.type;
    entry["attempt"] = attempt.attempt;
    entry["at"] = to_iso(attempt.at);
    entry["faults"] = attempt.faults;
    entry["outcome"] = attempt.outcome;
    entry["status"] = attempt.status;
    rows.emplace_back(std::move(entry));
  }
  return {200, std::move(rows)};
}

ControlAnswer dispute(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"charge", "amount", "reason"})) return *wrong;
  JsonReader reader(request.body);
  const std::string id = reader.required_text("charge");
  const std::int64_t amount = reader.integer("amount");
  const std::string reason = reader.text("reason");
  if (!reader.bad_member().empty() || amount < 0) {
    return bad("expected {\"charge\": ID, \"amount\": INTEGER, \"reason\": TEXT}");
  }
  Charge* charge = request.state.store.charges().find(id);
  if (charge == nullptr) return {404, json::object({{"error", "no charge " + id}})};
  if (charge->status != ChargeStatus::succeeded || charge->disputed || amount > charge->amount) {
    return {409, json::object({{"error", "charge " + id +
                                             " took no money, or not so much, or is disputed"}})};
  }
  EndpointContext context = request.state.context();
  return {200, to_json(open_dispute(context, *charge, amount, reason))};
}

ControlAnswer end_dispute(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"dispute", "outcome"})) return *wrong;
  JsonReader reader(request.body);
  const std::string id = reader.required_text("dispute");
  const std::string outcome = reader.required_text("outcome");
  if (!reader.bad_member().empty() || (outcome != "won" && outcome != "lost")) {
    return bad("expected {\"dispute\": ID, \"outcome\": \"won\" or \"lost\"}");
  }
  Dispute* found = request.state.store.disputes().find(id);
  if (found == nullptr) return {404, json::object({{"error", "no dispute " + id}})};
  EndpointContext context = request.state.context();
  if (!close_dispute(context, *found, outcome == "won")) {
    return {409, json::object({{"error", "dispute " + id + " is closed"}})};
  }
  return {200, to_json(*found)};
}

std::optional<Permission> read_permission(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.get_string();
  if (text == "none") return Permission::none;
  if (text == "read") return Permission::read;
  if (text == "write") return Permission::write;
  return std::nullopt;
}

ControlAnswer put_api_key(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"key", "permissions", "expires_in_s"}))
    return *wrong;
  JsonReader reader(request.body);
  const std::string secret = reader.required_text("key");
  ApiKey key;
  if (request.body.contains("expires_in_s")) {
    key.expires_at = request.state.clock.now().plus(
        std::chrono::seconds(reader.required_integer("expires_in_s")));
  }
  const json::object* permissions = reader.object("permissions");
  if (!reader.bad_member().empty()) {
    return bad(
        "expected {\"key\": \"rk_test_...\", \"permissions\": {RESOURCE: \"none\", "
        "\"read\" or \"write\"}, \"expires_in_s\": INTEGER}");
  }
  const json::object none;
  for (const auto& entry : permissions == nullptr ? none : *permissions) {
    const auto permission = read_permission(entry.value());
    if (!permission) return bad("permissions are none, read or write");
    key.permissions[std::string(entry.key())] = *permission;
  }
  if (request.state.api_keys.size() >= api_keys_max) return bad("there are 1000 keys already");
  request.state.api_keys.put(secret, std::move(key));
  return {200, json::object({{"keys", request.state.api_keys.size()}})};
}

ControlAnswer read_chaos(ControlRequest& request) {
  const Chaos& chaos = request.state.chaos;
  json::object drawn;
  for (const auto& [kind, count] : chaos.drawn()) drawn[kind] = count;
  return {200, json::object({{"seed", std::to_string(chaos.settings().seed)},
                             {"percent", chaos.settings().percent},
                             {"drawn", std::move(drawn)}})};
}

ControlAnswer set_chaos(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"seed", "percent", "kinds"})) return *wrong;
  JsonReader reader(request.body);
  ChaosSettings settings;
  const std::int64_t seed = reader.integer("seed");
  const std::int64_t percent = reader.required_integer("percent");
  const bool kinds = read_texts(request.body, "kinds", settings.kinds);
  if (!reader.bad_member().empty() || seed < 0 || percent < 0 || percent > 100 || !kinds) {
    return bad("expected {\"seed\": INTEGER, \"percent\": 0 to 100, \"kinds\": [KIND]}");
  }
  settings.seed = static_cast<std::uint64_t>(seed);
  settings.percent = static_cast<std::uint32_t>(percent);
  if (auto set = request.state.chaos.start(std::move(settings)); !set) {
    return bad(set.error().context);
  }
  return read_chaos(request);
}

ControlAnswer stop_chaos(ControlRequest& request) {
  request.state.chaos.stop();
  return read_chaos(request);
}

ControlAnswer set_limits(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"rate_per_second", "rate_per_endpoint"}))
    return *wrong;
  JsonReader reader(request.body);
  const std::int64_t all = reader.integer("rate_per_second");
  const std::int64_t each = reader.integer("rate_per_endpoint");
  constexpr std::int64_t rate_max = 1'000'000;
  if (!reader.bad_member().empty() || all < 0 || each < 0 || all > rate_max || each > rate_max) {
    return bad("rate_per_second and rate_per_endpoint are integers of 0 (no limit) or more");
  }
  request.state.set_limits(static_cast<std::uint32_t>(all), static_cast<std::uint32_t>(each));
  return {200, json::object({{"rate_per_second", all}, {"rate_per_endpoint", each}})};
}

ControlAnswer set_search(ControlRequest& request) {
  if (auto wrong = refuse_others(request.body, {"lag_s"})) return *wrong;
  JsonReader reader(request.body);
  const std::int64_t lag = reader.required_integer("lag_s");
  if (!reader.bad_member().empty() || lag < 0) return bad("lag_s is an integer of 0 or more");
  request.state.search.set_lag(std::chrono::seconds(lag));
  return {200, json::object({{"lag_s", lag}})};
}

constexpr ControlRoute routes[] = {
    {"POST", "/_sim/webhook_endpoints", add_endpoint},
    {"GET", "/_sim/webhook_endpoints", list_endpoints},
    {"POST", "/_sim/webhook_endpoints/roll", roll_endpoint},
    {"GET", "/_sim/webhooks", list_webhooks},
    {"POST", "/_sim/disputes", dispute},
    {"POST", "/_sim/disputes/close", end_dispute},
    {"POST", "/_sim/api_keys", put_api_key},
    {"GET", "/_sim/chaos", read_chaos},
    {"POST", "/_sim/chaos", set_chaos},
    {"DELETE", "/_sim/chaos", stop_chaos},
    {"POST", "/_sim/limits", set_limits},
    {"POST", "/_sim/search", set_search},
};

}  // namespace

std::span<const ControlRoute> extra_control_routes() noexcept {
  return routes;
}

}  // namespace onceward::provider::simulator
