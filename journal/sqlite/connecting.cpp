// Settings, schema and recorded values of a store's connections.
#include "journal/sqlite/connecting.hpp"

#include <sqlite3.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "journal/sqlite/row_digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace onceward::journal::sqlite {
namespace {

struct Setting {
  const char* set;
  const char* read_back;
  std::string_view expected;
};

constexpr std::array<Setting, 9> writer_settings = {{
    {"PRAGMA journal_mode = WAL", "PRAGMA journal_mode", "wal"},
    {"PRAGMA synchronous = FULL", "PRAGMA synchronous", "2"},
    {"PRAGMA locking_mode = NORMAL", "PRAGMA locking_mode", "normal"},
    {"PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", "1"},
    // Hot pages are written to the database file once per checkpoint, not once per group.
    {"PRAGMA wal_autocheckpoint = 4000", "PRAGMA wal_autocheckpoint", "4000"},
    {"PRAGMA journal_size_limit = 67108864", "PRAGMA journal_size_limit", "67108864"},
    {"PRAGMA cache_size = -16000", "PRAGMA cache_size", "-16000"},
    {"PRAGMA recursive_triggers = ON", "PRAGMA recursive_triggers", "1"},  // also for REPLACE
    {"PRAGMA encoding", "PRAGMA encoding", "UTF-8"},
}};

constexpr std::array<Setting, 2> reader_settings = {{
    {"PRAGMA query_only = ON", "PRAGMA query_only", "1"},
    {"PRAGMA cache_size = -8000", "PRAGMA cache_size", "-8000"},
}};

template <std::size_t Count>
Result<Unit> apply(SqliteConnection& connection, const std::array<Setting, Count>& settings,
                   const std::string& path) {
  for (const Setting& setting : settings) {
    if (auto set = connection.execute(setting.set); !set.has_value()) return set;
    const auto held = connection.value(setting.read_back);
    if (!held.has_value()) return Unexpected{held.error()};
    if (*held != setting.expected) {
      return fail(ErrorCode::store_io,
                  path + ": " + setting.set + " gave \"" + *held +
                      "\": the file system or SQLite cannot hold a durable store here; put the "
                      "store on a local file system");
    }
  }
  return ok();
}

Result<std::int64_t> integer(SqliteConnection& connection, std::string_view sql) {
  const auto text = connection.value(sql);
  if (!text.has_value()) return Unexpected{text.error()};
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size()) {
    return fail(ErrorCode::store_corrupt, "not an integer: " + std::string(sql));
  }
  return value;
}

Result<SqliteConnection> connect(const std::string& path, const std::string& vfs, SqliteOpen how) {
  auto connection = SqliteConnection::open({.path = path, .open = how, .vfs = vfs});
  if (!connection.has_value()) return connection;
  if (auto added = add_row_digest(*connection); !added.has_value()) {
    return Unexpected{std::move(added).error()};
  }
  return connection;
}

}  // namespace

bool is_present(const StoreFiles& files) {
  std::error_code error;
  if (files.vfs.empty()) return std::filesystem::exists(files.path, error);
  sqlite3_vfs* const vfs = sqlite3_vfs_find(files.vfs.c_str());
  int is_there = 0;
  return vfs != nullptr &&
         vfs->xAccess(vfs, files.path.c_str(), SQLITE_ACCESS_EXISTS, &is_there) == SQLITE_OK &&
         is_there != 0;
}

Result<std::optional<std::int64_t>> stored_version(SqliteConnection& connection,
                                                   const std::string& path) {
  const auto objects = integer(connection, "SELECT count(*) FROM sqlite_schema");
  if (!objects.has_value()) {
    if (objects.error().code != ErrorCode::store_corrupt) return Unexpected{objects.error()};
    return fail(ErrorCode::store_corrupt,
                objects.error().context +
                    "; the file is damaged or no store: restore a backup, or name another path");
  }
  const auto application = integer(connection, "PRAGMA application_id");
  if (!application.has_value()) return Unexpected{application.error()};
  const auto version = integer(connection, "PRAGMA user_version");
  if (!version.has_value()) return Unexpected{version.error()};
  if (*application == 0 && *objects == 0) return std::optional<std::int64_t>{};
  if (*application != application_id) {
    return fail(ErrorCode::store_mismatch,
                path + " is a database of another program: name another path for the store");
  }
  if (*version > schema_version) {
    return fail(ErrorCode::store_schema_newer,
                path + " has schema version " + std::to_string(*version) +
                    ", this program knows up to " + std::to_string(schema_version) +
                    ": start the newer release; nothing was changed");
  }
  if (*version < 1) {
    return fail(ErrorCode::store_corrupt,
                path + " has schema version " + std::to_string(*version) + ", which never was");
  }
  return std::optional<std::int64_t>{*version};
}

Result<FileKind> recognize(SqliteConnection& connection, const std::string& path) {
  const auto version = stored_version(connection, path);
  if (!version.has_value()) return Unexpected{version.error()};
  if (!*version) return FileKind::empty;
  if (**version != schema_version) {
    return fail(ErrorCode::store_mismatch,
                path + " has schema version " + std::to_string(**version) + ", this program uses " +
                    std::to_string(schema_version) +
                    ": stop the node, make a backup, then run `onceward migrate up`; nothing was "
                    "changed");
  }
  return FileKind::store;
}

Result<SqliteConnection> connect_writer(const std::string& path, const std::string& vfs,
                                        SqliteOpen how) {
  auto connection = connect(path, vfs, how);
  if (!connection.has_value()) return connection;
  const auto kind = recognize(*connection, path);
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (auto set = apply(*connection, writer_settings, path); !set.has_value()) {
    return Unexpected{std::move(set).error()};
  }
  return connection;
}

Result<SqliteConnection> connect_migrator(const std::string& path, const std::string& vfs) {
  auto connection = connect(path, vfs, SqliteOpen::existing);
  if (!connection.has_value()) return connection;
  // Before any setting: they write to the file, and it may be another program's.
  const auto version = stored_version(*connection, path);
  if (!version.has_value()) return Unexpected{version.error()};
  if (auto set = apply(*connection, writer_settings, path); !set.has_value()) {
    return Unexpected{std::move(set).error()};
  }
  return connection;
}

Result<SqliteConnection> connect_reader(const std::string& path, const std::string& vfs) {
  auto connection = connect(path, vfs, SqliteOpen::read_only);
  if (!connection.has_value()) return connection;
  if (auto set = apply(*connection, reader_settings, path); !set.has_value()) {
    return Unexpected{std::move(set).error()};
  }
  return connection;
}

Result<Unit> create_store(SqliteConnection& connection, const StoreIdentity& identity) {
  if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun.has_value()) return begun;
  const auto fill = [&]() -> Result<Unit> {
    if (auto made = connection.execute(schema_sql); !made.has_value()) return made;
    auto epochs = connection.prepare(
        "WITH RECURSIVE n (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM n WHERE "
        "shard + 1 < ?1) INSERT INTO epochs SELECT shard, 0, ~0 FROM n");
    if (!epochs.has_value()) return Unexpected{epochs.error()};
    if (auto done = epochs->bind(identity.shards).run(); !done.has_value()) return done;
    auto values = connection.prepare(
        "INSERT INTO store_values VALUES ('schema', ?1), ('store_id', lower(hex(randomblob(16)))), "
        "('namespace', ?2), ('account', ?3), ('mode', ?4), ('key_scheme', ?5), ('shards', ?6)");
    if (!values.has_value()) return Unexpected{values.error()};
    const std::string version = std::to_string(schema_version);
    const std::string shards = std::to_string(identity.shards);
    auto stored = values
                      ->bind(version, identity.ns.value(), identity.account.value(),
                             to_text(identity.mode), identity.key_scheme, shards)
                      .run();
    return stored.has_value() ? write_values_digest(connection) : stored;
  };
  if (auto filled = fill(); !filled.has_value()) {
    (void)connection.execute("ROLLBACK");  // the first error counts
    return filled;
  }
  return connection.execute("COMMIT");
}

Result<RecordedValues> recorded_values(SqliteConnection& connection) {
  const auto text = [&](const char* name) {
    return connection.value("SELECT value FROM store_values WHERE name = '" + std::string(name) +
                            "'");
  };
  const auto store_id = text("store_id");
  const auto ns = text("namespace");
  const auto account = text("account");
  const auto mode_text = text("mode");
  const auto key_scheme = text("key_scheme");
  const auto shards = integer(connection, "SELECT value FROM store_values WHERE name = 'shards'");
  for (const auto* value : {&store_id, &ns, &account, &mode_text, &key_scheme}) {
    if (!value->has_value()) return Unexpected{value->error()};
  }
  if (!shards.has_value()) return Unexpected{shards.error()};
  const auto mode = parse_mode(*mode_text);
  if (!mode.has_value()) return Unexpected{mode.error()};
  const auto epochs = integer(connection, "SELECT count(*) FROM epochs");
  if (!epochs.has_value()) return Unexpected{epochs.error()};
  if (*shards <= 0 || *epochs != *shards) {
    return fail(ErrorCode::store_corrupt, "the store has " + std::to_string(*epochs) +
                                              " epochs for " + std::to_string(*shards) + " shards");
  }
  return RecordedValues{*store_id, StoreIdentity{Namespace(*ns), AccountLabel(*account), *mode,
                                                 *key_scheme, static_cast<std::uint32_t>(*shards)}};
}

Result<Unit> compare(const StoreIdentity& recorded, const StoreIdentity& configured,
                     const std::string& path) {
  struct Pair {
    const char* name;
    std::string recorded;
    std::string configured;
  };
  for (const Pair& pair :
       {Pair{"namespace", recorded.ns.value(), configured.ns.value()},
        Pair{"account", recorded.account.value(), configured.account.value()},
        Pair{"mode", std::string(to_text(recorded.mode)), std::string(to_text(configured.mode))},
        Pair{"key_scheme", recorded.key_scheme, configured.key_scheme},
        Pair{"shards", std::to_string(recorded.shards), std::to_string(configured.shards)}}) {
    if (pair.recorded == pair.configured) continue;
    return fail(ErrorCode::store_mismatch,
                path + " was created with " + pair.name + " \"" + pair.recorded +
                    "\", configured is \"" + pair.configured +
                    "\": correct the configuration, or name another path for a new store");
  }
  return ok();
}

}  // namespace onceward::journal::sqlite
