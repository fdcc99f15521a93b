// Node: what all actors of one runtime share: ports, options, counters, and the handles of the
// journal's actors. Owned by the runtime, which destroys it after the last actor is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <onceward/actors/runtime.hpp>

#include "actors/alarm_clock.hpp"
#include "actors/gate.hpp"

namespace onceward::actors {

struct Node {
  Node(RuntimeOptions opts, journal::Journal& journal_port, provider::Provider& provider_port,
       const Clock& clock_port, std::vector<EntityBinding> entity_bindings);

  // Const after construction.
  const RuntimeOptions options;
  journal::Journal& journal;  ///< used by the writer actor only, once it runs
  provider::Provider& provider;
  const Clock& clock;
  const std::vector<EntityBinding> bindings;
  const std::shared_ptr<Gate> gate;

  // Set before the first entity starts, cleared after the last one is gone.
  caf::actor writer;
  caf::actor reader;

  // Thread-safe.
  std::atomic<bool> draining{false};  ///< no new commands and permits
  std::atomic<bool> stopping{false};  ///< no new calls either
  std::atomic<bool> recovered{false};
  std::atomic<std::uint64_t> incarnations{0};
  Tally commands;    ///< OpenCommand objects
  Tally entities;    ///< entity actors
  Tally routers;     ///< router actors
  Tally services;    ///< writer and reader
  Tally at_work;     ///< entity actors that wait for store or provider, not for callers
  Tally recovering;  ///< entity actors without a running machine
  std::atomic<std::int64_t> leaving{0};  ///< entity actors asked to leave
  std::atomic<std::uint64_t> activations{0};
  std::atomic<std::uint64_t> passivations{0};
  std::atomic<std::uint64_t> groups{0};
  std::atomic<std::uint64_t> units{0};
  std::atomic<std::uint64_t> turned_down{0};
  std::atomic<bool> store_uncertain{false};
  AlarmClock alarm;

  /// All clocks at once, with the provider's time where the Clock does not know it.
  [[nodiscard]] Now now() const;
  /// The binding that serves the id; null if there is none.
  [[nodiscard]] const EntityBinding* binding_of(const PersistenceId& id) const noexcept;
  [[nodiscard]] Incarnation next_incarnation() noexcept;
  [[nodiscard]] WriterId writer_id(Incarnation incarnation) const;
  /// A permit if one is free and the node is not about to stop.
  [[nodiscard]] bool try_permit();
  /// More entities in memory than wanted, not counting those already asked to leave.
  [[nodiscard]] bool is_crowded() const noexcept;

  void report_writer(std::string problem);
  void report_reader(std::string problem);
  [[nodiscard]] RuntimeStats stats() const;

 private:
  void ring(Alarm which);

  const std::string writer_prefix_;
  mutable std::mutex mutex_;
  std::string writer_problem_;  // guarded by mutex_
  std::string reader_problem_;  // guarded by mutex_
};

}  // namespace onceward::actors
