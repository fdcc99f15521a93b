// JournalReader over one read connection: rows, marks, caps and counts here, histories by
// HistoryReader, and the barrier over all of it.
#include "journal/sqlite/reader.hpp"

#include <algorithm>
#include <limits>

#include "journal/refusals.hpp"
#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/history_reader.hpp"
#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"

namespace onceward::journal::sqlite {
namespace {

const std::string select_row = "SELECT " + std::string(row_columns) + " FROM obligations o ";
const std::string row_sql =
    select_row + "WHERE o.period = ?1 AND o.customer = ?2 AND o.purpose = ?3";
// From period to period by the primary key: there are few periods and no index by customer.
const std::string rows_of_sql =
    "WITH RECURSIVE p (period) AS (SELECT min(period) FROM obligations UNION ALL "
    "SELECT (SELECT min(period) FROM obligations WHERE period > p.period) FROM p "
    "WHERE p.period IS NOT NULL) SELECT " +
    std::string(row_columns) +
    " FROM p CROSS JOIN obligations o ON o.period = p.period AND o.customer = ?1 "
    "ORDER BY o.period, o.purpose";
const std::string rows_sql = select_row +
                             "WHERE o.period = ?1 AND (o.customer, o.purpose) > (?2, ?3) "
                             "ORDER BY o.customer, o.purpose LIMIT ?4";
const std::string rows_by_status_sql =
    select_row +
    "WHERE o.period = ?1 AND (o.customer, o.purpose) > (?2, ?3) AND o.status = ?5 "
    "ORDER BY o.customer, o.purpose LIMIT ?4";
const std::string due_sql = select_row +
                            "INDEXED BY obligations_due WHERE o.next_action_at <= ?1 "
                            "ORDER BY o.next_action_at, o.period, o.customer, o.purpose LIMIT ?2";
// The index alone finds the page of keys; only its rows are then fetched.
const std::string open_before_sql =
    "WITH k AS MATERIALIZED (SELECT period, customer, purpose FROM obligations "
    "INDEXED BY obligations_due WHERE next_action_at IS NOT NULL AND epoch < ?1 AND status IN "
    "('in_progress', 'processing', 'action_required', 'unknown', 'declined') "
    "AND (customer, period, purpose) > (?2, ?3, ?4) "
    "ORDER BY customer, period, purpose LIMIT ?5) SELECT " +
    std::string(row_columns) +
    " FROM k CROSS JOIN obligations o ON o.period = k.period AND o.customer = k.customer AND "
    "o.purpose = k.purpose ORDER BY k.customer, k.period, k.purpose";
const std::string row_of_charge_sql = select_row + "WHERE o.charge_id = ?1 LIMIT 1";
const std::string select_refund = "SELECT " + std::string(refund_columns) + " FROM refunds r ";
const std::string refunds_of_sql =
    select_refund + "WHERE r.customer = ?1 ORDER BY r.period, r.purpose, r.number";
const std::string refunds_sql =
    select_refund +
    "WHERE (r.customer, r.period, r.purpose, r.number) > (?1, ?2, ?3, ?4) "
    "AND (?5 = '' OR r.status = ?5) "
    "ORDER BY r.customer, r.period, r.purpose, r.number LIMIT ?6";
// The list is spelled as in obligations_attention: only then the index answers it.
const std::string attention_sql =
    select_row +
    "WHERE (status IN ('parked', 'rejected', 'capped', 'uncollectible', 'processing', "
    "'action_required') OR (status = 'completed' AND reason <> '')) "
    "AND (o.customer, o.period, o.purpose) > (?1, ?2, ?3) "
    "ORDER BY o.customer, o.period, o.purpose LIMIT ?4";
constexpr std::string_view cap_use_sql =
    "SELECT b.currency, b.customer, l.limit_minor, "
    "CASE WHEN b.customer = '' THEN t.reserved_minor ELSE (SELECT sum(amount_minor) FROM "
    "cap_reservations r WHERE r.period = ?1 AND r.customer = b.customer AND "
    "r.currency = b.currency AND r.state = 'reserved') END, "
    "CASE WHEN b.customer = '' THEN t.settled_minor ELSE (SELECT sum(amount_minor) FROM "
    "cap_reservations r WHERE r.period = ?1 AND r.customer = b.customer AND "
    "r.currency = b.currency AND r.state = 'settled') END "
    "FROM (SELECT currency, '' AS customer FROM cap_totals WHERE period = ?1 UNION "
    "SELECT currency, customer FROM cap_limits WHERE period = ?1) b "
    "LEFT JOIN cap_limits l ON l.period = ?1 AND l.currency = b.currency AND "
    "l.customer = b.customer "
    "LEFT JOIN cap_totals t ON t.period = ?1 AND t.currency = b.currency "
    "ORDER BY b.currency, b.customer";
constexpr std::string_view stats_sql =
    "SELECT s.last_position, (SELECT coalesce(max(id), 0) FROM entities), s.obligations, "
    "s.open_obligations, s.marks, (SELECT count(*) FROM quarantine), s.commit_count, "
    "(SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size) "
    "FROM store_state s";

std::int64_t sql_limit(std::size_t limit) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(limit, most));
}

class SqliteReader final : public JournalReader {
 public:
  SqliteReader(SqliteConnection connection, std::uint32_t shards, const Shared* shared)
      : connection_(std::move(connection)),
        histories_(connection_, shards, shared),
        shared_(shared) {}

  Result<HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                            const EventSink& sink) override {
    return certain([&] { return histories_.replay(id, after, sink); });
  }
  void replay_many(
      std::span<const PersistenceId> ids, const EventSink& sink,
      const std::function<void(const PersistenceId&, Result<HistoryEnd>)>& done) override {
    histories_.replay_many(ids, sink, done);
  }
  Result<std::uint64_t> scan(std::uint64_t after, const HistoryReader::ScanSink& sink) override {
    return certain([&] { return histories_.scan(after, sink); });
  }
  Result<std::optional<StoredSnapshot>> snapshot(const PersistenceId& id) override {
    return certain([&] { return histories_.snapshot(id); });
  }

  Result<std::vector<PersistenceId>> ids_under(std::string_view prefix,
                                               const std::optional<PersistenceId>& after,
                                               std::size_t limit) override {
    // The first text that does not begin with the prefix: one more in its last character.
    std::string beyond(prefix);
    if (!beyond.empty()) beyond.back() = static_cast<char>(beyond.back() + 1);
    return collect<PersistenceId>(
        "SELECT persistence_id FROM entities WHERE persistence_id >= ?1 AND persistence_id > ?2 "
        "AND persistence_id < ?3 ORDER BY persistence_id LIMIT ?4",
        [](const SqliteStatement& row) -> Result<PersistenceId> {
          return PersistenceId(std::string(row.text(0)));
        },
        prefix, after ? std::string_view(after->value()) : std::string_view(), beyond,
        sql_limit(limit));
  }

  Result<std::optional<ObligationRow>> row(const ObligationKey& key) override {
    return select_rows(row_sql, key.period.text(), key.customer.value(), key.purpose.value())
        .transform([](std::vector<ObligationRow>&& found) {
          return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
        });
  }
  Result<std::vector<ObligationRow>> rows_of(const CustomerId& customer) override {
    return select_rows(rows_of_sql, customer.value());
  }
  Result<std::vector<ObligationRow>> rows(const RowQuery& query) override {
    const std::string& period = query.period.text();
    const std::string& customer = query.after_customer.value();
    const std::string& purpose = query.after_purpose.value();
    if (!query.status) {
      return select_rows(rows_sql, period, customer, purpose, sql_limit(query.limit));
    }
    return select_rows(rows_by_status_sql, period, customer, purpose, sql_limit(query.limit),
                       to_text(*query.status));
  }
  Result<std::vector<ObligationRow>> due(Timestamp now, std::size_t limit) override {
    return select_rows(due_sql, now.ms, sql_limit(limit));
  }
  Result<std::vector<ObligationRow>> open_before(Epoch epoch,
                                                 const std::optional<ObligationKey>& after,
                                                 std::size_t limit) override {
    const std::string_view none;
    return select_rows(open_before_sql, epoch.value,
                       after ? std::string_view(after->customer.value()) : none,
                       after ? std::string_view(after->period.text()) : none,
                       after ? std::string_view(after->purpose.value()) : none, sql_limit(limit));
  }
  Result<std::optional<ObligationRow>> row_of_charge(std::string_view charge_id) override {
    if (charge_id.empty()) return std::optional<ObligationRow>();
    return select_rows(row_of_charge_sql, charge_id)
        .transform([](std::vector<ObligationRow>&& found) {
          return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
        });
  }
  Result<std::vector<RefundRow>> refunds_of(const CustomerId& customer) override {
    return collect<RefundRow>(refunds_of_sql, read_refund, customer.value());
  }
  Result<std::vector<RefundRow>> refunds(const RefundQuery& query) override {
    const std::string_view none;
    const auto& after = query.after;
    return collect<RefundRow>(
        refunds_sql, read_refund, after ? std::string_view(after->customer.value()) : none,
        after ? std::string_view(after->period.text()) : none,
        after ? std::string_view(after->purpose.value()) : none, query.after_number,
        query.status ? to_text(*query.status) : none, sql_limit(query.limit));
  }
  Result<std::vector<ObligationRow>> attention_rows(const std::optional<ObligationKey>& after,
                                                    std::size_t limit) override {
    const std::string_view none;
    return select_rows(attention_sql, after ? std::string_view(after->customer.value()) : none,
                       after ? std::string_view(after->period.text()) : none,
                       after ? std::string_view(after->purpose.value()) : none, sql_limit(limit));
  }
  Result<std::optional<Mark>> mark(std::string_view scope, std::string_view key,
                                   Timestamp now) override;
  Result<std::vector<CapUse>> cap_use(const BillingPeriod& period) override;
  Result<std::vector<Quarantined>> quarantined() override;
  Result<JournalStats> stats() override;

 private:
  /// Runs a read unless a barrier is pending, and drops its result if one became pending meanwhile.
  template <class Read>
  std::invoke_result_t<Read> certain(Read read) {
    if (auto doubt = doubt_of(shared_)) return Unexpected{std::move(*doubt)};
    auto result = read();
    if (auto doubt = doubt_of(shared_)) return Unexpected{std::move(*doubt)};
    return result;
  }

  /// All rows of a statement as `make(row) -> Result<T>` reads them.
  template <class T, class Make, class... Values>
  Result<std::vector<T>> collect(std::string_view sql, Make make, const Values&... values) {
    return certain([&]() -> Result<std::vector<T>> {
      std::vector<T> found;
      auto read = for_each_row(
          connection_, sql,
          [&](const SqliteStatement& row) -> Result<Go> {
            Result<T> made = make(row);
            if (!made.has_value()) return Unexpected{std::move(made).error()};
            found.push_back(std::move(made).value());
            return Go::on;
          },
          values...);
      if (!read.has_value()) return Unexpected{std::move(read).error()};
      return found;
    });
  }
  template <class... Values>
  Result<std::vector<ObligationRow>> select_rows(std::string_view sql, const Values&... values) {
    return collect<ObligationRow>(
        sql, [](const SqliteStatement& row) { return read_row(row); }, values...);
  }

  SqliteConnection connection_;
  HistoryReader histories_;  // borrows the connection
  const Shared* const shared_;
};

Result<std::optional<Mark>> SqliteReader::mark(std::string_view scope, std::string_view key,
                                               Timestamp now) {
  return collect<Mark>(
             "SELECT fingerprint, expires_at FROM marks WHERE scope = ?1 AND key = ?2",
             [&](const SqliteStatement& row) -> Result<Mark> {
               Mark found{std::string(scope), std::string(key), std::string(row.text(0)), {}};
               if (const auto ms = row.optional_integer(1)) found.expires_at = Timestamp{*ms};
               return found;
             },
             scope, key)
      .transform([&](std::vector<Mark>&& found) {
        const bool is_found = !found.empty() && is_alive(found.front(), now);
        return is_found ? std::optional(std::move(found.front())) : std::nullopt;
      });
}

Result<std::vector<CapUse>> SqliteReader::cap_use(const BillingPeriod& period) {
  return collect<CapUse>(
      cap_use_sql,
      [&](const SqliteStatement& row) -> Result<CapUse> {
        const auto currency = Currency::parse(row.text(0));
        if (!currency.has_value()) {
          return fail(ErrorCode::store_corrupt,
                      "spend cap of " + period.text() + ": " + currency.error().context);
        }
        return CapUse{period,         CustomerId(std::string(row.text(1))),
                      *currency,      row.optional_integer(2),
                      row.integer(3), row.integer(4)};
      },
      period.text());
}

Result<std::vector<Quarantined>> SqliteReader::quarantined() {
  return collect<Quarantined>(
      "SELECT persistence_id, reason, since FROM quarantine ORDER BY persistence_id",
      [](const SqliteStatement& row) -> Result<Quarantined> {
        return Quarantined{PersistenceId(std::string(row.text(0))), std::string(row.text(1)),
                           Timestamp{row.integer(2)}};
      });
}

Result<JournalStats> SqliteReader::stats() {
  return collect<JournalStats>(stats_sql,
                               [](const SqliteStatement& row) -> Result<JournalStats> {
                                 const auto count = [&](int column) {
                                   return static_cast<std::uint64_t>(row.integer(column));
                                 };
                                 return JournalStats{count(0), count(1), count(2), count(3),
                                                     count(4), count(5), count(6), count(7)};
                               })
      .and_then([](std::vector<JournalStats>&& found) -> Result<JournalStats> {
        if (found.empty()) return fail(ErrorCode::store_corrupt, "store_state has no row");
        return found.front();
      });
}

}  // namespace

Result<std::unique_ptr<JournalReader>> make_reader(const std::string& path, const std::string& vfs,
                                                   std::uint32_t shards, const Shared* shared) {
  auto connection = connect_reader(path, vfs);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  return std::unique_ptr<JournalReader>(
      std::make_unique<SqliteReader>(std::move(connection).value(), shards, shared));
}

}  // namespace onceward::journal::sqlite
