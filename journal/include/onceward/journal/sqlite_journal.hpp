// SqliteJournal: the embedded store. One database file in WAL mode with synchronous=FULL, one lock
// file that keeps a second process out for the life of this one, also while it is stopped.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <onceward/journal/journal.hpp>
#include <onceward/journal/plan_store.hpp>
#include <onceward/journal/store_files.hpp>

namespace onceward::journal {

struct SqliteJournalOptions {
  /// Database file; its directory must exist and be writable. `<path>.lock` is the lock file and
  /// `<path>.anchor` the anchor outside the database.
  std::string path;
  StoreIdentity identity;
  /// Commits between two anchors (0 = only at open and close).
  std::uint32_t anchor_every = 1000;
  /// As in StoreFiles.
  std::string vfs;
  AnchorPlace* anchors = nullptr;
  /// For the reconciliation alone: opens a store that is not the newest state of itself, and leaves
  /// its anchor as it is, so that it is refused again until accept_restored().
  bool is_reconciling = false;

  [[nodiscard]] StoreFiles files() const { return {path, vfs, anchors}; }
};

/// Opening order: lock, connection settings (verified), schema, recorded values, anchor, and only
/// then the raise of the epoch of all shards: a store that is refused is not written to. Errors:
/// store_locked (held by another process, named with its pid), store_mismatch, store_schema_newer,
/// store_restored, store_io, store_full, store_corrupt; each says what to do.
class SqliteJournal : public Journal {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SqliteJournal>> open(SqliteJournalOptions options);

  /// A plan store on the same file over connections of its own; must not outlive the journal.
  [[nodiscard]] virtual Result<std::unique_ptr<PlanStore>> plan_store() = 0;
};

/// Read-only access for verbs on a stopped or live store: takes no lock, raises no epoch, creates
/// nothing. store_io/not_found if there is no store there.
struct ReadOnlyStore {
  StoreIdentity identity;
  std::unique_ptr<JournalReader> reader;
  std::unique_ptr<PlanStore> plans;
};
[[nodiscard]] Result<ReadOnlyStore> open_read_only(const StoreFiles& files);

/// One finding of verify(); `where` names entity and sequence number, row or commit.
struct Finding {
  std::string where;
  std::string what;
};
/// Checks gaps, epochs, chain and digests of all events, the database's own integrity, the commit
/// counter and rolling hash, and the anchor. Rows are compared with events by recovery's verify,
/// which needs the billing entity. Empty = clean. Progress is told in events checked.
[[nodiscard]] Result<std::vector<Finding>> verify_store(
    const StoreFiles& files, const std::function<void(std::uint64_t)>& progress);

}  // namespace onceward::journal
