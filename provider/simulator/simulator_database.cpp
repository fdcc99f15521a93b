// Implementation of SimulatorDatabase.
#include "provider/simulator/simulator_database.hpp"

#include <utility>

namespace onceward::provider::simulator {
namespace {

// "owsm" in the file's header: keeps us from writing into a billing store given by mistake.
constexpr const char* application_id = "1870099309";
constexpr const char* schema_version = "1";

}  // namespace

Result<SimulatorDatabase> SimulatorDatabase::open(const std::string& path) {
  auto lock = platform::FileLock::acquire(path + ".lock");
  if (!lock) return Unexpected{std::move(lock).error()};
  platform::SqliteOptions options;
  options.path = path;
  auto connection = platform::SqliteConnection::open(options);
  if (!connection) return Unexpected{std::move(connection).error()};
  SimulatorDatabase database(*std::move(lock), *std::move(connection));
  if (auto ready = database.prepare_schema(path); !ready) {
    return Unexpected{std::move(ready).error()};
  }
  return database;
}

Result<Unit> SimulatorDatabase::prepare_schema(const std::string& path) {
  const auto tables = connection_.value("SELECT count(*) FROM sqlite_schema");
  if (!tables) return Unexpected{tables.error()};
  const auto owner = connection_.value("PRAGMA application_id");
  if (!owner) return Unexpected{owner.error()};
  if (*tables != "0" && *owner != application_id) {
    return fail(ErrorCode::store_mismatch,
                path + " is a database, but not one of the simulator; choose another --db file");
  }
  const auto version = connection_.value("PRAGMA user_version");
  if (!version) return Unexpected{version.error()};
  if (*tables != "0" && *version != schema_version) {
    return fail(ErrorCode::store_schema_newer,
                path + " was written by another release of the simulator (schema " + *version +
                    "); choose another --db file or delete it");
  }
  return connection_.execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
      "BEGIN IMMEDIATE;"
      "CREATE TABLE IF NOT EXISTS simulator_row ("
      "  position INTEGER PRIMARY KEY,"
      "  kind TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,"
      "  UNIQUE (kind, id)) STRICT;"
      "PRAGMA application_id=" +
      std::string(application_id) + "; PRAGMA user_version=" + schema_version + "; COMMIT;");
}

Result<std::vector<StoredRow>> SimulatorDatabase::load() {
  auto found = connection_.cached("SELECT kind, id, text FROM simulator_row ORDER BY position");
  if (!found) return Unexpected{found.error()};
  platform::SqliteStatement& statement = **found;
  statement.bind();
  std::vector<StoredRow> rows;
  using Step = platform::SqliteStatement::Step;
  Step step = Step::done;
  while ((step = statement.step()) == Step::row) {
    rows.push_back({std::string(statement.text(0)), std::string(statement.text(1)),
                    std::string(statement.text(2))});
  }
  if (step == Step::failed) return Unexpected{statement.error()};
  return rows;
}

Result<Unit> SimulatorDatabase::put(const StoredRow& row) {
  if (row.kind.empty()) return connection_.execute("DELETE FROM simulator_row");
  if (row.text.empty()) {
    auto gone = connection_.cached("DELETE FROM simulator_row WHERE kind = ?1 AND id = ?2");
    if (!gone) return Unexpected{gone.error()};
    return (*gone)->bind(row.kind, row.id).run();
  }
  auto found = connection_.cached(
      "INSERT INTO simulator_row (kind, id, text) VALUES (?1, ?2, ?3) "
      "ON CONFLICT (kind, id) DO UPDATE SET text = excluded.text");
  if (!found) return Unexpected{found.error()};
  return (*found)->bind(row.kind, row.id, row.text).run();
}

Result<Unit> SimulatorDatabase::store(const std::vector<StoredRow>& rows) {
  if (auto begun = connection_.execute("BEGIN IMMEDIATE"); !begun) return begun;
  for (const StoredRow& row : rows) {
    if (auto stored = put(row); !stored) {
      (void)connection_.execute("ROLLBACK");  // the first error is the one that matters
      return stored;
    }
  }
  return connection_.execute("COMMIT");
}

}  // namespace onceward::provider::simulator
