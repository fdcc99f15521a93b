// SQL of the writing side.
#include "journal/sqlite/writer_statements.hpp"

#include <array>
#include <string>

#include "journal/sqlite/row_columns.hpp"

namespace onceward::journal::sqlite {
namespace {

struct Text {
  WriterStatements::Statement WriterStatements::*statement;
  const char* sql;
};

constexpr std::array texts = {
    Text{&WriterStatements::begin, "BEGIN IMMEDIATE"},
    Text{&WriterStatements::commit, "COMMIT"},
    Text{&WriterStatements::roll_back, "ROLLBACK"},
    // Changes only when another connection has committed.
    Text{&WriterStatements::data_version, "PRAGMA data_version"},
    Text{&WriterStatements::write_state,
         "UPDATE store_state SET commit_count = ?1, last_position = ?2, rolling = ?3, "
         "obligations = ?4, open_obligations = ?5, marks = ?6, "
         "digest = row_digest(?1, ?2, ?3, ?4, ?5, ?6) WHERE id = 1"},
    Text{&WriterStatements::write_commits_row,
         "INSERT INTO commits VALUES (?1, ?2, ?3, row_digest(?1, ?2, ?3)) ON CONFLICT DO NOTHING"},
    Text{&WriterStatements::read_epochs, "SELECT shard, epoch FROM epochs ORDER BY shard"},
    Text{&WriterStatements::raise_all_epochs,
         "UPDATE epochs SET (epoch, complement) = (SELECT max(epoch) + 1, ~(max(epoch) + 1) "
         "FROM epochs)"},
    Text{&WriterStatements::raise_one_epoch,
         "UPDATE epochs SET (epoch, complement) = (SELECT max(epoch) + 1, ~(max(epoch) + 1) "
         "FROM epochs) WHERE shard = ?1"},
    Text{&WriterStatements::find_entity,
         "SELECT id, last, head FROM entities WHERE persistence_id = ?1"},
    Text{&WriterStatements::last_entity, "SELECT coalesce(max(id), 0) FROM entities"},
    Text{&WriterStatements::insert_entity, "INSERT INTO entities VALUES (?1, ?2, ?3, ?4, ?5)"},
    Text{&WriterStatements::update_entity,
         "UPDATE entities SET last = ?2, head = ?3 WHERE id = ?1"},
    Text{&WriterStatements::insert_event,
         "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
    Text{&WriterStatements::find_status,
         "SELECT status FROM obligations WHERE period = ?1 AND customer = ?2 AND purpose = ?3"},
    Text{&WriterStatements::insert_row,
         "INSERT INTO obligations (period, customer, purpose, status, amount_minor, currency, "
         "charge_id, attempt, decline_code, reason, request_id, initiated_at, updated_at, "
         "next_action_at, next_attempt_at, epoch) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"},
    Text{&WriterStatements::update_row,
         "UPDATE obligations SET status = ?4, amount_minor = ?5, currency = ?6, charge_id = ?7, "
         "attempt = ?8, decline_code = ?9, reason = ?10, request_id = ?11, initiated_at = ?12, "
         "updated_at = ?13, next_action_at = ?14, next_attempt_at = ?15, epoch = ?16 "
         "WHERE period = ?1 AND customer = ?2 AND purpose = ?3"},
    Text{&WriterStatements::put_refund,
         "INSERT INTO refunds (customer, period, purpose, number, amount_minor, currency, status, "
         "refund_id, reason, request_id, who, why, requested_at, updated_at, next_action_at) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) "
         "ON CONFLICT DO UPDATE SET amount_minor = excluded.amount_minor, "
         "currency = excluded.currency, status = excluded.status, refund_id = excluded.refund_id, "
         "reason = excluded.reason, request_id = excluded.request_id, who = excluded.who, "
         "why = excluded.why, requested_at = excluded.requested_at, "
         "updated_at = excluded.updated_at, next_action_at = excluded.next_action_at"},
    Text{&WriterStatements::find_mark,
         "SELECT fingerprint, expires_at FROM marks WHERE scope = ?1 AND key = ?2"},
    Text{&WriterStatements::put_mark,
         "INSERT INTO marks VALUES (?1, ?2, ?3, ?4, row_digest(?1, ?2, ?3, ?4)) "
         "ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, "
         "expires_at = excluded.expires_at, digest = excluded.digest"},
    Text{&WriterStatements::put_snapshot,
         "INSERT INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5, row_digest(?1, ?2, ?3, ?4, ?5)) "
         "ON CONFLICT DO UPDATE SET at = excluded.at, head = excluded.head, "
         "schema_version = excluded.schema_version, payload = excluded.payload, "
         "digest = excluded.digest"},
    Text{&WriterStatements::find_reservation,
         "SELECT state, amount_minor, currency FROM cap_reservations "
         "WHERE period = ?1 AND customer = ?2 AND purpose = ?3 AND attempt = ?4"},
    // Not one upsert: it would cost twice as much as either.
    Text{&WriterStatements::insert_reservation,
         "INSERT INTO cap_reservations (period, customer, purpose, attempt, state, amount_minor, "
         "currency, digest) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, row_digest(?1, ?2, ?3, ?4, ?5, ?6, ?7))"},
    Text{&WriterStatements::update_reservation,
         "UPDATE cap_reservations SET state = ?5, amount_minor = ?6, currency = ?7, "
         "digest = row_digest(?1, ?2, ?3, ?4, ?5, ?6, ?7) "
         "WHERE period = ?1 AND customer = ?2 AND purpose = ?3 AND attempt = ?4"},
    Text{&WriterStatements::erase_reservation,
         "DELETE FROM cap_reservations "
         "WHERE period = ?1 AND customer = ?2 AND purpose = ?3 AND attempt = ?4"},
    Text{
        &WriterStatements::find_total,
        "SELECT reserved_minor, settled_minor FROM cap_totals WHERE period = ?1 AND currency = ?2"},
    Text{&WriterStatements::put_total,
         "INSERT INTO cap_totals VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET "
         "reserved_minor = excluded.reserved_minor, settled_minor = excluded.settled_minor"},
    Text{&WriterStatements::find_limit,
         "SELECT limit_minor FROM cap_limits "
         "WHERE period = ?1 AND currency = ?2 AND customer = ?3"},
    Text{&WriterStatements::has_customer_limits,
         "SELECT 1 FROM cap_limits WHERE period = ?1 AND currency = ?2 AND customer > '' LIMIT 1"},
    Text{&WriterStatements::put_limit,
         "INSERT INTO cap_limits VALUES (?1, ?2, ?3, ?4, row_digest(?1, ?2, ?3, ?4)) "
         "ON CONFLICT DO UPDATE SET limit_minor = excluded.limit_minor, digest = excluded.digest"},
    Text{&WriterStatements::customer_use,
         "SELECT coalesce(sum(amount_minor) FILTER (WHERE state = 'reserved'), 0), "
         "coalesce(sum(amount_minor) FILTER (WHERE state = 'settled'), 0) "
         "FROM cap_reservations WHERE period = ?1 AND customer = ?2 AND currency = ?3"},
};

}  // namespace

Result<WriterStatements> WriterStatements::prepare(platform::SqliteConnection& connection) {
  WriterStatements statements;
  for (const Text& text : texts) {
    const auto prepared = connection.cached(text.sql);
    if (!prepared.has_value()) return Unexpected{prepared.error()};
    statements.*text.statement = *prepared;
  }
  const std::string find_row = "SELECT " + std::string(row_columns) +
                               " FROM obligations o "
                               "WHERE period = ?1 AND customer = ?2 AND purpose = ?3";
  const auto prepared = connection.cached(find_row);
  if (!prepared.has_value()) return Unexpected{prepared.error()};
  statements.find_row = *prepared;
  return statements;
}

Result<bool> has_row(platform::SqliteStatement& statement) {
  switch (statement.step()) {
    case platform::SqliteStatement::Step::row:
      return true;
    case platform::SqliteStatement::Step::done:
      return false;
    case platform::SqliteStatement::Step::failed:
      return Unexpected{statement.error()};
  }
  check_failed("step", __FILE__, __LINE__, "a step gives a row, is done, or failed");
}

}  // namespace onceward::journal::sqlite
