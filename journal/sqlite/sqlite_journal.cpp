// SqliteJournal: the life of an open store: lock, anchor, groups, the barrier and the close. What a
// unit does to the tables is group_writer.cpp.
#include <onceward/journal/sqlite_journal.hpp>

#include <filesystem>

#include <onceward/platform/file_lock.hpp>

#include "journal/refusals.hpp"
#include "journal/sqlite/anchor.hpp"
#include "journal/sqlite/anchor_check.hpp"
#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/group_writer.hpp"
#include "journal/sqlite/plan_tables.hpp"
#include "journal/sqlite/reader.hpp"
#include "journal/sqlite/row_columns.hpp"
#include "journal/sqlite/shared.hpp"
#include "journal/unit_shape.hpp"

namespace onceward::journal {
namespace sqlite {
namespace {

/// The connection that writes, with what is prepared on it. Lives at one address: the writer
/// borrows the connection.
struct WritingSide {
  SqliteConnection connection;
  std::optional<GroupWriter> writer;
};

Result<std::unique_ptr<WritingSide>> make_writing_side(SqliteConnection connection) {
  auto side = std::make_unique<WritingSide>(WritingSide{std::move(connection), std::nullopt});
  auto writer = GroupWriter::on(side->connection);
  if (!writer.has_value()) return Unexpected{std::move(writer).error()};
  side->writer.emplace(std::move(writer).value());
  return side;
}

class SqliteJournalImpl final : public SqliteJournal {
 public:
  SqliteJournalImpl(SqliteJournalOptions options, platform::FileLock lock, std::string store_id,
                    std::unique_ptr<WritingSide> side)
      : options_(std::move(options)),
        store_id_(std::move(store_id)),
        lock_(std::move(lock)),
        shared_(std::make_unique<Shared>(options_.identity.shards)),
        side_(std::move(side)) {}

  ~SqliteJournalImpl() override {
    if (is_started_ && !barrier_pending()) (void)close();  // a failure leaves an older anchor
  }

  /// The end of an open: compares with the anchor, takes all shards, writes the anchor.
  [[nodiscard]] Result<Unit> start();

  [[nodiscard]] std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override;
  [[nodiscard]] Result<Epoch> barrier() override;
  [[nodiscard]] bool barrier_pending() const noexcept override {
    return shared_->is_uncertain.load(std::memory_order_acquire);
  }
  [[nodiscard]] Result<Epoch> raise_epoch(ShardNr shard) override;
  [[nodiscard]] Epoch epoch_of(ShardNr shard) const noexcept override {
    ONCEWARD_CHECK(shard.value < shared_->epochs.size(), "the shard exists");
    return Epoch{shared_->epochs[shard.value].load(std::memory_order_acquire)};
  }
  [[nodiscard]] Result<Unit> quarantine(const PersistenceId& id, std::string_view reason,
                                        Timestamp at) override;
  [[nodiscard]] Result<Unit> lift_quarantine(const PersistenceId& id) override;
  [[nodiscard]] Result<std::unique_ptr<JournalReader>> reader() override {
    return make_reader(options_.path, options_.vfs, options_.identity.shards, shared_.get());
  }
  [[nodiscard]] Result<std::unique_ptr<PlanStore>> plan_store() override {
    return make_plan_store(options_.path, options_.vfs, shared_.get());
  }

 private:
  using Group = std::span<const CommitUnit>;

  [[nodiscard]] Result<Unit> run_group(Group units, std::vector<CommitAnswer>& answers,
                                       const std::vector<bool>& is_malformed);
  /// A transaction of ours besides groups. Any failure leaves a barrier pending.
  template <class Body>
  [[nodiscard]] Result<Unit> transact(bool with_commits_row, Body body);
  /// Called on every failure inside a transaction, before anybody is answered.
  void doubt(const Error& error);
  [[nodiscard]] Result<Unit> reconnect();
  [[nodiscard]] Result<Unit> check_anchor();
  [[nodiscard]] Result<Unit> anchor_present_state();
  [[nodiscard]] bool is_anchor_due() const;
  [[nodiscard]] Result<Unit> close();
  void publish_epochs(std::optional<ShardNr> only);
  [[nodiscard]] Unexpected pending_barrier() const {
    return fail(ErrorCode::store_uncertain,
                "a barrier is pending: call barrier() first (" + doubt_.context + ")");
  }

  // Constant after construction.
  const SqliteJournalOptions options_;
  const std::string store_id_;
  const platform::FileLock lock_;
  const std::unique_ptr<Shared> shared_;  // readers and plan stores refer to it

  // Used by the writing thread only.
  std::unique_ptr<WritingSide> side_;
  StoreState acknowledged_;  // the newest state that was answered as stored
  std::uint64_t anchored_count_ = 0;
  Error doubt_;
  bool is_started_ = false;  // a store that was refused is not anchored at its end
};

Result<Unit> SqliteJournalImpl::start() {
  if (auto checked = check_anchor(); !checked.has_value()) {
    if (!options_.is_reconciling || checked.error().code != ErrorCode::store_restored) {
      return checked;
    }
  }
  const auto raised = barrier();
  if (!raised.has_value()) return Unexpected{raised.error()};
  if (options_.is_reconciling) return ok();
  // Before the first unit can be stored: a store with units and without an anchor was tampered
  // with.
  auto anchored = anchor_present_state();
  is_started_ = anchored.has_value();
  return anchored;
}

Result<Unit> SqliteJournalImpl::check_anchor() {
  const auto anchor = read_anchor(options_.files());
  if (!anchor.has_value()) return Unexpected{anchor.error()};
  GroupWriter& writer = *side_->writer;
  if (auto begun = writer.begin(); !begun.has_value()) return begun;  // a consistent look
  auto compared =
      compare_with_anchor(*anchor, {options_.path, store_id_, writer.state()}, side_->connection);
  if (auto ended = writer.roll_back(); !ended.has_value()) return ended;
  acknowledged_ = writer.state();
  return compared;
}

bool SqliteJournalImpl::is_anchor_due() const {
  return options_.anchor_every != 0 && !options_.is_reconciling &&
         side_->writer->state().commit_count + 1 - anchored_count_ >= options_.anchor_every;
}

Result<Unit> SqliteJournalImpl::anchor_present_state() {
  const StoreState& state = side_->writer->state();
  auto written = write_anchor(options_.files(),
                              {store_id_, state.commit_count, state.last_position, state.rolling});
  if (written.has_value()) anchored_count_ = state.commit_count;
  return written;
}

void SqliteJournalImpl::doubt(const Error& error) {
  doubt_ = error;
  shared_->is_uncertain.store(true, std::memory_order_release);
  // Frees the write lock for others if it can; whether that worked decides nothing.
  if (side_ && side_->connection.is_in_transaction()) (void)side_->connection.execute("ROLLBACK");
}

std::vector<CommitAnswer> SqliteJournalImpl::commit(Group units) {
  std::vector<CommitAnswer> answers;
  answers.reserve(units.size());
  if (barrier_pending()) {
    answers.assign(units.size(), CommitUnknown{Error{ErrorCode::store_uncertain, doubt_.context}});
    return answers;
  }
  std::vector<bool> is_malformed(units.size(), false);
  bool is_any_in_order = false;
  for (std::size_t at = 0; at < units.size(); ++at) {
    auto error = shape_error(units[at], options_.identity.shards);
    is_malformed[at] = error.has_value();
    is_any_in_order = is_any_in_order || !error;
    answers.emplace_back(InvalidUnit{error ? std::move(*error) : Error{}});
  }
  if (!is_any_in_order) return answers;

  const std::lock_guard turn(shared_->write_turn);
  if (auto done = run_group(units, answers, is_malformed); !done.has_value()) {
    doubt(done.error());
    for (std::size_t at = 0; at < units.size(); ++at) {
      if (!is_malformed[at]) answers[at] = CommitUnknown{done.error()};
    }
  }
  return answers;
}

Result<Unit> SqliteJournalImpl::run_group(Group units, std::vector<CommitAnswer>& answers,
                                          const std::vector<bool>& is_malformed) {
  GroupWriter& writer = *side_->writer;
  if (auto begun = writer.begin(); !begun.has_value()) return begun;
  bool has_stored = false;
  for (std::size_t at = 0; at < units.size(); ++at) {
    if (is_malformed[at]) continue;
    auto answer = writer.apply(units[at]);
    if (!answer.has_value()) return Unexpected{std::move(answer).error()};
    has_stored = has_stored || std::holds_alternative<Stored>(*answer);
    answers[at] = std::move(answer).value();
  }
  if (!has_stored) return writer.roll_back();
  const bool is_due = is_anchor_due();
  if (auto committed = writer.commit_group(is_due); !committed.has_value()) return committed;
  acknowledged_ = writer.state();
  // An anchor that cannot be written stays due; the commit is durable without it.
  if (is_due) (void)anchor_present_state();
  return ok();
}

template <class Body>
Result<Unit> SqliteJournalImpl::transact(bool with_commits_row, Body body) {
  const std::lock_guard turn(shared_->write_turn);
  const auto run = [&]() -> Result<Unit> {
    if (auto begun = side_->writer->begin(); !begun.has_value()) return begun;
    if (auto done = body(); !done.has_value()) return done;
    return side_->writer->commit_other(with_commits_row);
  };
  auto outcome = run();
  if (!outcome.has_value()) doubt(outcome.error());
  return outcome;
}

Result<Unit> SqliteJournalImpl::reconnect() {
  side_.reset();
  auto connection = connect_writer(options_.path, options_.vfs, SqliteOpen::existing);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  const auto recorded = recorded_values(*connection);
  if (!recorded.has_value()) return Unexpected{recorded.error()};
  if (recorded->store_id != store_id_) {
    return restored(options_.path, "the file was replaced while it was open");
  }
  auto side = make_writing_side(std::move(connection).value());
  if (!side.has_value()) return Unexpected{std::move(side).error()};
  side_ = std::move(side).value();
  return ok();
}

Result<Epoch> SqliteJournalImpl::barrier() {
  if (barrier_pending()) {
    // A connection whose commit failed may keep pages that are not what the disk holds.
    if (auto connected = reconnect(); !connected.has_value()) {
      return Unexpected{std::move(connected).error()};
    }
  }
  auto raised = transact(true, [this]() -> Result<Unit> {
    const StoreState& state = side_->writer->state();
    const bool is_same = state.commit_count == acknowledged_.commit_count;
    if (state.commit_count < acknowledged_.commit_count ||
        (is_same && state.rolling != acknowledged_.rolling)) {
      return restored(options_.path, "commits that were durable are gone");
    }
    const auto epoch = side_->writer->raise_epoch(std::nullopt);
    if (!epoch.has_value()) return Unexpected{epoch.error()};
    return ok();
  });
  if (!raised.has_value()) return Unexpected{std::move(raised).error()};
  acknowledged_ = side_->writer->state();
  publish_epochs(std::nullopt);
  shared_->is_uncertain.store(false, std::memory_order_release);
  return epoch_of(ShardNr{0});
}

void SqliteJournalImpl::publish_epochs(std::optional<ShardNr> only) {
  for (std::uint32_t shard = 0; shard < options_.identity.shards; ++shard) {
    if (only && only->value != shard) continue;
    shared_->epochs[shard].store(side_->writer->stored_epoch(ShardNr{shard}).value,
                                 std::memory_order_release);
  }
}

Result<Epoch> SqliteJournalImpl::raise_epoch(ShardNr shard) {
  if (shard.value >= options_.identity.shards) {
    return no_such_shard(shard, options_.identity.shards);
  }
  if (barrier_pending()) return pending_barrier();
  auto raised = transact(false, [&]() -> Result<Unit> {
    const auto epoch = side_->writer->raise_epoch(shard);
    if (!epoch.has_value()) return Unexpected{epoch.error()};
    return ok();
  });
  if (!raised.has_value()) return Unexpected{std::move(raised).error()};
  publish_epochs(shard);
  return epoch_of(shard);
}

Result<Unit> SqliteJournalImpl::quarantine(const PersistenceId& id, std::string_view reason,
                                           Timestamp at) {
  if (auto error = quarantine_error(id, reason)) return Unexpected{std::move(*error)};
  if (barrier_pending()) return pending_barrier();
  return transact(false, [&]() -> Result<Unit> {
    const auto statement = side_->connection.cached(
        "INSERT INTO quarantine VALUES (?1, ?2, ?3, row_digest(?1, ?2, ?3)) ON CONFLICT DO "
        "NOTHING");
    if (!statement.has_value()) return Unexpected{statement.error()};
    return (*statement)->bind(id.value(), reason, at.ms).run();
  });
}

Result<Unit> SqliteJournalImpl::lift_quarantine(const PersistenceId& id) {
  if (barrier_pending()) return pending_barrier();
  return transact(false, [&]() -> Result<Unit> {
    const auto statement =
        side_->connection.cached("DELETE FROM quarantine WHERE persistence_id = ?1");
    if (!statement.has_value()) return Unexpected{statement.error()};
    return (*statement)->bind(id.value()).run();
  });
}

Result<Unit> SqliteJournalImpl::close() {
  if (!side_ || anchored_count_ == acknowledged_.commit_count) return ok();
  auto written = transact(true, []() -> Result<Unit> { return ok(); });
  if (!written.has_value()) return written;
  return anchor_present_state();
}

Result<Unit> check_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (directory.empty()) directory = ".";
  if (path.empty() || !std::filesystem::is_directory(directory, error)) {
    return fail(ErrorCode::store_io, "store " + path + ": the directory " + directory.string() +
                                         " does not exist: create it, writable for this user");
  }
  return ok();
}

/// The lock with the store's name in what it says.
Result<platform::FileLock> take_lock(const std::string& path) {
  auto lock = platform::FileLock::acquire(path + ".lock");
  if (lock.has_value()) return lock;
  Error error = std::move(lock).error();
  const bool is_held = error.code == ErrorCode::store_locked;
  error.context = "store " + path + (is_held ? " is in use: " : ": ") + error.context;
  if (!is_held) error.code = ErrorCode::store_io;
  return Unexpected{std::move(error)};
}

Result<SqliteConnection> connect_and_create(const SqliteJournalOptions& options) {
  if (!is_present(options.files())) {
    if (auto fresh = expect_never_used(options.files()); !fresh.has_value()) {
      return Unexpected{std::move(fresh).error()};
    }
  }
  auto connection = connect_writer(options.path, options.vfs, SqliteOpen::create);
  if (!connection.has_value()) return connection;
  const auto kind = recognize(*connection, options.path);
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (*kind == FileKind::store) return connection;
  if (auto fresh = expect_never_used(options.files()); !fresh.has_value()) {
    return Unexpected{std::move(fresh).error()};
  }
  if (auto created = create_store(*connection, options.identity); !created.has_value()) {
    return Unexpected{std::move(created).error()};
  }
  return connection;
}

Result<std::unique_ptr<SqliteJournal>> open_store(SqliteJournalOptions options) {
  if (options.identity.shards == 0) {
    return fail(ErrorCode::invalid_argument, "a store needs at least one shard");
  }
  if (auto checked = check_directory(options.path); !checked.has_value()) {
    return Unexpected{std::move(checked).error()};
  }
  auto lock = take_lock(options.path);
  if (!lock.has_value()) return Unexpected{std::move(lock).error()};
  auto connection = connect_and_create(options);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  const auto recorded = recorded_values(*connection);
  if (!recorded.has_value()) return Unexpected{recorded.error()};
  if (auto same = compare(recorded->identity, options.identity, options.path); !same.has_value()) {
    return Unexpected{std::move(same).error()};
  }
  auto side = make_writing_side(std::move(connection).value());
  if (!side.has_value()) return Unexpected{std::move(side).error()};
  auto journal = std::make_unique<SqliteJournalImpl>(std::move(options), std::move(lock).value(),
                                                     recorded->store_id, std::move(side).value());
  if (auto started = journal->start(); !started.has_value()) {
    return Unexpected{std::move(started).error()};
  }
  return std::unique_ptr<SqliteJournal>(std::move(journal));
}

}  // namespace
}  // namespace sqlite

Result<std::unique_ptr<SqliteJournal>> SqliteJournal::open(SqliteJournalOptions options) {
  return sqlite::open_store(std::move(options));
}

}  // namespace onceward::journal
