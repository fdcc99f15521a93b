// Copies stores whole: backup over SQLite's online interface, restore as a file.
#include <onceward/journal/store_backup.hpp>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/file_lock.hpp>

#include "journal/sqlite/anchor_check.hpp"
#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/row_columns.hpp"
#include "journal/sqlite/row_digest.hpp"

namespace onceward::journal {
namespace {

using platform::SqliteConnection;
using platform::SqliteOpen;

/// The anchor that the copy must not be older than. Written nowhere.
class RememberedAnchor final : public AnchorPlace {
 public:
  explicit RememberedAnchor(std::optional<std::string> text) : text_(std::move(text)) {}
  Result<std::optional<std::string>> read(const std::string&) override { return text_; }
  Result<Unit> replace(const std::string&, const std::string&) override {
    return fail(ErrorCode::store_io, "a copy is not anchored");
  }

 private:
  std::optional<std::string> text_;
};

/// Removes an unfinished copy on every way out but the good one.
class UnfinishedFile {
 public:
  explicit UnfinishedFile(std::string path) : path_(std::move(path)) { remove(); }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  ~UnfinishedFile() { remove(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void remove() {
    std::error_code ignored;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
      std::filesystem::remove(path_ + suffix, ignored);
    }
  }
  std::string path_;
};

Result<Unit> sync_path(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool is_synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!is_synced) return fail(ErrorCode::store_io, path + " cannot be synced");
  return ok();
}

/// Gives a complete file its name, durably.
Result<Unit> finish(const std::string& from, const std::string& to) {
  if (auto synced = sync_path(from, O_RDONLY); !synced.has_value()) return synced;
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return fail(ErrorCode::store_io, "rename " + from + " to " + to + " failed");
  }
  std::string directory = std::filesystem::path(to).parent_path().string();
  if (directory.empty()) directory = ".";
  return sync_path(directory, O_RDONLY | O_DIRECTORY);
}

Result<Unit> copy_pages(SqliteConnection& from, SqliteConnection& to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) return Unexpected{to.error()};
  // All pages in one step: one state, while the writer goes on behind it in the log.
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE || finished != SQLITE_OK) return Unexpected{to.error()};
  // One file: no log lies beside a backup.
  return to.execute("PRAGMA journal_mode = DELETE");
}

/// A copy of the store behind `files` at `to`, whatever its anchor says.
Result<Unit> copy_store(const StoreFiles& files, const std::string& to) {
  auto from = sqlite::connect_reader(files.path, files.vfs);
  if (!from.has_value()) return Unexpected{std::move(from).error()};
  const auto kind = sqlite::recognize(*from, files.path);
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (*kind == sqlite::FileKind::empty) {
    return fail(ErrorCode::not_found, files.path + " holds no store yet");
  }
  auto copy = SqliteConnection::open({.path = to, .open = SqliteOpen::create, .vfs = {}});
  if (!copy.has_value()) return Unexpected{std::move(copy).error()};
  if (auto set = copy->execute("PRAGMA synchronous = FULL"); !set.has_value()) return set;
  return copy_pages(*from, *copy);
}

/// Findings of a copy, apart from those about an anchor that is not there.
Result<BackupReport> verified(const std::string& path, AnchorPlace& anchors, bool is_anchored) {
  const auto findings = verify_store({.path = path, .anchors = &anchors}, nullptr);
  if (!findings.has_value()) return Unexpected{findings.error()};
  for (const Finding& finding : *findings) {
    if (!is_anchored && finding.where == "anchor") continue;
    return fail(ErrorCode::store_corrupt,
                path + " does not verify: " + finding.where + ": " + finding.what);
  }
  const auto store = open_read_only({.path = path});
  if (!store.has_value()) return Unexpected{store.error()};
  const auto stats = store->reader->stats();
  if (!stats.has_value()) return Unexpected{stats.error()};
  return BackupReport{stats->commit_count, stats->events, stats->bytes};
}

Result<Unit> expect_absent(const std::string& path, const std::string& advice) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return ok();
  return fail(ErrorCode::conflict, path + " exists: " + advice);
}

/// Why a restored store may bill again, and the row that its anchor will name: before the anchor.
Result<Unit> write_acceptance(SqliteConnection& connection, const sqlite::StoreState& state,
                              const std::string& why) {
  if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun.has_value()) return begun;
  auto reason =
      connection.prepare("INSERT OR REPLACE INTO store_values VALUES ('accepted_restore', ?1)");
  if (!reason.has_value()) return Unexpected{reason.error()};
  if (auto kept = reason->bind(why).run(); !kept.has_value()) return kept;
  if (auto covered = sqlite::write_values_digest(connection); !covered.has_value()) return covered;
  auto put = connection.prepare(
      "INSERT OR REPLACE INTO commits VALUES (?1, ?2, ?3, row_digest(?1, ?2, ?3))");
  if (!put.has_value()) return Unexpected{put.error()};
  auto written =
      put->bind(state.commit_count, state.last_position, sqlite::bytes_of(state.rolling)).run();
  return written.has_value() ? connection.execute("COMMIT") : written;
}

}  // namespace

Result<BackupReport> backup_store(const StoreFiles& store, const std::string& to) {
  if (!sqlite::is_present(store)) {
    return fail(ErrorCode::not_found, "there is no store at " + store.path);
  }
  if (auto absent = expect_absent(to, "name another file for the backup"); !absent.has_value()) {
    return Unexpected{std::move(absent).error()};
  }
  // Read before the copy: what it names is durable by then, so the copy must hold it.
  const auto anchor = sqlite::read_anchor(store);
  if (!anchor.has_value()) return Unexpected{anchor.error()};
  std::optional<std::string> text;
  if (*anchor) text = sqlite::to_text(**anchor);
  RememberedAnchor remembered(std::move(text));
  const UnfinishedFile unfinished(to + ".unfinished");
  if (auto copied = copy_store(store, unfinished.path()); !copied.has_value()) {
    return Unexpected{std::move(copied).error()};
  }
  auto report = verified(unfinished.path(), remembered, true);
  if (!report.has_value()) return report;
  if (auto done = finish(unfinished.path(), to); !done.has_value()) {
    return Unexpected{std::move(done).error()};
  }
  return report;
}

Result<BackupReport> restore_store(const std::string& backup, const StoreFiles& store) {
  const auto lock = platform::FileLock::acquire(store.path + ".lock");
  if (!lock.has_value()) return Unexpected{lock.error()};
  for (const char* suffix : {"", "-wal"}) {
    auto absent = expect_absent(
        store.path + suffix,
        "move it away with its -wal and keep it, the reconciliation may need its events");
    if (!absent.has_value()) return Unexpected{std::move(absent).error()};
  }
  if (!sqlite::is_present({.path = backup})) {
    return fail(ErrorCode::not_found, "there is no backup at " + backup);
  }
  const UnfinishedFile unfinished(store.path + ".restoring");
  if (auto copied = copy_store({.path = backup}, unfinished.path()); !copied.has_value()) {
    return Unexpected{std::move(copied).error()};
  }
  RememberedAnchor none(std::nullopt);
  auto report = verified(unfinished.path(), none, false);
  if (!report.has_value()) return report;
  if (auto done = finish(unfinished.path(), store.path); !done.has_value()) {
    return Unexpected{std::move(done).error()};
  }
  return report;
}

Result<Unit> accept_restored(const StoreFiles& store, const std::string& why) {
  const auto lock = platform::FileLock::acquire(store.path + ".lock");
  if (!lock.has_value()) return Unexpected{lock.error()};
  auto connection = sqlite::connect_writer(store.path, store.vfs, SqliteOpen::existing);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  const auto recorded = sqlite::recorded_values(*connection);
  if (!recorded.has_value()) return Unexpected{recorded.error()};
  const auto state = sqlite::read_store_state(*connection);
  if (!state.has_value()) return Unexpected{state.error()};
  const auto anchor = sqlite::read_anchor(store);
  if (anchor.has_value() &&
      sqlite::compare_with_anchor(*anchor, {store.path, recorded->store_id, *state}, *connection)
          .has_value()) {
    return fail(ErrorCode::conflict, store.path + " is the newest state of itself: start it");
  }
  auto written = write_acceptance(*connection, *state, why);
  if (!written.has_value()) return written;
  return sqlite::write_anchor(
      store, {recorded->store_id, state->commit_count, state->last_position, state->rolling});
}

}  // namespace onceward::journal
