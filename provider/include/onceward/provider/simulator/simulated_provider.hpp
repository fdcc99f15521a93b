// SimulatedProvider: a payment provider as a state machine. No sockets, threads, clocks or files:
// requests and the time go in, answers come out, and one seed always gives the same run. The
// socket adapter (simulator.hpp) and deterministic tests drive the same class.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>
#include <onceward/provider/simulator/ledger.hpp>
#include <onceward/provider/simulator/webhooks.hpp>
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
  /// Requests per second under /v1, and to one endpoint of it; above: 429. 0: no limit.
  std::uint32_t rate_per_second = 0;
  std::uint32_t rate_per_endpoint = 0;
  /// How long an idempotency key is remembered, counted from its first receipt.
  std::chrono::hours key_life{24};
  /// How long after a change the search finds it, in provider time.
  std::chrono::milliseconds search_lag{60'000};
  /// Rows kept in the wire trace; the oldest go first and are counted. About 400 bytes each.
  std::size_t trace_rows_max = 200'000;
  /// Keys remembered; about 2 KB each. When there are more, those older than their life go; when
  /// all are younger, a request with a new key is answered 503 and not executed.
  std::size_t keys_max = 1'000'000;
  /// Events kept for the list of events; the oldest go first and are counted. About 2 KB each.
  std::size_t events_max = 50'000;
  /// Deliveries that wait or are under way; what comes on top is not sent, and counted.
  std::size_t webhooks_pending_max = 100'000;
  /// Attempts to deliver kept for inspection.
  std::size_t webhook_log_max = 20'000;
  /// Start with a provider clock that stands at this time and moves only when told to. Absent: it
  /// follows the driver's time.
  std::optional<Timestamp> frozen_at;
  /// Collect take_changes() for a store. Off: nothing is collected.
  bool collect_changes = false;
};

/// A fault program drawn from a seed; the same requests in the same order meet the same faults.
struct ChaosSettings {
  std::uint64_t seed = 1;
  /// Share of the requests under /v1, and of the events to be sent by webhook, that meet one fault
  /// each. 0: none.
  std::uint32_t percent = 0;
  /// Kinds of fault rules to draw from. Empty: all but expire_keys.
  std::vector<std::string> kinds;
};

/// Number of a request at this provider: 1, 2, ... in order of receipt, /_sim requests included.
using RequestNr = std::uint64_t;

struct FinishedRequest {
  RequestNr nr = 0;
  WireAnswer answer;
};

/// One row to store: `kind` and `id` name it, `text` (JSON) replaces what was stored before. An
/// empty `text` means: forget this row. An empty `kind` means: forget everything stored so far.
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
  /// Replaces the fault program; it acts beside the rules, which come first. invalid_argument for
  /// settings that make no sense.
  [[nodiscard]] Result<Unit> set_chaos(ChaosSettings settings);
  /// How often each kind was drawn since set_chaos().
  [[nodiscard]] std::map<std::string, std::uint64_t> chaos_drawn() const;
  /// Moves the provider's clock; waiting answers are not affected (they run on driver time).
  void advance_clock(std::chrono::milliseconds by);
  /// Provider time now.
  [[nodiscard]] Timestamp provider_time() const;

  /// The control API without a request: `method` and `path` as under /_sim, `body` JSON or empty.
  [[nodiscard]] WireAnswer control(const std::string& method, const std::string& path,
                                   const std::string& body = "");

  /// Registers a receiver. invalid_argument for an empty URL or too many receivers.
  [[nodiscard]] Result<WebhookRegistration> add_webhook_endpoint(NewWebhookEndpoint endpoint);
  /// `secret` (empty: one is made) signs from now on, beside the old one for `keep_old_for` (at
  /// most 24 h) of provider time. not_found for an unknown id.
  [[nodiscard]] Result<WebhookRegistration> roll_webhook_secret(
      const std::string& id, std::string secret, std::chrono::milliseconds keep_old_for);
  /// At most `max` deliveries that are due by the provider's clock, oldest first. Each is under way
  /// until its answer is told. What follows an answer without status, or one that is not 2xx, is
  /// told by webhook_retry_delay().
  [[nodiscard]] std::vector<WebhookCall> take_webhooks(std::size_t max);
  void webhook_answered(std::uint64_t nr, std::optional<int> status);
  /// Both, one by one, until nothing is due; how many were delivered.
  std::size_t deliver_webhooks(const WebhookSink& sink);
  /// Driver time at which advance() or take_webhooks() has something to do, be it a waiting
  /// request, a delivery or the end of a pending payment; absent when nothing but a moved clock can
  /// bring something.
  [[nodiscard]] std::optional<Timestamp> next_wake() const;

  [[nodiscard]] const Ledger& ledger() const;
  /// The trace's rows, oldest first.
  [[nodiscard]] std::vector<WireTraceRow> trace() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::provider::simulator
