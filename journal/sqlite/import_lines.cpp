// Events are checked one by one as they come, rows are taken as they are: what they must equal is
// checked over the finished file.
#include "journal/sqlite/import_lines.hpp"

#include "journal/history.hpp"
#include "journal/json_text.hpp"
#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/export_tables.hpp"
#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"
#include "journal/sqlite/schema.hpp"
#include "journal/sqlite/store_state.hpp"
#include "journal/unit_shape.hpp"

namespace onceward::journal::sqlite {
namespace {

constexpr const char* event_fields_sql =
    "SELECT ?1 ->> '$.position', ?1 ->> '$.persistence_id', ?1 ->> '$.sequence_nr', "
    "?1 ->> '$.event', ?1 ->> '$.version', ?1 ->> '$.payload', ?1 ->> '$.epoch', "
    "?1 ->> '$.writer', ?1 ->> '$.at', ?1 ->> '$.head'";

class Import {
 public:
  Import(SqliteConnection& connection, bool continues)
      : connection_(connection), continues_(continues) {}

  Result<ImportReport> run(std::istream& lines);

 private:
  Result<Unit> take(const std::string& line);
  Result<Unit> begin(const std::string& line);
  Result<Unit> begin_new(const std::string& line);
  Result<Unit> begin_continuing(const std::string& line);
  Result<Unit> take_event(const std::string& line);
  Result<Unit> add_event(std::uint64_t position, const PersistenceId& id, const StoredEvent& event);
  Result<Unit> take_row(const ExportTable& table, const std::string& line);
  Result<Unit> end(const std::string& line);
  /// A member of the line as text; empty if it is absent.
  Result<std::string> member(const std::string& line, std::string_view path);
  template <class... Values>
  Result<Unit> execute(std::string_view sql, const Values&... values) {
    const auto statement = connection_.cached(sql);
    if (!statement.has_value()) return Unexpected{statement.error()};
    return (*statement)->bind(values...).run();
  }

  SqliteConnection& connection_;
  const bool continues_;
  StoreState present_;  ///< of the store that is continued; zero for a new one
  std::uint32_t shards_ = 0;
  std::uint64_t line_ = 0;
  std::uint64_t position_ = 0;
  Digest rolling_;
  bool has_ended_ = false;
};

Error bad_line(std::uint64_t line, const std::string& what) {
  return {ErrorCode::invalid_argument,
          "line " + std::to_string(line) + " of the export: " + what + "; nothing was imported"};
}

Result<std::string> Import::member(const std::string& line, std::string_view path) {
  std::string text;
  auto read = for_each_row(
      connection_, "SELECT CASE WHEN json_valid(?1) THEN ?1 ->> ?2 END",
      [&](const SqliteStatement& row) -> Result<Go> {
        text = row.text(0);
        return Go::stop;
      },
      line, path);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return text;
}

Result<Unit> Import::begin(const std::string& line) {
  const auto kind = member(line, "$.kind");
  if (!kind.has_value()) return Unexpected{kind.error()};
  const auto version = member(line, "$.version");
  if (!version.has_value()) return Unexpected{version.error()};
  if (*kind != "onceward-export" || *version != "1") {
    return Unexpected{bad_line(1, "it is not the first line of an export of version 1")};
  }
  const auto schema = member(line, "$.store.schema");
  if (!schema.has_value()) return Unexpected{schema.error()};
  if (*schema != std::to_string(schema_version)) {
    return fail(ErrorCode::store_mismatch,
                "the export is of schema " + *schema + ", this program writes schema " +
                    std::to_string(schema_version) + ": export again with the same release");
  }
  auto begun = continues_ ? begin_continuing(line) : begin_new(line);
  if (!begun.has_value()) return begun;
  const auto recorded = recorded_values(connection_);
  if (!recorded.has_value()) return Unexpected{recorded.error()};
  shards_ = recorded->identity.shards;
  return ok();
}

Result<Unit> Import::begin_new(const std::string& line) {
  if (auto made = connection_.execute(schema_sql); !made.has_value()) return made;
  auto recorded =
      execute("INSERT INTO store_values SELECT key, value FROM json_each(?1, '$.store')", line);
  if (!recorded.has_value()) return recorded;
  return connection_.execute(
      "WITH RECURSIVE n (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM n WHERE shard + 1 < "
      "(SELECT CAST(value AS INTEGER) FROM store_values WHERE name = 'shards')) "
      "INSERT INTO epochs SELECT shard, 0, ~0 FROM n");
}

Result<Unit> Import::begin_continuing(const std::string& line) {
  const auto recorded = recorded_values(connection_);
  if (!recorded.has_value()) return Unexpected{recorded.error()};
  const auto store_id = member(line, "$.store.store_id");
  if (!store_id.has_value()) return Unexpected{store_id.error()};
  if (*store_id != recorded->store_id) {
    return fail(ErrorCode::conflict, "the store holds events of store " + recorded->store_id +
                                         ", the export is of store " + *store_id +
                                         ": import into a configuration without a store");
  }
  const auto state = read_store_state(connection_);
  if (!state.has_value()) return Unexpected{state.error()};
  present_ = *state;
  for (const ExportTable& table : export_tables) {
    if (!table.is_replaced) continue;
    auto removed = connection_.execute("DELETE FROM " + std::string(table.name));
    if (!removed.has_value()) return removed;
  }
  return connection_.execute("DELETE FROM snapshots");
}

Result<Unit> Import::take_event(const std::string& line) {
  std::uint64_t position = 0;
  PersistenceId id{""};
  StoredEvent event;
  auto read = for_each_row(
      connection_, event_fields_sql,
      [&](const SqliteStatement& row) -> Result<Go> {
        const auto head = parse_hex_digest(row.text(9));
        if (!head.has_value()) return Unexpected{bad_line(line_, "the head is not 64 hex digits")};
        position = static_cast<std::uint64_t>(row.integer(0));
        id = PersistenceId(std::string(row.text(1)));
        event.sequence_nr = SequenceNr{static_cast<std::uint64_t>(row.integer(2))};
        event.event.manifest.name = row.text(3);
        event.event.manifest.version = static_cast<std::uint32_t>(row.integer(4));
        event.event.payload = row.text(5);
        event.epoch = Epoch{static_cast<std::uint64_t>(row.integer(6))};
        event.writer = WriterId(std::string(row.text(7)));
        event.at = Timestamp{row.integer(8)};
        event.head = *head;
        return Go::stop;
      },
      line);
  if (!read.has_value()) return read;
  if (position != position_ + 1) {
    return Unexpected{bad_line(line_, "position " + std::to_string(position) + " comes after " +
                                          std::to_string(position_))};
  }
  position_ = position;
  rolling_ = rolling_after(rolling_, event.head);
  if (position > present_.last_position) return add_event(position, id, event);
  if (position == present_.last_position && rolling_ != present_.rolling) {
    return fail(ErrorCode::conflict,
                "the first " + std::to_string(position) +
                    " events of the export are not those of the store: one of the two went "
                    "another way; import into a configuration without a store and compare");
  }
  return ok();
}

Result<Unit> Import::add_event(std::uint64_t position, const PersistenceId& id,
                               const StoredEvent& event) {
  if (!is_persistence_id(id.value()) || !is_json(event.event.payload) ||
      event.event.payload.size() > event_payload_bytes_max) {
    return Unexpected{bad_line(line_, "persistence id or payload is none that can be stored")};
  }
  std::int64_t entity = 0;
  std::uint64_t last = 0;
  Digest head;
  auto read = for_each_row(
      connection_, "SELECT id, last, head FROM entities WHERE persistence_id = ?1",
      [&](const SqliteStatement& row) -> Result<Go> {
        const auto stored = read_digest(row, 2);
        if (!stored.has_value()) return Unexpected{stored.error()};
        entity = row.integer(0);
        last = static_cast<std::uint64_t>(row.integer(1));
        head = *stored;
        return Go::stop;
      },
      id.value());
  if (!read.has_value()) return read;
  HistoryCheck check(SequenceNr{last}, head);
  if (auto taken = check.take(id, event); !taken.has_value()) return taken;
  if (entity == 0) {
    auto added = execute(
        "INSERT INTO entities (persistence_id, shard, last, head) VALUES (?1, ?2, ?3, ?4)",
        id.value(), shard_of(id, shards_).value, event.sequence_nr.value, bytes_of(event.head));
    if (!added.has_value()) return added;
    entity = connection_.last_insert_rowid();
  } else {
    auto moved = execute("UPDATE entities SET last = ?2, head = ?3 WHERE id = ?1", entity,
                         event.sequence_nr.value, bytes_of(event.head));
    if (!moved.has_value()) return moved;
  }
  return execute("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", position,
                 entity, event.sequence_nr.value, event.event.manifest.name,
                 event.event.manifest.version, event.event.payload, event.epoch.value,
                 event.writer.value(), event.at.ms, bytes_of(event.head));
}

Result<Unit> Import::take_row(const ExportTable& table, const std::string& line) {
  const auto columns = columns_of(connection_, table.name);
  if (!columns.has_value()) return Unexpected{columns.error()};
  std::string sql = "INSERT OR REPLACE INTO " + std::string(table.name) + " SELECT ";
  Digest digest;
  for (const ExportColumn& column : *columns) {
    if (&column != &columns->front()) sql += ", ";
    if (!column.is_blob) {
      sql += "?1 ->> '$." + column.name + "'";
      continue;
    }
    sql += "?2";  // every blob column of these tables is one digest
    const auto text = member(line, "$." + column.name);
    if (!text.has_value()) return Unexpected{text.error()};
    const auto parsed = parse_hex_digest(*text);
    if (!parsed.has_value()) return Unexpected{bad_line(line_, column.name + " is no digest")};
    digest = *parsed;
  }
  // An epoch never falls: whoever wrote under the larger one must stay fenced.
  if (std::string_view(table.name) == "epochs") {
    sql =
        "INSERT INTO epochs SELECT ?1 ->> '$.shard', ?1 ->> '$.epoch', ?1 ->> '$.complement' "
        "WHERE true ON CONFLICT (shard) DO UPDATE SET epoch = max(epoch, excluded.epoch), "
        "complement = ~max(epoch, excluded.epoch)";
    return execute(sql, line);
  }
  return sql.find("?2") == std::string::npos ? execute(sql, line)
                                             : execute(sql, line, bytes_of(digest));
}

Result<Unit> Import::end(const std::string& line) {
  const auto lines = member(line, "$.lines");
  if (!lines.has_value()) return Unexpected{lines.error()};
  if (*lines != std::to_string(line_)) {
    return Unexpected{bad_line(line_, "it ends an export of " + *lines + " lines")};
  }
  const auto state = read_store_state(connection_);
  if (!state.has_value()) return Unexpected{state.error()};
  if (state->last_position != position_ || state->rolling != rolling_) {
    return fail(ErrorCode::store_corrupt,
                "the events of the export do not give its rolling hash: it was changed or cut");
  }
  if (position_ < present_.last_position || state->commit_count < present_.commit_count) {
    return fail(ErrorCode::conflict, "the store is newer than the export: it has " +
                                         std::to_string(present_.commit_count) +
                                         " commits, the export " +
                                         std::to_string(state->commit_count));
  }
  has_ended_ = true;
  return ok();
}

Result<Unit> Import::take(const std::string& line) {
  if (line_ == 1) return begin(line);
  if (has_ended_) return Unexpected{bad_line(line_, "it comes after the end")};
  const auto kind = member(line, "$.kind");
  if (!kind.has_value()) return Unexpected{kind.error()};
  if (*kind == "event") return take_event(line);
  if (*kind == "end") return end(line);
  for (const ExportTable& table : export_tables) {
    if (*kind == table.name) return take_row(table, line);
  }
  return Unexpected{bad_line(line_, "it is no fact of an export")};
}

Result<ImportReport> Import::run(std::istream& lines) {
  std::string line;
  while (std::getline(lines, line)) {
    ++line_;
    if (auto taken = take(line); !taken.has_value()) return Unexpected{std::move(taken).error()};
  }
  if (!has_ended_) return Unexpected{bad_line(line_ + 1, "the end is missing, the file was cut")};
  return ImportReport{position_, position_ - present_.last_position};
}

}  // namespace

Result<ImportReport> import_lines(std::istream& lines, SqliteConnection& connection,
                                  bool continues) {
  return Import(connection, continues).run(lines);
}

}  // namespace onceward::journal::sqlite
