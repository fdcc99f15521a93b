// ProviderState: everything the simulated provider knows, shared by the request pipeline and the
// control API; and how it is stored and restored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <onceward/provider/simulator/simulated_provider.hpp>

#include "provider/simulator/api_keys.hpp"
#include "provider/simulator/chaos.hpp"
#include "provider/simulator/endpoint.hpp"
#include "provider/simulator/events.hpp"
#include "provider/simulator/faults.hpp"
#include "provider/simulator/key_store.hpp"
#include "provider/simulator/object_store.hpp"
#include "provider/simulator/rate_limiter.hpp"
#include "provider/simulator/search_index.hpp"
#include "provider/simulator/virtual_clock.hpp"
#include "provider/simulator/webhook_sender.hpp"
#include "provider/simulator/wire_trace.hpp"

namespace onceward::provider::simulator {

/// Work behind a 500 that is done later: the provider rolls it forward.
struct Repair {
  Timestamp at;  ///< provider time
  Route route;
  Params params;
  std::string key;
  std::string request_id;
};

struct ProviderState {
  explicit ProviderState(SimulatorSettings given)
      : settings(given),
        clock(given.frozen_at),
        changes(given.collect_changes),
        store(given.seed, changes),
        keys(given.key_life, given.keys_max, changes),
        events(given.events_max),
        search(given.search_lag),
        faults(given.seed),
        webhooks(given.webhooks_pending_max, given.webhook_log_max, faults, chaos, changes),
        trace(given.trace_rows_max),
        limiter(given.rate_per_second) {}

  SimulatorSettings settings;
  VirtualClock clock;
  ChangeLog changes;
  ObjectStore store;
  KeyStore keys;
  Ledger ledger;
  EventLog events;
  SearchIndex search;
  Faults faults;
  Chaos chaos;
  WebhookSender webhooks;
  WireTrace trace;
  RateLimiter limiter;
  std::map<const Endpoint*, RateLimiter> endpoint_limiters;
  ApiKeys api_keys;
  std::vector<Repair> repairs;  ///< in order of receipt; in memory only
  bool clock_changed = false;   ///< and is not stored yet

  [[nodiscard]] EndpointContext context();
  /// Ends pending charges and refunds and does repairs whose time has come.
  void settle();
  /// Provider time of the next thing that settle() has to do; absent when there is none.
  [[nodiscard]] std::optional<Timestamp> next_settlement();
  /// Admits one request to this endpoint, by the limits per second; the reason when it does not.
  [[nodiscard]] std::optional<std::string> rate_limit(const Endpoint* endpoint);
  void set_limits(std::uint32_t per_second, std::uint32_t per_endpoint);
  /// Parses and installs rules; expire_keys acts at once and is not kept.
  [[nodiscard]] Result<Unit> set_faults(std::string_view json);
  /// As new, with this seed and latency. Requests in flight must be given up before.
  void reset(std::uint64_t seed, std::chrono::milliseconds latency);

  [[nodiscard]] std::vector<StoredRow> take_changes();
  [[nodiscard]] Result<Unit> restore(const std::vector<StoredRow>& rows);

 private:
  void repair_due();
  [[nodiscard]] StoredRow meta_row() const;
  [[nodiscard]] Result<Unit> restore_meta(std::string_view text);
  [[nodiscard]] Result<Unit> restore_row(const StoredRow& row);
};

}  // namespace onceward::provider::simulator
