// Implementation of ProviderState.
#include "provider/simulator/provider_state.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "provider/simulator/json_reader.hpp"
#include "provider/simulator/payments.hpp"
#include "provider/simulator/refunds.hpp"

namespace onceward::provider::simulator {
namespace json = boost::json;

EndpointContext ProviderState::context() {
  return EndpointContext{.store = store,
                         .ledger = ledger,
                         .events = events,
                         .changes = changes,
                         .webhooks = webhooks,
                         .search = search,
                         .now = clock.now(),
                         .driver_now = clock.driver(),
                         .strict_customers = settings.strict_customers};
}

void ProviderState::settle() {
  if (!repairs.empty()) repair_due();
  if (store.pending_charges().empty() && store.pending_refunds().empty()) return;
  EndpointContext quiet = context();
  settle_due(quiet);
  settle_due_refunds(quiet);
}

void ProviderState::repair_due() {
  for (std::size_t at = 0; at < repairs.size();) {
    if (repairs[at].at > clock.now()) {
      ++at;
      continue;
    }
    const Repair repair = std::move(repairs[at]);
    repairs.erase(repairs.begin() + static_cast<std::ptrdiff_t>(at));
    EndpointContext late = context();
    late.key = repair.key;
    late.request_id = repair.request_id;
    // The saved answer stays the 500 that it was.
    (void)repair.route.endpoint->execute(late, repair.params, repair.route.id);
  }
}

std::optional<Timestamp> ProviderState::next_settlement() {
  std::optional<Timestamp> next;
  const auto consider = [&](Timestamp at) { next = next ? std::min(*next, at) : at; };
  for (const Charge* charge : store.pending_charges()) consider(charge->settlement->at);
  for (const Refund* refund : store.pending_refunds()) consider(refund->settlement->at);
  for (const Repair& repair : repairs) consider(repair.at);
  return next;
}

std::optional<std::string> ProviderState::rate_limit(const Endpoint* endpoint) {
  if (!limiter.admit(clock.driver())) return "global-rate";
  if (settings.rate_per_endpoint == 0 || endpoint == nullptr) return std::nullopt;
  const auto at = endpoint_limiters.try_emplace(endpoint, settings.rate_per_endpoint).first;
  if (at->second.admit(clock.driver())) return std::nullopt;
  return "endpoint-rate";
}

void ProviderState::set_limits(std::uint32_t per_second, std::uint32_t per_endpoint) {
  settings.rate_per_second = per_second;
  settings.rate_per_endpoint = per_endpoint;
  limiter.set(per_second);
  endpoint_limiters.clear();
}

Result<Unit> ProviderState::set_faults(std::string_view text) {
  auto rules = parse_fault_rules(text);
  if (!rules) return Unexpected{std::move(rules).error()};
  std::vector<FaultRule> kept;
  for (FaultRule& rule : *rules) {
    if (std::holds_alternative<ExpireKeys>(rule.action)) {
      keys.expire(rule.match.key.value_or(""));
    } else {
      kept.push_back(std::move(rule));
    }
  }
  faults.replace(std::move(kept));
  return ok();
}

void ProviderState::reset(std::uint64_t seed, std::chrono::milliseconds latency) {
  settings.seed = seed;
  settings.latency = latency;
  clock.restore(std::chrono::milliseconds(0), settings.frozen_at);
  store.clear(seed);
  keys.clear();
  ledger.clear();
  events.clear();
  search.clear();
  webhooks.clear();
  api_keys.clear();
  repairs.clear();
  chaos.stop();
  faults.restart(seed);
  trace.clear();
  changes.clear_store();
}

StoredRow ProviderState::meta_row() const {
  json::object object;
  object["seed"] = std::to_string(settings.seed);
  object["ids_given"] = store.ids_given();
  object["clock_offset_ms"] = clock.offset().count();
  if (clock.frozen()) object["clock_frozen_ms"] = clock.now().ms;
  return {"meta", "meta", json::serialize(object)};
}

std::vector<StoredRow> ProviderState::take_changes() {
  auto rows = changes.take();
  const bool store_clock = clock_changed && settings.collect_changes;
  clock_changed = false;
  if (!rows.empty() || store_clock) rows.push_back(meta_row());
  return rows;
}

Result<Unit> ProviderState::restore_meta(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  if (error || !value.is_object()) return fail(ErrorCode::store_corrupt, "no JSON object");
  JsonReader reader(value.get_object());
  const std::string seed = reader.required_text("seed");
  const auto ids_given = static_cast<std::uint64_t>(reader.required_integer("ids_given"));
  const std::chrono::milliseconds offset(reader.required_integer("clock_offset_ms"));
  std::optional<Timestamp> frozen;
  if (value.get_object().contains("clock_frozen_ms")) {
    frozen = Timestamp{reader.required_integer("clock_frozen_ms")};
  }
  const bool digits = seed.find_first_not_of("0123456789") == std::string::npos;
  if (!reader.bad_member().empty() || !digits || seed.size() > 20) {
    return fail(ErrorCode::store_corrupt, "bad member " + reader.bad_member());
  }
  // The stored seed wins: ids are unique only under one seed.
  settings.seed = std::stoull(seed);
  store.restore_ids_given(settings.seed, ids_given);
  clock.restore(offset, frozen);
  return ok();
}

Result<Unit> ProviderState::restore_row(const StoredRow& row) {
  if (row.kind == "meta") return restore_meta(row.text);
  if (row.kind == "key") return keys.restore(row.text);
  if (row.kind == "webhook_endpoint") return webhooks.restore(row.text);
  if (row.kind == "ledger" || row.kind == "ledger_refund") {
    auto parsed = parse_ledger_row(row.text);
    if (!parsed) return Unexpected{std::move(parsed).error()};
    return ledger.restore(*std::move(parsed));
  }
  auto object = store.restore(row);
  if (!object) return Unexpected{std::move(object).error()};
  if (!*object) return fail(ErrorCode::store_corrupt, "unknown kind");
  return ok();
}

Result<Unit> ProviderState::restore(const std::vector<StoredRow>& rows) {
  for (const StoredRow& row : rows) {
    if (auto restored = restore_row(row); !restored) {
      return fail(restored.error().code,
                  "stored " + row.kind + " " + row.id + ": " + restored.error().context);
    }
  }
  return ok();
}

}  // namespace onceward::provider::simulator
