// The SQL function row_digest(), which covers rows that no event implies; see
// docs/journal-format.md. Private to journal.
#pragma once

#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// Gives the connection row_digest(value, …): the first eight bytes, big-endian, of SHA-256 over
/// the netstrings of the values (integers in decimal, NULL empty).
[[nodiscard]] Result<Unit> add_row_digest(platform::SqliteConnection& connection);

/// Writes the recorded value `digest` over all others of the store, inside the transaction that
/// wrote them.
[[nodiscard]] Result<Unit> write_values_digest(platform::SqliteConnection& connection);

/// The digest of all recorded values, as an SQL expression.
inline constexpr std::string_view values_digest_sql =
    "(SELECT CAST(row_digest(group_concat(name || '=' || value, char(10))) AS TEXT) FROM "
    "(SELECT name, value FROM store_values WHERE name <> 'digest' ORDER BY name))";

}  // namespace onceward::journal::sqlite
