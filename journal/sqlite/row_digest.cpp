// Digests as an SQL function, so that the statement that writes a row writes its digest with it.
#include "journal/sqlite/row_digest.hpp"

#include <sqlite3.h>

#include <array>

#include <onceward/core/digest.hpp>

namespace onceward::journal::sqlite {
namespace {

constexpr std::size_t values_max = 8;

std::string_view text_of(sqlite3_value* value) {
  const void* const bytes = sqlite3_value_type(value) == SQLITE_BLOB
                                ? sqlite3_value_blob(value)
                                : static_cast<const void*>(sqlite3_value_text(value));
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void row_digest(sqlite3_context* context, int count, sqlite3_value** values) {
  std::array<std::string_view, values_max> texts;
  const auto used = static_cast<std::size_t>(count);
  if (used > texts.size()) return sqlite3_result_error(context, "too many values", -1);
  for (std::size_t at = 0; at < used; ++at) texts[at] = text_of(values[at]);
  const Digest whole = sha256(netstrings(std::span(texts).first(used)));
  std::uint64_t first = 0;
  for (std::size_t at = 0; at < sizeof first; ++at) first = first << 8U | whole.bytes[at];
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(first));
}

}  // namespace

Result<Unit> add_row_digest(platform::SqliteConnection& connection) {
  constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int added = sqlite3_create_function_v2(connection.handle(), "row_digest", -1, flags,
                                               nullptr, row_digest, nullptr, nullptr, nullptr);
  if (added != SQLITE_OK) return Unexpected{connection.error()};
  return ok();
}

Result<Unit> write_values_digest(platform::SqliteConnection& connection) {
  const std::string sql = "INSERT OR REPLACE INTO store_values VALUES ('digest', " +
                          std::string(values_digest_sql) + ")";
  return connection.execute(sql.c_str());
}

}  // namespace onceward::journal::sqlite
