// Opening connections to a store: settings set and read back, schema recognised, recorded values
// compared. Nothing is written to a store that is refused. Private to journal.
#pragma once

#include <optional>
#include <string>

#include <onceward/journal/journal.hpp>
#include <onceward/journal/store_files.hpp>
#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

using platform::SqliteConnection;
using platform::SqliteOpen;
using platform::SqliteStatement;

/// What a database file turned out to be.
enum class FileKind : std::uint8_t { empty, store };

/// Whether there is a database file, with or without content.
[[nodiscard]] bool is_present(const StoreFiles& files);

/// Schema version of a store, absent for an empty file. store_mismatch for another program's
/// database, store_schema_newer for a newer store, store_corrupt for something that is no database.
/// Reads only.
[[nodiscard]] Result<std::optional<std::int64_t>> stored_version(SqliteConnection& connection,
                                                                 const std::string& path);
/// As stored_version(), and store_mismatch for a store of an earlier schema. Reads only.
[[nodiscard]] Result<FileKind> recognize(SqliteConnection& connection, const std::string& path);

/// A connection that writes: WAL, synchronous FULL, all settings read back; store_io naming the
/// setting that does not hold.
[[nodiscard]] Result<SqliteConnection> connect_writer(const std::string& path,
                                                      const std::string& vfs, SqliteOpen how);
/// As connect_writer(), also to a store of an earlier schema.
[[nodiscard]] Result<SqliteConnection> connect_migrator(const std::string& path,
                                                        const std::string& vfs);
/// A connection that cannot write.
[[nodiscard]] Result<SqliteConnection> connect_reader(const std::string& path,
                                                      const std::string& vfs);

/// Makes an empty database a store, in one transaction. All epochs are 0.
[[nodiscard]] Result<Unit> create_store(SqliteConnection& connection,
                                        const StoreIdentity& identity);

struct RecordedValues {
  std::string store_id;
  StoreIdentity identity;
};
[[nodiscard]] Result<RecordedValues> recorded_values(SqliteConnection& connection);
/// store_mismatch naming the first value that differs, what is recorded and what is configured.
[[nodiscard]] Result<Unit> compare(const StoreIdentity& recorded, const StoreIdentity& configured,
                                   const std::string& path);

}  // namespace onceward::journal::sqlite
