// Builds the store of an export beside the one that is there, checks it, and puts it in its place.
#include <onceward/journal/store_export.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/file_lock.hpp>

#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/import_lines.hpp"
#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_digest.hpp"
#include "journal/sqlite/store_state.hpp"

namespace onceward::journal {
namespace {

using platform::SqliteConnection;
using platform::SqliteOpen;

void remove_database(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    std::filesystem::remove(path + suffix, ignored);
  }
}

/// Removes what is half built on every way out but the good one.
class HalfBuilt {
 public:
  explicit HalfBuilt(std::string path) : path_(std::move(path)) { remove_database(path_); }
  HalfBuilt(const HalfBuilt&) = delete;
  HalfBuilt& operator=(const HalfBuilt&) = delete;
  ~HalfBuilt() { remove_database(path_); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

Result<Unit> sync_path(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool is_synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!is_synced) return fail(ErrorCode::store_io, path + " cannot be synced");
  return ok();
}

/// Copies a store with commits to `to`, all of it moved out of its log. False: nothing to continue.
Result<bool> copy_present(const StoreFiles& store, const std::string& to) {
  if (!sqlite::is_present(store)) return false;
  {
    auto connection = sqlite::connect_writer(store.path, store.vfs, SqliteOpen::existing);
    if (!connection.has_value()) return Unexpected{std::move(connection).error()};
    const auto kind = sqlite::recognize(*connection, store.path);
    if (!kind.has_value()) return Unexpected{kind.error()};
    if (*kind == sqlite::FileKind::empty) return false;
    const auto state = sqlite::read_store_state(*connection);
    if (!state.has_value()) return Unexpected{state.error()};
    auto moved = connection->execute("PRAGMA wal_checkpoint(TRUNCATE)");
    if (!moved.has_value()) return Unexpected{std::move(moved).error()};
    if (state->commit_count == 0) return false;
    auto copy = connection->prepare("VACUUM INTO ?1");
    if (!copy.has_value()) return Unexpected{copy.error()};
    if (auto done = copy->bind(to).run(); !done.has_value()) return Unexpected{done.error()};
  }
  return true;
}

/// The last connection that closes removes the log; a log of the old file must not lie beside the
/// new one.
Result<Unit> expect_nobody_reads(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path + "-wal", error)) return ok();
  return fail(ErrorCode::conflict, path + " is open in another program: close it and import again");
}

Result<Unit> expect_clean(const std::string& path) {
  const auto findings = verify_store({.path = path}, nullptr);
  if (!findings.has_value()) return Unexpected{findings.error()};
  for (const Finding& finding : *findings) {
    if (finding.where == "anchor") continue;  // it lies beside the store, not beside this file
    return fail(ErrorCode::store_corrupt,
                "the export does not verify: " + finding.where + ": " + finding.what);
  }
  return ok();
}

Result<ImportReport> build(std::istream& lines, const std::string& path, bool continues) {
  auto connection = SqliteConnection::open({.path = path, .open = SqliteOpen::create, .vfs = {}});
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  if (auto added = sqlite::add_row_digest(*connection); !added.has_value()) {
    return Unexpected{std::move(added).error()};
  }
  // Nothing of this file counts before it is complete and synced.
  if (auto set = connection->execute("PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
      !set.has_value()) {
    return Unexpected{std::move(set).error()};
  }
  auto report = sqlite::import_lines(lines, *connection, continues);
  if (!report.has_value()) return report;
  if (auto done = connection->execute("COMMIT"); !done.has_value()) {
    return Unexpected{std::move(done).error()};
  }
  return report;
}

}  // namespace

Result<ImportReport> import_store(std::istream& lines, const StoreFiles& store,
                                  const std::function<Result<Unit>(const std::string&)>& check) {
  const auto lock = platform::FileLock::acquire(store.path + ".lock");
  if (!lock.has_value()) return Unexpected{lock.error()};
  const HalfBuilt built(store.path + ".importing");
  const auto continues = copy_present(store, built.path());
  if (!continues.has_value()) return Unexpected{continues.error()};
  auto report = build(lines, built.path(), *continues);
  if (!report.has_value()) return report;
  auto done = expect_clean(built.path());
  if (done.has_value() && check) done = check(built.path());
  if (done.has_value()) done = expect_nobody_reads(store.path);
  if (done.has_value()) done = sync_path(built.path(), O_RDONLY);
  if (!done.has_value()) return Unexpected{std::move(done).error()};
  if (std::rename(built.path().c_str(), store.path.c_str()) != 0) {
    return fail(ErrorCode::store_io, "rename of " + built.path() + " failed");
  }
  std::string directory = std::filesystem::path(store.path).parent_path().string();
  if (directory.empty()) directory = ".";
  done = sync_path(directory, O_RDONLY | O_DIRECTORY);
  if (!done.has_value()) return Unexpected{std::move(done).error()};
  return report;
}

}  // namespace onceward::journal
