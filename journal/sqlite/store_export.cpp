// The lines are made by SQLite from the columns, so that a new column is carried by itself.
#include <onceward/journal/store_export.hpp>

#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/export_tables.hpp"
#include "journal/sqlite/query.hpp"

namespace onceward::journal {
namespace {

using platform::SqliteConnection;
using platform::SqliteStatement;
using sqlite::Go;

constexpr const char* header_sql =
    "SELECT json_object('kind', 'onceward-export', 'version', 1, 'store', "
    "(SELECT json_group_object(name, value) FROM "
    "(SELECT name, value FROM store_values ORDER BY name)))";
constexpr const char* events_sql =
    "SELECT json_object('kind', 'event', 'position', e.position, 'persistence_id', "
    "n.persistence_id, 'sequence_nr', e.sequence_nr, 'event', e.manifest, 'version', e.version, "
    "'epoch', e.epoch, 'writer', e.writer, 'at', e.at, 'head', lower(hex(e.head)), 'payload', "
    "e.payload) FROM events e CROSS JOIN entities n ON n.id = e.entity ORDER BY e.position";

Result<std::string> rows_sql(SqliteConnection& connection, const sqlite::ExportTable& table) {
  const auto columns = sqlite::columns_of(connection, table.name);
  if (!columns.has_value()) return Unexpected{columns.error()};
  std::string sql = "SELECT json_object('kind', '" + std::string(table.name) + "'";
  for (const auto& column : *columns) {
    sql += ", '" + column.name + "', ";
    sql += column.is_blob ? "lower(hex(" + column.name + "))" : column.name;
  }
  return sql + ") FROM " + table.name + " WHERE " + table.filter + " ORDER BY " + table.order;
}

class Export {
 public:
  Export(SqliteConnection& connection, const LineSink& sink)
      : connection_(connection), sink_(sink) {}

  Result<ExportReport> run() {
    if (auto sent = send(header_sql); !sent.has_value()) return Unexpected{sent.error()};
    const std::uint64_t before = report_.lines;
    if (auto sent = send(events_sql); !sent.has_value()) return Unexpected{sent.error()};
    report_.events = report_.lines - before;
    for (const auto& table : sqlite::export_tables) {
      const auto sql = rows_sql(connection_, table);
      if (!sql.has_value()) return Unexpected{sql.error()};
      if (auto sent = send(*sql); !sent.has_value()) return Unexpected{sent.error()};
    }
    ++report_.lines;
    auto ended = sink_("{\"kind\":\"end\",\"lines\":" + std::to_string(report_.lines) + "}");
    if (!ended.has_value()) return Unexpected{std::move(ended).error()};
    return report_;
  }

 private:
  Result<Unit> send(std::string_view sql) {
    return sqlite::for_each_row(connection_, sql, [&](const SqliteStatement& row) -> Result<Go> {
      ++report_.lines;
      if (auto taken = sink_(row.text(0)); !taken.has_value()) {
        return Unexpected{std::move(taken).error()};
      }
      return Go::on;
    });
  }

  SqliteConnection& connection_;
  const LineSink& sink_;
  ExportReport report_;
};

}  // namespace

Result<std::vector<sqlite::ExportColumn>> sqlite::columns_of(SqliteConnection& connection,
                                                             const char* table) {
  std::vector<ExportColumn> columns;
  auto read = for_each_row(
      connection, "SELECT name, type = 'BLOB' FROM pragma_table_info(?1) ORDER BY cid",
      [&](const SqliteStatement& row) -> Result<Go> {
        columns.push_back({std::string(row.text(0)), row.integer(1) != 0});
        return Go::on;
      },
      std::string_view(table));
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return columns;
}

Result<ExportReport> export_store(const StoreFiles& store, const LineSink& sink) {
  if (!sqlite::is_present(store)) {
    return fail(ErrorCode::not_found, "there is no store at " + store.path);
  }
  auto connection = sqlite::connect_reader(store.path, store.vfs);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  const auto kind = sqlite::recognize(*connection, store.path);
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (*kind == sqlite::FileKind::empty) {
    return fail(ErrorCode::not_found, store.path + " holds no store yet");
  }
  // One transaction: one state.
  if (auto begun = connection->execute("BEGIN"); !begun.has_value()) {
    return Unexpected{std::move(begun).error()};
  }
  return Export(*connection, sink).run();
}

}  // namespace onceward::journal
