// ProviderState: everything the simulated provider knows, shared by the request pipeline and the
// control API; and how it is stored and restored.
#pragma once

#include <vector>

#include <onceward/provider/simulator/simulated_provider.hpp>

#include "provider/simulator/endpoint.hpp"
#include "provider/simulator/events.hpp"
#include "provider/simulator/faults.hpp"
#include "provider/simulator/key_store.hpp"
#include "provider/simulator/object_store.hpp"
#include "provider/simulator/rate_limiter.hpp"
#include "provider/simulator/virtual_clock.hpp"
#include "provider/simulator/wire_trace.hpp"

namespace onceward::provider::simulator {

struct ProviderState {
  explicit ProviderState(SimulatorSettings given)
      : settings(given),
        clock(given.frozen_at),
        changes(given.collect_changes),
        store(given.seed, changes),
        keys(given.key_life, changes),
        events(given.trace_rows_max),
        faults(given.seed),
        trace(given.trace_rows_max),
        limiter(given.rate_per_second) {}

  SimulatorSettings settings;
  VirtualClock clock;
  ChangeLog changes;
  ObjectStore store;
  KeyStore keys;
  Ledger ledger;
  EventLog events;
  Faults faults;
  WireTrace trace;
  RateLimiter limiter;
  bool clock_changed = false;  ///< and is not stored yet

  [[nodiscard]] EndpointContext context();
  /// Ends pending charges whose time has come.
  void settle();
  /// Parses and installs rules; expire_keys acts at once and is not kept.
  [[nodiscard]] Result<Unit> set_faults(std::string_view json);
  /// As new, with this seed and latency. Requests in flight must be given up before.
  void reset(std::uint64_t seed, std::chrono::milliseconds latency);

  [[nodiscard]] std::vector<StoredRow> take_changes();
  [[nodiscard]] Result<Unit> restore(const std::vector<StoredRow>& rows);

 private:
  [[nodiscard]] StoredRow meta_row() const;
  [[nodiscard]] Result<Unit> restore_meta(std::string_view text);
  [[nodiscard]] Result<Unit> restore_row(const StoredRow& row);
};

}  // namespace onceward::provider::simulator
