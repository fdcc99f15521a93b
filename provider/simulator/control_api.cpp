// Implementation of the control API; formats in docs/simulator.md.
#include "provider/simulator/control_api.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/control_request.hpp"
#include "provider/simulator/json_reader.hpp"
#include "provider/simulator/payments.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

std::string_view to_text(WireEnding ending) noexcept {
  switch (ending) {
    case WireEnding::whole:
      return "whole";
    case WireEnding::fin:
      return "fin";
    case WireEnding::rst:
      return "rst";
    case WireEnding::hang:
      return "hang";
    case WireEnding::refused:
      return "refused";
    case WireEnding::tls_failed:
      return "tls_failed";
  }
  return "";
}

json::object clock_json(const ProviderState& state) {
  const Timestamp now = state.clock.now();
  return {{"now", to_iso(now)},
          {"now_s", now.ms / 1000},
          {"now_ms", now.ms},
          {"frozen", state.clock.frozen()}};
}

ControlAnswer summary(ControlRequest& request) {
  ProviderState& state = request.state;
  json::object body = clock_json(state);
  body["seed"] = std::to_string(state.settings.seed);
  body["latency_ms"] = state.settings.latency.count();
  body["requests"] = state.trace.requests();
  body["trace_dropped"] = state.trace.requests() - state.trace.rows().size();
  body["charges"] = state.ledger.rows().size();
  body["refunds"] = state.ledger.refunds().size();
  body["intents"] = state.store.intents().all().size();
  body["customers"] = state.store.customers().all().size();
  body["keys"] = state.keys.all().size();
  body["events"] = state.events.all().size();
  body["events_dropped"] = state.events.dropped();
  body["webhooks_pending"] = state.webhooks.pending();
  body["webhooks_dropped"] = state.webhooks.dropped();
  body["webhooks_given_up"] = state.webhooks.given_up();
  body["chaos_percent"] = state.chaos.settings().percent;
  body["fault_rules"] = state.faults.rules().size();
  return {200, body};
}

ControlAnswer list_faults(ControlRequest& request) {
  json::array rules;
  for (const FaultRule& rule : request.state.faults.rules()) {
    boost::system::error_code ignored;  // the text was parsed before
    json::object entry = json::parse(rule.text, ignored).as_object();
    entry["matched"] = rule.matched;
    entry["acted"] = rule.acted;
    rules.emplace_back(std::move(entry));
  }
  return {200, json::object({{"rules", std::move(rules)}})};
}

ControlAnswer set_faults(ControlRequest& request) {
  auto set = request.state.set_faults(json::serialize(request.body));
  if (!set) return bad(set.error().context);
  return list_faults(request);
}

ControlAnswer clear_faults(ControlRequest& request) {
  request.state.faults.replace({});
  return list_faults(request);
}

ControlAnswer read_clock(ControlRequest& request) {
  return {200, clock_json(request.state)};
}

ControlAnswer move_clock(ControlRequest& request) {
  static constexpr std::array<std::string_view, 4> known = {"advance_s", "advance_ms", "set_s",
                                                            "freeze"};
  for (const auto& entry : request.body) {
    if (std::find(known.begin(), known.end(), std::string_view(entry.key())) == known.end()) {
      return bad("unknown member " + std::string(entry.key()) +
                 "; known are advance_s, advance_ms, set_s, freeze");
    }
  }
  JsonReader reader(request.body);
  const std::int64_t advance_ms = reader.integer("advance_s") * 1000 + reader.integer("advance_ms");
  const std::int64_t set_s = reader.integer("set_s");
  const bool freeze = reader.flag("freeze");
  if (!reader.bad_member().empty() || advance_ms < 0 || set_s < 0) {
    return bad("advance_s, advance_ms and set_s are integers of 0 or more; freeze is a boolean");
  }
  ProviderState& state = request.state;
  if (request.body.contains("set_s")) state.clock.set({set_s * 1000});
  state.clock.advance(std::chrono::milliseconds(advance_ms));
  if (request.body.contains("freeze")) {
    if (freeze) {
      state.clock.freeze();
    } else {
      state.clock.thaw();
    }
  }
  state.clock_changed = true;
  state.settle();
  return read_clock(request);
}

ControlAnswer reset(ControlRequest& request) {
  JsonReader reader(request.body);
  ProviderState& state = request.state;
  const bool new_seed = request.body.contains("seed");
  const bool new_latency = request.body.contains("latency_ms");
  const std::int64_t seed = new_seed ? reader.required_integer("seed") : 0;
  const std::int64_t latency = new_latency ? reader.required_integer("latency_ms") : 0;
  const bool others = request.body.size() != (new_seed ? 1U : 0U) + (new_latency ? 1U : 0U);
  if (!reader.bad_member().empty() || others || seed < 0 || latency < 0) {
    return bad("members of a reset are seed and latency_ms, integers of 0 or more");
  }
  request.give_up_requests();
  state.reset(new_seed ? static_cast<std::uint64_t>(seed) : state.settings.seed,
              new_latency ? std::chrono::milliseconds(latency) : state.settings.latency);
  return summary(request);
}

ControlAnswer read_ledger(ControlRequest& request) {
  json::array rows;
  const auto found =
      request.state.ledger.find(request.query.text("customer"), request.query.text("period"));
  for (const LedgerRow& row : found) rows.emplace_back(to_json(row));
  return {200, std::move(rows)};
}

ControlAnswer read_refunds(ControlRequest& request) {
  const std::string customer = request.query.text("customer");
  const std::string period = request.query.text("period");
  json::array rows;
  for (const LedgerRow& row : request.state.ledger.refunds()) {
    const bool customer_fits = customer.empty() || row.customer == customer;
    if (customer_fits && (period.empty() || row.period == period)) rows.emplace_back(to_json(row));
  }
  return {200, std::move(rows)};
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

ControlAnswer assert_ledger(ControlRequest& request) {
  const std::string fields_text =
      request.query.has("max_per") ? request.query.text("max_per") : "customer,period,purpose";
  const auto max = request.query.has("max") ? request.query.integer("max") : 1;
  if (!max || *max < 0) return bad("max is an integer of 0 or more");
  const auto fields = split_commas(fields_text);
  const auto offenders = request.state.ledger.groups_above(fields, static_cast<std::size_t>(*max));
  if (!offenders) return bad(offenders.error().context);
  json::array list;
  for (const LedgerOffender& offender : *offenders) {
    json::object entry;
    for (std::size_t nr = 0; nr < fields.size(); ++nr) entry[fields[nr]] = offender.group[nr];
    entry["count"] = offender.charges.size();
    json::array charges;
    for (const std::string& charge : offender.charges) charges.emplace_back(charge);
    entry["charges"] = std::move(charges);
    list.emplace_back(std::move(entry));
  }
  json::object body;
  body["ok"] = list.empty();
  body["max"] = *max;
  body["rows"] = request.state.ledger.rows().size();
  body["offenders"] = std::move(list);
  return {offenders->empty() ? 200 : 409, std::move(body)};
}

ControlAnswer list_requests(ControlRequest& request) {
  const std::string key = request.query.text("key");
  json::array rows;
  for (const WireTraceRow& row : request.state.trace.rows()) {
    if (!key.empty() && row.key != key) continue;
    json::object entry;
    entry["nr"] = row.nr;
    entry["at"] = to_iso(row.at);
    entry["connection"] = row.connection;
    entry["nr_on_connection"] = row.nr_on_connection;
    entry["method"] = row.method;
    entry["path"] = row.path;
    entry["key"] = row.key;
    entry["digest"] = row.digest;
    entry["request"] = row.request_id;
    entry["outcome"] = row.outcome;
    entry["faults"] = row.faults;
    entry["status"] = row.status;
    entry["ending"] = to_text(row.ending);
    entry["bytes_sent"] = row.bytes_sent;
    rows.emplace_back(std::move(entry));
  }
  return {200, std::move(rows)};
}

ControlAnswer list_keys(ControlRequest& request) {
  json::array rows;
  for (const KeyRecord& record : request.state.keys.all()) {
    json::object entry;
    entry["key"] = record.key;
    entry["method"] = record.method;
    entry["path"] = record.path;
    entry["digest"] = record.digest;
    entry["first_received"] = to_iso(record.first_received);
    entry["expires"] = to_iso(record.expires_at);
    entry["expired"] = !record.running && request.state.clock.now() >= record.expires_at;
    entry["phase"] = record.running ? "running" : "saved";
    entry["status"] = record.status;
    entry["request"] = record.request_id;
    entry["replays"] = record.replays;
    rows.emplace_back(std::move(entry));
  }
  return {200, std::move(rows)};
}

ControlAnswer list_events(ControlRequest& request) {
  json::array rows;
  for (const ProviderEvent& event : request.state.events.all()) {
    json::object entry;
    entry["id"] = event.id;
    entry["type"] = event.type;
    entry["created"] = event.created_s;
    entry["object"] = event.object;
    entry["status"] = event.status;
    entry["request"] = event.request;
    entry["key"] = event.key;
    rows.emplace_back(std::move(entry));
  }
  return {200, std::move(rows)};
}

ControlAnswer authenticate(ControlRequest& request) {
  JsonReader reader(request.body);
  const std::string id = reader.required_text("payment_intent");
  const std::string outcome = reader.text("outcome");
  if (!reader.bad_member().empty() ||
      !(outcome.empty() || outcome == "succeeded" || outcome == "failed")) {
    return bad("expected {\"payment_intent\": ID, \"outcome\": \"succeeded\" or \"failed\"}");
  }
  PaymentIntent* intent = request.state.store.intents().find(id);
  if (intent == nullptr) return {404, json::object({{"error", "no payment_intent " + id}})};
  EndpointContext context = request.state.context();
  if (!finish_action(context, *intent, outcome != "failed")) {
    return {409, json::object({{"error", "payment_intent " + id + " is not in requires_action"}})};
  }
  return {200, to_json(*intent)};
}

constexpr ControlRoute routes[] = {
    {"GET", "/_sim", summary},
    {"GET", "/_sim/faults", list_faults},
    {"POST", "/_sim/faults", set_faults},
    {"DELETE", "/_sim/faults", clear_faults},
    {"GET", "/_sim/clock", read_clock},
    {"POST", "/_sim/clock", move_clock},
    {"POST", "/_sim/reset", reset},
    {"POST", "/_sim/authenticate", authenticate},
    {"GET", "/_sim/ledger", read_ledger},
    {"GET", "/_sim/refunds", read_refunds},
    {"GET", "/_sim/assert", assert_ledger},
    {"GET", "/_sim/requests", list_requests},
    {"GET", "/_sim/keys", list_keys},
    {"GET", "/_sim/events", list_events},
};

ControlAnswer dispatch(ProviderState& state, const WireRequest& request,
                       const std::function<void()>& give_up_requests) {
  const ControlRoute* route = nullptr;
  for (const auto table : {std::span<const ControlRoute>(routes), extra_control_routes()}) {
    for (const ControlRoute& known : table) {
      if (known.method == request.method && known.path == request.path) route = &known;
    }
  }
  if (route == nullptr) {
    return {404, json::object({{"error", request.method + " " + request.path +
                                             " is not part of the control API, see "
                                             "docs/simulator.md"}})};
  }
  auto query = parse_form(request.query);
  if (!query) return bad(query.error().context);
  ControlRequest control{state, give_up_requests, Params(*std::move(query)), {}};
  if (!request.body.empty()) {
    boost::system::error_code error;
    json::value body = json::parse(request.body, error);
    if (error || !body.is_object()) return bad("the body is no JSON object");
    control.body = std::move(body.get_object());
  }
  return route->handler(control);
}

}  // namespace

WireAnswer answer_control(ProviderState& state, const WireRequest& request,
                          const std::function<void()>& give_up_requests) {
  const ControlAnswer given = dispatch(state, request, give_up_requests);
  WireAnswer answer;
  answer.status = given.status;
  answer.headers.emplace_back("Content-Type", "application/json");
  answer.body = json::serialize(given.body) + "\n";
  return answer;
}

}  // namespace onceward::provider::simulator
