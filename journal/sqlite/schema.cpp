// The schema as SQL text. Order of columns and keys matters for speed; see the comments in it.
#include "journal/sqlite/schema.hpp"

namespace onceward::journal::sqlite {

const char* const schema_sql = R"sql(
PRAGMA application_id = 0x4F4E4345;
PRAGMA user_version = 3;

-- `digest`: no event tells what such a row should hold, so it carries row_digest() of its others.
CREATE TABLE store_values (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
SELECT 1, 0, 0, zeroblob(32), 0, 0, 0, row_digest(0, 0, zeroblob(32), 0, 0, 0);

CREATE TABLE commits (
  commit_count  INTEGER PRIMARY KEY,
  last_position INTEGER NOT NULL,
  rolling       BLOB NOT NULL,
  digest        INTEGER NOT NULL
) STRICT;

CREATE TABLE epochs (
  shard      INTEGER PRIMARY KEY,
  epoch      INTEGER NOT NULL,
  complement INTEGER NOT NULL CHECK (complement = ~epoch)
) STRICT;

CREATE TABLE entities (
  id             INTEGER PRIMARY KEY,
  persistence_id TEXT NOT NULL UNIQUE,
  shard          INTEGER NOT NULL,
  last           INTEGER NOT NULL,
  head           BLOB NOT NULL
) STRICT;

CREATE TABLE events (
  position    INTEGER PRIMARY KEY,
  entity      INTEGER NOT NULL REFERENCES entities (id),
  sequence_nr INTEGER NOT NULL,
  manifest    TEXT NOT NULL,
  version     INTEGER NOT NULL,
  payload     TEXT NOT NULL,
  epoch       INTEGER NOT NULL,
  writer      TEXT NOT NULL,
  at          INTEGER NOT NULL,
  head        BLOB NOT NULL,
  UNIQUE (entity, sequence_nr)
) STRICT;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;

-- The period comes first: the rows of a billing run lie together instead of one page per customer.
-- A customer's rows are found by skipping from period to period, of which there are few; an index
-- by customer would cost each claim one more page.
CREATE TABLE obligations (
  period          TEXT NOT NULL,
  customer        TEXT NOT NULL,
  purpose         TEXT NOT NULL,
  status          TEXT NOT NULL,
  amount_minor    INTEGER NOT NULL,
  currency        TEXT NOT NULL,
  charge_id       TEXT NOT NULL,
  attempt         INTEGER NOT NULL,
  decline_code    TEXT NOT NULL,
  reason          TEXT NOT NULL,
  request_id      TEXT NOT NULL,
  initiated_at    INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  next_action_at  INTEGER,
  next_attempt_at INTEGER,
  epoch           INTEGER NOT NULL,
  PRIMARY KEY (period, customer, purpose),
  CONSTRAINT somebody_acts_next CHECK (
    next_action_at IS NOT NULL OR status = 'completed' OR status = 'waived' OR status = 'cancelled'
    OR status = 'uncollectible' OR status = 'parked' OR status = 'rejected' OR status = 'capped')
) STRICT, WITHOUT ROWID;
CREATE TRIGGER obligations_are_not_deleted BEFORE DELETE ON obligations
BEGIN SELECT RAISE(ABORT, 'obligations are never deleted'); END;
-- Answers the tick and the start-up query alone; closed rows are not in it.
CREATE INDEX obligations_due
  ON obligations (next_action_at, period, customer, purpose, epoch, status)
  WHERE next_action_at IS NOT NULL;
-- What a person may have to look at; few rows, whatever the size of the store.
CREATE INDEX obligations_attention
  ON obligations (customer, period, purpose)
  WHERE status IN ('parked', 'rejected', 'capped', 'uncollectible', 'processing',
                   'action_required') OR (status = 'completed' AND reason <> '');

-- The customer comes first: refunds are few and are asked for by customer.
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

CREATE TABLE marks (
  scope       TEXT NOT NULL,
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  expires_at  INTEGER,
  digest INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

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
CREATE TABLE cap_totals (
  period         TEXT NOT NULL,
  currency       TEXT NOT NULL,
  reserved_minor INTEGER NOT NULL,
  settled_minor  INTEGER NOT NULL,
  PRIMARY KEY (period, currency)
) STRICT, WITHOUT ROWID;
CREATE TABLE cap_limits (
  period      TEXT NOT NULL,
  currency    TEXT NOT NULL,
  customer    TEXT NOT NULL,
  limit_minor INTEGER NOT NULL,
  digest INTEGER NOT NULL,
  PRIMARY KEY (period, currency, customer)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
  entity         INTEGER PRIMARY KEY REFERENCES entities (id),
  at             INTEGER NOT NULL,
  head           BLOB NOT NULL,
  schema_version INTEGER NOT NULL,
  payload        TEXT NOT NULL,
  digest         INTEGER NOT NULL
) STRICT;

CREATE TABLE quarantine (
  persistence_id TEXT PRIMARY KEY,
  reason         TEXT NOT NULL,
  since          INTEGER NOT NULL,
  digest         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE plans (
  id         INTEGER PRIMARY KEY,
  hash       TEXT UNIQUE,
  period     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  customers  INTEGER NOT NULL,
  to_bill    INTEGER NOT NULL
, digest INTEGER) STRICT;  -- so placed by the step that added it
CREATE TABLE plan_rows (
  plan              INTEGER NOT NULL REFERENCES plans (id),
  customer          TEXT NOT NULL,
  purpose           TEXT NOT NULL,
  amount_minor      INTEGER NOT NULL,
  currency          TEXT NOT NULL,
  payment_method    TEXT NOT NULL,
  provider_customer TEXT NOT NULL,
  anchor            TEXT NOT NULL,
  skip_reason       TEXT NOT NULL,
  PRIMARY KEY (plan, customer, purpose)
) STRICT, WITHOUT ROWID;
CREATE TABLE plan_totals (
  plan         INTEGER NOT NULL REFERENCES plans (id),
  currency     TEXT NOT NULL,
  amount_minor INTEGER NOT NULL,
  PRIMARY KEY (plan, currency)
) STRICT, WITHOUT ROWID;
CREATE TABLE plan_skips (
  plan        INTEGER NOT NULL REFERENCES plans (id),
  skip_reason TEXT NOT NULL,
  customers   INTEGER NOT NULL,
  PRIMARY KEY (plan, skip_reason)
) STRICT, WITHOUT ROWID;

CREATE VIEW v1_events AS
SELECT e.position, n.persistence_id, e.sequence_nr, e.manifest, e.version, e.payload, e.epoch,
       e.writer, strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000.0, 'unixepoch') AS at, e.at AS at_ms,
       lower(hex(e.head)) AS head
FROM events e JOIN entities n ON n.id = e.entity;

CREATE VIEW v1_obligations AS
SELECT customer, period, purpose, status,
       status NOT IN ('completed', 'waived', 'cancelled', 'uncollectible') AS is_open,
       amount_minor, currency, charge_id, attempt, decline_code, reason, request_id,
       strftime('%Y-%m-%dT%H:%M:%fZ', initiated_at / 1000.0, 'unixepoch') AS initiated_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', next_action_at / 1000.0, 'unixepoch') AS next_action_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', next_attempt_at / 1000.0, 'unixepoch') AS next_attempt_at
FROM obligations;

CREATE VIEW v1_refunds AS
SELECT customer, period, purpose, number, status, status NOT IN ('succeeded', 'failed') AS is_open,
       amount_minor, currency, refund_id, reason, request_id, who, why,
       strftime('%Y-%m-%dT%H:%M:%fZ', requested_at / 1000.0, 'unixepoch') AS requested_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', next_action_at / 1000.0, 'unixepoch') AS next_action_at
FROM refunds;
)sql";

}  // namespace onceward::journal::sqlite
