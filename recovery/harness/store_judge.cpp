// The two stages of a start: SQLite's recovery alone, then the journal's with all checks.
#include <onceward/harness/store_judge.hpp>

#include <sqlite3.h>

#include <filesystem>

#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/sqlite.hpp>
#include <onceward/recovery/verify.hpp>

namespace onceward::harness {
namespace {

using journal::SqliteJournal;
using platform::SqliteConnection;

std::string first_problem(const Result<std::vector<journal::Finding>>& stored) {
  if (!stored.has_value()) return "verify: " + stored.error().context;
  return stored->empty() ? "" : stored->front().where + ": " + stored->front().what;
}

std::string first_problem(const Result<recovery::VerifyReport>& folded) {
  if (!folded.has_value()) return "fold: " + folded.error().context;
  if (folded->differences.empty()) return "";
  return folded->differences.front().where + ": " + folded->differences.front().what;
}

}  // namespace

std::string store_path(const StoreUnderTest& store, const std::string& below) {
  const std::filesystem::path directory = std::filesystem::path(store.directory) / below;
  std::error_code ignored;  // the open tells
  std::filesystem::create_directories(directory, ignored);
  return directory / "billing.db";
}

StoreJudge::StoreJudge(StoreUnderTest store)
    : store_(std::move(store)), path_(store_path(store_, "judge")), disk_(store_.settings) {}

const Found& StoreJudge::judge(const DiskImage& image) {
  std::string content = recovered_content(image);
  const auto known = known_.find(content);
  if (known != known_.end()) return known->second;
  return known_.emplace(std::move(content), start(image)).first->second;
}

/// What decides about a start: the recovered pages and the anchor. An image that SQLite cannot even
/// read is told by its reason and all of its bytes.
std::string StoreJudge::recovered_content(const DiskImage& image) {
  disk_.restart(image, DiskModel::Kind::safe);
  const auto anchor = image.find("billing.db.anchor");
  std::string content = anchor == image.end() ? "no anchor" : anchor->second;
  auto connection = SqliteConnection::open({.path = path_, .vfs = disk_.vfs()});
  if (!connection.has_value()) return content + connection.error().context;
  // Reads the header and no more: recovery happens, the schema is not parsed.
  const auto version = connection->value("PRAGMA user_version");
  if (version.has_value() &&
      sqlite3_wal_checkpoint_v2(connection->handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                nullptr) == SQLITE_OK) {
    const auto file = disk_.model().find("billing.db");
    return file ? content + disk_.model().content(*file) : content;
  }
  for (const auto& [name, bytes] : image) content += bytes;
  return content + connection->error().context;
}

Found StoreJudge::start(const DiskImage& image) {
  disk_.restart(image);
  Found found;
  const auto broken = [&](const Error& error) {
    found.error = error.context;
    return found;
  };
  {
    auto opened = SqliteJournal::open({.path = path_,
                                       .identity = store_.identity,
                                       .anchor_every = store_.anchor_every,
                                       .vfs = disk_.vfs(),
                                       .anchors = &disk_});
    if (!opened.has_value()) {
      found.is_refused_as_restored = opened.error().code == ErrorCode::store_restored;
      return broken(opened.error());
    }
    found.epoch = (*opened)->epoch_of(ShardNr{0}).value;
    auto reader = (*opened)->reader();
    if (!reader.has_value()) return broken(reader.error());
    const auto stats = (*reader)->stats();
    if (!stats.has_value()) return broken(stats.error());
    found.commit_count = stats->commit_count;
    found.error = first_problem(recovery::verify(**reader, nullptr));
  }
  if (found.error.empty()) {
    found.error = first_problem(journal::verify_store(disk_.files(path_), nullptr));
  }
  auto connection = SqliteConnection::open({.path = path_, .vfs = disk_.vfs()});
  if (!connection.has_value()) return broken(connection.error());
  found.rolling = connection->value("SELECT hex(rolling) FROM store_state").value_or("unread");
  return found;
}

}  // namespace onceward::harness
