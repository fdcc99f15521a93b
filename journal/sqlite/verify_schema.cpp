// Compares a store's schema with the newest one, made afresh in memory.
#include "journal/sqlite/verify_schema.hpp"

#include <map>

#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace onceward::journal::sqlite {
namespace {

using platform::SqliteConnection;

/// Without comments, and with one blank for any space: a migration words it on other lines.
std::string plain(std::string_view sql) {
  std::string text;
  while (!sql.empty()) {
    const std::string_view line = sql.substr(0, sql.find('\n'));
    sql.remove_prefix(std::min(line.size() + 1, sql.size()));
    for (const char c : line.substr(0, line.find("--"))) {
      const bool is_blank = c == ' ' || c == '\t';
      if (!is_blank) text += c;
      if (is_blank && !text.ends_with(' ')) text += ' ';
    }
    if (!text.ends_with(' ')) text += ' ';
  }
  return text;
}

Result<std::map<std::string, std::string>> objects_of(SqliteConnection& connection) {
  std::map<std::string, std::string> objects;
  auto read = for_each_row(connection,
                           "SELECT type || ' ' || name, tbl_name || ' ' || coalesce(sql, '') "
                           "FROM sqlite_schema",
                           [&](const platform::SqliteStatement& row) -> Result<Go> {
                             objects[std::string(row.text(0))] = plain(row.text(1));
                             return Go::on;
                           });
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return objects;
}

}  // namespace

Result<Unit> find_changed_schema(SqliteConnection& connection,
                                 const std::function<void(std::string)>& report) {
  auto fresh = SqliteConnection::open({.path = ":memory:", .vfs = {}});
  if (!fresh.has_value()) return Unexpected{std::move(fresh).error()};
  if (auto added = add_row_digest(*fresh); !added.has_value()) return added;
  if (auto made = fresh->execute(schema_sql); !made.has_value()) return made;
  const auto expected = objects_of(*fresh);
  if (!expected.has_value()) return Unexpected{expected.error()};
  const auto found = objects_of(connection);
  if (!found.has_value()) return Unexpected{found.error()};
  for (const auto& [name, sql] : *expected) {
    const auto same = found->find(name);
    if (same == found->end() || same->second != sql) report(name);
  }
  return ok();
}

}  // namespace onceward::journal::sqlite
