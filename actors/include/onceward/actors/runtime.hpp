// Runtime: entities running as actors inside one node. Routes commands to lazily started entity
// actors, feeds them from the journal and the provider, wakes what is due. No actor type appears
// here: an embedder sees ports, entity types and callbacks only.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <onceward/core/machine.hpp>
#include <onceward/journal/journal.hpp>
#include <onceward/provider/provider.hpp>

namespace onceward::actors {

/// Which persistence ids an entity type serves, and how answers to its Tell effects come back. All
/// functions are called on runtime threads, several at a time: they must be thread-safe. What a
/// decider, `tell_result` or `load` throws costs its entity a life (see deaths_max);
/// `type.turn_down` and sinks must not throw at all.
struct EntityBinding {
  /// Persistence ids that begin with this text, e.g. "customer/"; not empty, and no prefix begins
  /// with another one. Obligation rows belong to `customer/<id>`.
  std::string prefix;
  EntityType type;
  /// Makes the command that tells a teller of this type what another entity replied to it. Absent
  /// for types that tell nobody. `reply` is the other entity's Reply.
  std::function<std::any(const PersistenceId& from, std::uint64_t correlation, std::any reply)>
      tell_result;
  /// Runs a Load query on the reader thread and returns the command that carries its result. Absent
  /// for types that load nothing. May block on disk: other entities' recoveries wait so long.
  std::function<std::any(const std::any& query)> load;
};

/// Half of the machine's processors, at least one.
[[nodiscard]] std::size_t default_worker_threads() noexcept;

/// Every number must be at least 1.
struct RuntimeOptions {
  std::string node = "node";  ///< part of writer ids
  std::uint32_t shards = 1;   ///< as recorded in the store
  std::size_t routers = 16;
  /// Entities kept in memory at once over all routers; idle ones beyond it are passivated. Entities
  /// that wait for store, provider or a caller stay, so commands may exceed it; what the runtime
  /// wakes by itself (due rows, start-up) does not.
  std::size_t resident_max = 2'000;
  /// Commands inside the runtime at once; one more is turned down as busy.
  std::size_t admission_max = 20'000;
  /// Besides writer, reader and alarm clock, one thread each. The default leaves half of the
  /// processors to those and to the provider's thread: more workers only wake each other.
  std::size_t worker_threads = default_worker_threads();
  /// Due rows taken per tick, one query for all routers.
  std::size_t due_batch = 1'000;
  std::int64_t tick_ms = 1'000;
  /// An entity whose actor died this often by exceptions is quarantined.
  int deaths_max = 3;
  /// Commands that wait longer than this for the recovery of their entity are turned down: as
  /// uncertain if it had begun to handle them, else as busy.
  std::int64_t recovery_wait_ms = 10'000;
};

struct RuntimeStats {
  std::size_t entities = 0;            ///< in memory
  std::size_t recovering = 0;          ///< of these, not ready yet
  std::size_t commands_in_flight = 0;  ///< not yet replied to for the last time
  std::uint64_t activations = 0;
  std::uint64_t passivations = 0;
  std::uint64_t commits = 0;  ///< groups
  std::uint64_t units = 0;
  std::uint64_t turned_down = 0;  ///< by the runtime, not by an entity
  bool store_uncertain = false;   ///< a barrier is pending
  std::string store_problem;      ///< why commits or reads fail, for /readyz; empty if they work
};

/// Called for each reply to one command, from a runtime thread; must not block. A command that asks
/// to be told twice (when accepted, when settled) gets two calls.
using ReplySink = std::function<void(std::any reply)>;

/// All members are thread-safe. Journal, provider and clock must outlive the runtime; the runtime
/// is the only user of the journal's writer. Destroying it is drain(0): whoever waits is answered.
///
///     auto runtime = Runtime::start({}, journal, provider, clock, {{"customer/", type, {}, {}}});
///     (*runtime)->ask(customer_persistence_id(id), std::any(Command{...}), [](std::any reply) {
///       tell_somebody(std::any_cast<Reply>(reply));
///     });
///     (*runtime)->drain(30'000);
class Runtime {
 public:
  /// Starts routers, journal writer and reader, then takes the open rows of older epochs in batches
  /// (in the background; is_recovered() tells when the first pass is done). invalid_config names
  /// the option; errors of the journal's reader are passed on.
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> start(RuntimeOptions options,
                                                              journal::Journal& journal,
                                                              provider::Provider& provider,
                                                              const Clock& clock,
                                                              std::vector<EntityBinding> bindings);
  virtual ~Runtime() = default;

  /// Sends a command to an entity, activating it if needed. The sink is called at least once, also
  /// when the runtime stops; possibly before ask() returns. Commands of one thread to one entity
  /// arrive in order. An id without binding is answered by nobody: it is a broken invariant.
  virtual void ask(const PersistenceId& to, std::any command, ReplySink reply) = 0;
  /// Makes the entity look at what it owes, as if a row were due.
  virtual void wake(const PersistenceId& id) = 0;
  /// Ends the quarantine of an entity, durably: from `done` on it takes commands again and looks at
  /// what it owes. What is stored is replayed first; if that breaks a rule still, it is quarantined
  /// anew. `done` is called exactly once, from any thread, also when the runtime stops (then with
  /// an error: whether it was lifted is for a reader to tell). Who may ask for it, and why, is the
  /// caller's to check and to record before.
  virtual void lift_quarantine(const PersistenceId& id, std::function<void(Result<Unit>)> done) = 0;
  [[nodiscard]] virtual bool is_recovered() const = 0;
  [[nodiscard]] virtual RuntimeStats stats() const = 0;

  /// Turns further commands down as busy, lets provider calls in flight be answered and stored for
  /// at most `grace_ms`, then stops: callers who still wait are told `uncertain`, or `busy` if
  /// their command certainly recorded nothing. What is unfinished stays resumable. Blocks;
  /// idempotent; not from a sink.
  virtual void drain(std::int64_t grace_ms) = 0;
};

}  // namespace onceward::actors
