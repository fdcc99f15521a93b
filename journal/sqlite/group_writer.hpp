// GroupWriter: one group of units as one transaction on one connection. Checks each unit completely
// before its first write, so a refused one needs no savepoint. Private to journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onceward/core/commit_unit.hpp>
#include <onceward/platform/sqlite.hpp>

#include "journal/cap_book.hpp"
#include "journal/sqlite/cap_tables.hpp"
#include "journal/sqlite/store_state.hpp"
#include "journal/sqlite/writer_statements.hpp"

namespace onceward::journal::sqlite {

/// Every error below means: the transaction cannot be trusted any more. The caller ends it and lets
/// a barrier decide; a GroupWriter that returned an error is not used again.
class GroupWriter {
 public:
  /// Borrows the connection, which must not move or end before the writer.
  [[nodiscard]] static Result<GroupWriter> on(platform::SqliteConnection& connection);

  /// BEGIN IMMEDIATE; reads state and epochs again if another connection has committed since.
  [[nodiscard]] Result<Unit> begin();
  /// Inside the transaction: checks the unit, whose shape is in order, and writes it if nothing
  /// refuses it. Never answers CommitUnknown.
  [[nodiscard]] Result<CommitAnswer> apply(const CommitUnit& unit);
  /// Writes counter, rolling hash and totals, with a row in `commits` if an anchor will name this
  /// commit, and commits.
  [[nodiscard]] Result<Unit> commit_group(bool with_commits_row);
  /// Commits what the caller wrote by other statements, counting no group.
  [[nodiscard]] Result<Unit> commit_other(bool with_commits_row);
  /// For a transaction that wrote nothing.
  [[nodiscard]] Result<Unit> roll_back();

  /// Sets one epoch, or all, to one more than the largest. Inside a transaction.
  [[nodiscard]] Result<Epoch> raise_epoch(std::optional<ShardNr> only);

  [[nodiscard]] const StoreState& state() const noexcept { return state_; }
  [[nodiscard]] Epoch stored_epoch(ShardNr shard) const { return epochs_.at(shard.value); }

 private:
  struct Entity {
    std::int64_t id = 0;  // 0: no row yet
    SequenceNr last;
    Digest head;
  };
  /// What the checks learnt that the writes need. Indexes follow the unit's rows.
  struct Findings {
    Entity entity;
    std::vector<bool> was_open;
    std::vector<bool> is_new_mark;
    CapChanges caps;
  };

  GroupWriter(platform::SqliteConnection& connection, WriterStatements statements)
      : statements_(statements), caps_(statements), connection_(&connection) {}

  [[nodiscard]] Result<Unit> refresh();
  [[nodiscard]] Result<Unit> read_epochs();

  // Each check gives a refusal, nothing, or a failed look-up.
  using Refusal = Result<std::optional<CommitAnswer>>;
  [[nodiscard]] Refusal check(const CommitUnit& unit, Findings& findings);
  [[nodiscard]] Refusal check_history(const CommitUnit& unit, Entity& entity);
  [[nodiscard]] Refusal check_row(const CommitUnit& unit, const RowWrite& write,
                                  Findings& findings);
  [[nodiscard]] Refusal check_mark(const CommitUnit& unit, const Mark& mark, Findings& findings);

  [[nodiscard]] Result<Stored> write(const CommitUnit& unit, Findings& findings);
  [[nodiscard]] Result<Unit> write_events(const CommitUnit& unit, Entity& entity);
  [[nodiscard]] Result<Unit> write_row(const CommitUnit& unit, const RowWrite& write,
                                       bool was_open);
  [[nodiscard]] Result<Unit> write_refund(const RefundRow& row);
  [[nodiscard]] Result<Unit> write_snapshot(const CommitUnit& unit, const Entity& entity);

  WriterStatements statements_;
  CapTables caps_;
  platform::SqliteConnection* connection_;
  StoreState state_;
  std::vector<Epoch> epochs_;  // by shard, as stored
  std::int64_t data_version_ = -1;
  std::int64_t last_entity_ = 0;
};

}  // namespace onceward::journal::sqlite
