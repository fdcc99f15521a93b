// SimulatedProvider: a payment provider as a state machine. No sockets, threads, clocks or files:
// requests and the time go in, answers come out, and one seed always gives the same run. The
// socket adapter (simulator.hpp) and deterministic tests drive the same class.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>
#include <onceward/provider/simulator/ledger.hpp>
#include <onceward/provider/simulator/wire.hpp>

namespace onceward::provider::simulator {

/// When an answer takes time: is the money moved when the request arrives, or when it is answered?
/// `start` is the harder one for clients: whoever gives up waiting has been charged.
enum class CommitAt : std::uint8_t { start, end };

struct SimulatorSettings {
  /// Feeds object ids and the probabilities of fault rules.
  std::uint64_t seed = 1;
  /// Every answer under /v1 is held back this long, in driver time.
  std::chrono::milliseconds latency{0};
  CommitAt commit_at = CommitAt::start;
  /// Refuse `customer` ids that were not created before. Off: any id is taken.
  bool strict_customers = false;
  /// Requests per second under /v1; above: 429. 0: no limit.
  std::uint32_t rate_per_second = 0;
  /// How long an idempotency key is remembered, counted from its first receipt.
  std::chrono::hours key_life{24};
  /// Rows kept in the wire trace; the oldest go first and are counted.
  std::size_t trace_rows_max = 200'000;
  /// Start with a provider clock that stands at this time and moves only when told to. Absent: it
  /// follows the driver's time.
  std::optional<Timestamp> frozen_at;
  /// Collect take_changes() for a store. Off: nothing is collected.
  bool collect_changes = false;
};

/// Number of a request at this provider: 1, 2, ... in order of receipt, /_sim requests included.
using RequestNr = std::uint64_t;

struct FinishedRequest {
  RequestNr nr = 0;
  WireAnswer answer;
};

/// One row to store: `kind` and `id` name it, `text` (JSON) replaces what was stored before. An
/// empty `kind` means: forget everything stored so far.
struct StoredRow {
  std::string kind;
  std::string id;
  std::string text;
};

/// What the provider saw of one request under /v1, and what it did with it.
struct WireTraceRow {
  std::uint64_t nr = 0;  ///< 1, 2, ...: the `nth` of fault rules
  Timestamp at;          ///< provider time of receipt
  std::uint64_t connection = 0;
  std::uint64_t nr_on_connection = 0;
  std::string method;
  std::string path;
  std::string key;         ///< empty when none was sent
  std::string digest;      ///< of the decoded parameters, independent of their order
  std::string request_id;  ///< the Request-Id of the answer
  /// executed, replayed, invalid, unauthorized, not_found, key_in_use, key_mismatch, rate_limited,
  /// refused (by a fault rule, unexecuted), pending (not yet decided)
  std::string outcome = "pending";
  std::string faults;  ///< kinds of the fault rules that acted, joined by '+'
  int status = 0;      ///< of the answer that was meant, 0 when there is none
  WireEnding ending = WireEnding::whole;
  std::size_t bytes_sent = 0;  ///< of the body
};

/// Single-threaded. `now` is the driver's time: it orders what is pending and must not go back
/// (an earlier value counts as the latest one seen). Nothing blocks, nothing fails: what a client
/// sends wrongly is answered as the provider would.
class SimulatedProvider {
 public:
  explicit SimulatedProvider(SimulatorSettings settings);
  ~SimulatedProvider();
  SimulatedProvider(const SimulatedProvider&) = delete;
  SimulatedProvider& operator=(const SimulatedProvider&) = delete;

  /// Takes one request, also for the control API under /_sim. Its answer comes out of
  /// take_finished(), now or after a later advance(); a hanging one comes out at once as `hang`.
  [[nodiscard]] RequestNr receive(const WireRequest& request, Timestamp now);
  /// Does all that is due by `now`.
  void advance(Timestamp now);
  /// When advance() has something to do for a waiting request; absent when none waits.
  [[nodiscard]] std::optional<Timestamp> next_due() const;
  /// Answers since the last call, in the order they were finished.
  [[nodiscard]] std::vector<FinishedRequest> take_finished();

  /// Rows changed since the last call; whoever stores them does so in one transaction, before he
  /// hands out the answers. What one request changed is never split over two calls.
  [[nodiscard]] std::vector<StoredRow> take_changes();
  /// Restores what was stored. Before the first request only; store_corrupt names the bad row.
  [[nodiscard]] Result<Unit> restore(const std::vector<StoredRow>& rows);

  /// Replaces all fault rules; `json` as in the body of POST /_sim/faults (docs/simulator.md).
  /// invalid_argument names rule and member; then the old rules stay.
  [[nodiscard]] Result<Unit> set_faults(std::string_view json);
  void clear_faults();
  /// Forgets every idempotency key, as if it had outlived its time.
  void expire_keys();
  /// Moves the provider's clock; waiting answers are not affected (they run on driver time).
  void advance_clock(std::chrono::milliseconds by);
  /// Provider time now.
  [[nodiscard]] Timestamp provider_time() const;

  [[nodiscard]] const Ledger& ledger() const;
  /// The trace's rows, oldest first.
  [[nodiscard]] std::vector<WireTraceRow> trace() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::provider::simulator
