// The steps between schema versions, as they were released: a step is never changed again. The
// newest schema as a whole is schema.cpp; both ways lead to the same tables.
#include <onceward/journal/sqlite_migration.hpp>

#include <array>
#include <filesystem>
#include <utility>

#include <onceward/platform/file_lock.hpp>

#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/row_digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace onceward::journal {

namespace {

struct Step {
  std::int64_t to;
  const char* what;
  const char* sql;
};

constexpr std::array<Step, 2> steps = {{
    {2, "refund rows, and an index of what a person may have to look at", R"sql(
CREATE INDEX obligations_attention
  ON obligations (customer, period, purpose)
  WHERE status IN ('parked', 'rejected', 'capped', 'uncollectible', 'processing',
                   'action_required') OR (status = 'completed' AND reason <> '');
CREATE TABLE refunds (
  customer       TEXT NOT NULL,
  period         TEXT NOT NULL,
  purpose        TEXT NOT NULL,
  number         INTEGER NOT NULL CHECK (number >= 1),
  amount_minor   INTEGER NOT NULL CHECK (amount_minor > 0),
  currency       TEXT NOT NULL,
  status         TEXT NOT NULL,
  refund_id      TEXT NOT NULL,
  reason         TEXT NOT NULL,
  request_id     TEXT NOT NULL,
  who            TEXT NOT NULL,
  why            TEXT NOT NULL,
  requested_at   INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  next_action_at INTEGER,
  PRIMARY KEY (customer, period, purpose, number),
  CONSTRAINT somebody_acts_next CHECK (
    next_action_at IS NOT NULL OR status = 'succeeded' OR status = 'failed' OR status = 'parked')
) STRICT, WITHOUT ROWID;
CREATE TRIGGER refunds_are_not_deleted BEFORE DELETE ON refunds
BEGIN SELECT RAISE(ABORT, 'refunds are never deleted'); END;
CREATE VIEW v1_refunds AS
SELECT customer, period, purpose, number, status, status NOT IN ('succeeded', 'failed') AS is_open,
       amount_minor, currency, refund_id, reason, request_id, who, why,
       strftime('%Y-%m-%dT%H:%M:%fZ', requested_at / 1000.0, 'unixepoch') AS requested_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', next_action_at / 1000.0, 'unixepoch') AS next_action_at
FROM refunds;
)sql"},
    {3, "digests over what no event implies: marks, caps, snapshots, counters, plans", R"sql(
ALTER TABLE store_state RENAME TO store_state_2;
CREATE TABLE store_state (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  commit_count     INTEGER NOT NULL,
  last_position    INTEGER NOT NULL,
  rolling          BLOB NOT NULL CHECK (length(rolling) = 32),
  obligations      INTEGER NOT NULL,
  open_obligations INTEGER NOT NULL,
  marks            INTEGER NOT NULL,
  digest           INTEGER NOT NULL
) STRICT;
INSERT INTO store_state
SELECT *, row_digest(commit_count, last_position, rolling, obligations, open_obligations, marks)
FROM store_state_2;
DROP TABLE store_state_2;

ALTER TABLE commits RENAME TO commits_2;
CREATE TABLE commits (
  commit_count  INTEGER PRIMARY KEY,
  last_position INTEGER NOT NULL,
  rolling       BLOB NOT NULL,
  digest        INTEGER NOT NULL
) STRICT;
INSERT INTO commits SELECT *, row_digest(commit_count, last_position, rolling) FROM commits_2;
DROP TABLE commits_2;

ALTER TABLE epochs RENAME TO epochs_2;
CREATE TABLE epochs (
  shard      INTEGER PRIMARY KEY,
  epoch      INTEGER NOT NULL,
  complement INTEGER NOT NULL CHECK (complement = ~epoch)
) STRICT;
INSERT INTO epochs SELECT *, ~epoch FROM epochs_2;
DROP TABLE epochs_2;

ALTER TABLE marks RENAME TO marks_2;
CREATE TABLE marks (
  scope       TEXT NOT NULL,
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  expires_at  INTEGER,
  digest INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO marks SELECT *, row_digest(scope, key, fingerprint, expires_at) FROM marks_2;
DROP TABLE marks_2;

ALTER TABLE cap_reservations RENAME TO cap_reservations_2;
CREATE TABLE cap_reservations (
  period       TEXT NOT NULL,
  customer     TEXT NOT NULL,
  purpose      TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state = 'reserved' OR state = 'settled'),
  amount_minor INTEGER NOT NULL,
  currency     TEXT NOT NULL,
  digest INTEGER NOT NULL,
  PRIMARY KEY (period, customer, purpose, attempt)
) STRICT, WITHOUT ROWID;
INSERT INTO cap_reservations
SELECT *, row_digest(period, customer, purpose, attempt, state, amount_minor, currency)
FROM cap_reservations_2;
DROP TABLE cap_reservations_2;

ALTER TABLE cap_limits RENAME TO cap_limits_2;
CREATE TABLE cap_limits (
  period      TEXT NOT NULL,
  currency    TEXT NOT NULL,
  customer    TEXT NOT NULL,
  limit_minor INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  PRIMARY KEY (period, currency, customer)
) STRICT, WITHOUT ROWID;
INSERT INTO cap_limits
SELECT *, row_digest(period, currency, customer, limit_minor) FROM cap_limits_2;
DROP TABLE cap_limits_2;

ALTER TABLE snapshots RENAME TO snapshots_2;
CREATE TABLE snapshots (
  entity         INTEGER PRIMARY KEY REFERENCES entities (id),
  at             INTEGER NOT NULL,
  head           BLOB NOT NULL,
  schema_version INTEGER NOT NULL,
  payload        TEXT NOT NULL,
  digest         INTEGER NOT NULL
) STRICT;
INSERT INTO snapshots
SELECT *, row_digest(entity, at, head, schema_version, payload) FROM snapshots_2;
DROP TABLE snapshots_2;

ALTER TABLE quarantine RENAME TO quarantine_2;
CREATE TABLE quarantine (
  persistence_id TEXT PRIMARY KEY,
  reason         TEXT NOT NULL,
  since          INTEGER NOT NULL,
  digest         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO quarantine SELECT *, row_digest(persistence_id, reason, since) FROM quarantine_2;
DROP TABLE quarantine_2;

ALTER TABLE plans ADD COLUMN digest INTEGER;
UPDATE plans SET digest = row_digest(hash, period, created_at, customers, to_bill)
WHERE hash IS NOT NULL;
)sql"},
}};

constexpr bool steps_lead_to_the_newest() {
  std::int64_t version = 1;
  for (const Step& step : steps) {
    if (step.to != ++version) return false;
  }
  return version == sqlite::schema_version;
}
static_assert(steps_lead_to_the_newest(), "a new schema version needs the step that leads to it");

Result<MigrationPlan> plan_of(sqlite::SqliteConnection& connection, const std::string& path) {
  const auto found = sqlite::stored_version(connection, path);
  if (!found.has_value()) return Unexpected{found.error()};
  if (!*found) return fail(ErrorCode::not_found, path + " is empty: no store was created there");
  MigrationPlan plan{**found, sqlite::schema_version, {}};
  for (const Step& step : steps) {
    if (step.to > plan.version) plan.steps.push_back({step.to, step.what});
  }
  return plan;
}

Result<Unit> run_steps(sqlite::SqliteConnection& connection, std::int64_t from) {
  for (const Step& step : steps) {
    if (step.to <= from) continue;
    if (auto done = connection.execute(step.sql); !done.has_value()) return done;
  }
  const std::string newest = std::to_string(sqlite::schema_version);
  auto named = connection.execute("UPDATE store_values SET value = '" + newest +
                                  "' WHERE name = 'schema'; PRAGMA user_version = " + newest);
  return named.has_value() ? sqlite::write_values_digest(connection) : named;
}

}  // namespace

Result<MigrationPlan> plan_migration(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::not_found, "there is no store at " + path);
  }
  auto connection = sqlite::connect_reader(path, {});
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  return plan_of(*connection, path);
}

Result<MigrationPlan> migrate_store(const std::string& path, bool dry_run, const std::string& vfs) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::not_found, "there is no store at " + path);
  }
  const auto lock = platform::FileLock::acquire(path + ".lock");
  if (!lock.has_value()) return Unexpected{lock.error()};
  auto connection = sqlite::connect_migrator(path, vfs);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  if (auto begun = connection->execute("BEGIN IMMEDIATE"); !begun.has_value()) {
    return Unexpected{std::move(begun).error()};
  }
  // Inside the transaction: nobody can migrate between the look and the steps.
  auto plan = plan_of(*connection, path);
  if (!plan.has_value()) return plan;
  if (auto done = run_steps(*connection, plan->version); !done.has_value()) {
    return Unexpected{std::move(done).error()};  // closing the connection rolls back
  }
  auto ended = connection->execute(dry_run || plan->steps.empty() ? "ROLLBACK" : "COMMIT");
  if (!ended.has_value()) return Unexpected{std::move(ended).error()};
  return plan;
}

}  // namespace onceward::journal
