// Journal: the port through which everything durable goes: one writer, several readers. Backends:
// MemoryJournal, SqliteJournal. Commits are atomic per unit and grouped per call; all is
// synchronous (the queue belongs to the caller).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/commit_unit.hpp>

namespace onceward::journal {

/// End of one entity's history as seen by a replay, with the epoch to write under from here on.
struct HistoryEnd {
  SequenceNr last;
  Digest head;
  Epoch epoch;

  friend bool operator==(const HistoryEnd&, const HistoryEnd&) = default;
};

/// A stored snapshot; `at` is the last sequence number it contains, `head` the chain there.
struct StoredSnapshot {
  SequenceNr at;
  Digest head;
  SnapshotRecord record;

  friend bool operator==(const StoredSnapshot&, const StoredSnapshot&) = default;
};

/// An entity that is not run any more until an operator acts.
struct Quarantined {
  PersistenceId persistence_id;
  std::string reason;
  Timestamp since;

  friend bool operator==(const Quarantined&, const Quarantined&) = default;
};

/// Use of one bucket of the spend cap. `limit_minor` absent: no limit was ever set.
struct CapUse {
  BillingPeriod period;
  CustomerId customer;  ///< empty: the period's total
  Currency currency;
  std::optional<std::int64_t> limit_minor;
  std::int64_t reserved_minor = 0;
  std::int64_t settled_minor = 0;

  friend bool operator==(const CapUse&, const CapUse&) = default;
};

/// Which rows of a period to list. Results are ordered by (customer, purpose).
struct RowQuery {
  BillingPeriod period;
  std::optional<ObligationStatus> status;
  /// Continue after this (customer, purpose); empty customer: from the start.
  CustomerId after_customer;
  Purpose after_purpose;
  std::size_t limit = 100;
};

/// Which refunds to list. Results are ordered by the bytes of (customer, period text, purpose),
/// then by number.
struct RefundQuery {
  std::optional<RefundStatus> status;
  /// Continue after this one; absent: from the start.
  std::optional<ObligationKey> after;
  std::uint32_t after_number = 0;
  std::size_t limit = 100;
};

struct JournalStats {
  std::uint64_t events = 0;
  std::uint64_t entities = 0;
  std::uint64_t obligations = 0;
  std::uint64_t open_obligations = 0;
  std::uint64_t marks = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t commit_count = 0;  ///< store-wide commit counter
  std::uint64_t bytes = 0;         ///< of the database file; 0 where it makes no sense

  friend bool operator==(const JournalStats&, const JournalStats&) = default;
};

/// Receives one event of a replay; returns false to stop the replay early.
using EventSink = std::function<bool(const PersistenceId&, StoredEvent&&)>;
using RowSink = std::function<bool(ObligationRow&&)>;

/// Reads committed data only, consistent within one call. One thread at a time per reader; may run
/// beside the writer and other readers. Blocks on disk. While a barrier is pending every call
/// answers store_uncertain: what cannot be decided must not be read.
class JournalReader {
 public:
  virtual ~JournalReader() = default;

  /// Feeds events with sequence number > `after` in order and verifies order, epochs and chain on
  /// the way; store_corrupt on any break (nothing is repaired or skipped), store_io if the read
  /// itself failed. An unknown persistence id has an end of {0, zero head}. The end is always that
  /// of the whole history, also if the sink stopped early (then the rest was not verified) or if
  /// `after` lies beyond it.
  [[nodiscard]] virtual Result<HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                                                  const EventSink& sink) = 0;
  /// The same for many entities at a constant number of queries; `done` is called once per id, in
  /// the order given, after that id's last event. One broken history does not end the others.
  virtual void replay_many(
      std::span<const PersistenceId> ids, const EventSink& sink,
      const std::function<void(const PersistenceId&, Result<HistoryEnd>)>& done) = 0;
  /// All events of all entities in commit order, position > `after`; returns the last position.
  [[nodiscard]] virtual Result<std::uint64_t> scan(
      std::uint64_t after,
      const std::function<bool(std::uint64_t, const PersistenceId&, StoredEvent&&)>& sink) = 0;
  [[nodiscard]] virtual Result<std::optional<StoredSnapshot>> snapshot(const PersistenceId& id) = 0;
  /// Entities with events whose id begins with `prefix` (1 or more visible ASCII characters, e.g.
  /// "inbox/"), ordered by their bytes, after `after` (absent: from the start).
  [[nodiscard]] virtual Result<std::vector<PersistenceId>> ids_under(
      std::string_view prefix, const std::optional<PersistenceId>& after, std::size_t limit) = 0;

  [[nodiscard]] virtual Result<std::optional<ObligationRow>> row(const ObligationKey& key) = 0;
  /// All rows of one customer, ordered by (period text, purpose).
  [[nodiscard]] virtual Result<std::vector<ObligationRow>> rows_of(const CustomerId& customer) = 0;
  [[nodiscard]] virtual Result<std::vector<ObligationRow>> rows(const RowQuery& query) = 0;
  /// Rows with next_action_at <= `now`, earliest first, then by (period text, customer, purpose);
  /// at most `limit`. Closed and operator-owned rows are among them if their entity set a time (a
  /// look-up that a hint made due on a closed obligation).
  [[nodiscard]] virtual Result<std::vector<ObligationRow>> due(Timestamp now,
                                                               std::size_t limit) = 0;
  /// Open rows, not operator-owned, last written under an epoch older than `epoch`, ordered by the
  /// bytes of (customer, period text, purpose), after `after` (absent: from the start): what
  /// start-up takes at once.
  [[nodiscard]] virtual Result<std::vector<ObligationRow>> open_before(
      Epoch epoch, const std::optional<ObligationKey>& after, std::size_t limit) = 0;
  /// The row that was charged by this charge, if there is one. Reads every row: for what is rare.
  [[nodiscard]] virtual Result<std::optional<ObligationRow>> row_of_charge(
      std::string_view charge_id) = 0;
  /// All refunds of one customer, ordered by (period text, purpose, number).
  [[nodiscard]] virtual Result<std::vector<RefundRow>> refunds_of(const CustomerId& customer) = 0;
  [[nodiscard]] virtual Result<std::vector<RefundRow>> refunds(const RefundQuery& query) = 0;
  /// Rows that a person may have to look at, in every period: parked, rejected, capped,
  /// uncollectible, processing, action_required, and completed with a reason (an alarm), ordered by
  /// the bytes of (customer, period text, purpose), after `after` (absent: from the start).
  [[nodiscard]] virtual Result<std::vector<ObligationRow>> attention_rows(
      const std::optional<ObligationKey>& after, std::size_t limit) = 0;
  /// The mark if it exists and has not expired at `now`.
  [[nodiscard]] virtual Result<std::optional<Mark>> mark(std::string_view scope,
                                                         std::string_view key, Timestamp now) = 0;
  /// The period's total of each currency, and each customer who has a limit of his own; ordered by
  /// (currency, customer). What other customers use is only part of the totals.
  [[nodiscard]] virtual Result<std::vector<CapUse>> cap_use(const BillingPeriod& period) = 0;
  [[nodiscard]] virtual Result<std::vector<Quarantined>> quarantined() = 0;
  [[nodiscard]] virtual Result<JournalStats> stats() = 0;
};

/// The writer. One thread at a time; blocks on disk. Everything answered as stored survives any
/// crash of process or machine.
class Journal {
 public:
  virtual ~Journal() = default;

  /// Stores the units in order as one group with one sync; answers[i] belongs to units[i]. A unit
  /// refused, invalid or fenced leaves nothing and does not harm its neighbours; a later unit of
  /// the group sees what an earlier one stored. If the commit of the group fails, every unit but
  /// those of bad shape answers CommitUnknown (a refusal may rest on what an earlier unit of the
  /// group stored), and until barrier() has succeeded each further call answers CommitUnknown too
  /// without touching the store.
  [[nodiscard]] virtual std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) = 0;

  /// Resolves an unknown commit: commits a raised epoch for all shards. Afterwards readers work
  /// again and everything written under older epochs is decided for good. Called again until it
  /// succeeds. Without a pending unknown it only raises the epoch.
  [[nodiscard]] virtual Result<Epoch> barrier() = 0;
  [[nodiscard]] virtual bool barrier_pending() const noexcept = 0;

  /// Takes one shard for a new owner: raises its epoch in one statement and returns it.
  [[nodiscard]] virtual Result<Epoch> raise_epoch(ShardNr shard) = 0;
  /// The epoch this process writes under for the shard.
  [[nodiscard]] virtual Epoch epoch_of(ShardNr shard) const noexcept = 0;

  /// Durable before it returns. Repeating it keeps the first reason and time.
  [[nodiscard]] virtual Result<Unit> quarantine(const PersistenceId& id, std::string_view reason,
                                                Timestamp at) = 0;
  [[nodiscard]] virtual Result<Unit> lift_quarantine(const PersistenceId& id) = 0;

  /// A new reader; must not outlive the journal.
  [[nodiscard]] virtual Result<std::unique_ptr<JournalReader>> reader() = 0;
};

/// Values recorded in the store at creation; a start that differs in any is refused
/// (store_mismatch naming the value, what is recorded and what is configured).
struct StoreIdentity {
  Namespace ns;
  AccountLabel account;
  Mode mode = Mode::test;
  std::string key_scheme = "v1";
  std::uint32_t shards = 256;

  friend bool operator==(const StoreIdentity&, const StoreIdentity&) = default;
};

/// The shard of an entity: the first four bytes of SHA-256 of its persistence id, big-endian,
/// modulo `shards`. A unit that names another shard is InvalidUnit.
[[nodiscard]] ShardNr shard_of(const PersistenceId& id, std::uint32_t shards);

}  // namespace onceward::journal
