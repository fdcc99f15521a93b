// verify_store(): everything about a store that can be checked without knowing what its events
// mean. One consistent look; findings are collected, nothing is repaired.
#include <array>
#include <map>
#include <unordered_map>

#include <onceward/journal/sqlite_journal.hpp>

#include "journal/history.hpp"
#include "journal/sqlite/anchor_check.hpp"
#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"
#include "journal/sqlite/row_digest.hpp"
#include "journal/sqlite/verify_plans.hpp"
#include "journal/sqlite/verify_schema.hpp"

namespace onceward::journal {
namespace sqlite {
namespace {

constexpr std::size_t findings_max = 1000;
constexpr std::uint64_t progress_every = 10'000;

const std::string all_events_sql =
    "SELECT v.position, v.entity, n.persistence_id, " + std::string(event_columns) +
    " FROM events v LEFT JOIN entities n ON n.id = v.entity ORDER BY v.position";
const std::string all_rows_sql = "SELECT " + std::string(row_columns) + " FROM obligations o";

/// Questions whose answer must be empty: the first column names the place.
struct Question {
  const char* sql;
  const char* what;
};
constexpr const char* wrong_digest = "it was changed: its digest is wrong";
const std::string values_changed_sql =
    "SELECT 'store_values' WHERE NOT EXISTS (SELECT 1 FROM store_values WHERE name = 'digest' AND "
    "value = " +
    std::string(values_digest_sql) + ")";
const std::array questions = {
    Question{"SELECT 'snapshot of entity ' || s.entity FROM snapshots s LEFT JOIN events v ON "
             "v.entity = s.entity AND v.sequence_nr = s.at WHERE v.head IS NOT s.head",
             "it does not lie on the history's chain"},
    Question{"SELECT 'spend cap of ' || period || ' in ' || currency FROM ("
             "SELECT period, currency, sum(iif(state = 'reserved', amount_minor, 0)) AS reserved, "
             "sum(iif(state = 'settled', amount_minor, 0)) AS settled FROM cap_reservations "
             "GROUP BY period, currency) r FULL JOIN cap_totals t USING (period, currency) WHERE "
             "coalesce(r.reserved, 0) IS NOT t.reserved_minor OR "
             "coalesce(r.settled, 0) IS NOT t.settled_minor",
             "its total is not the sum of its reservations"},
    Question{"SELECT 'store_state' FROM store_state WHERE obligations <> "
             "(SELECT count(*) FROM obligations) OR marks <> (SELECT count(*) FROM marks) OR "
             "open_obligations <> (SELECT count(*) FROM obligations WHERE status NOT IN "
             "('completed', 'waived', 'cancelled', 'uncollectible'))",
             "its counts of obligations or marks are wrong"},
    Question{
        "SELECT 'epochs' WHERE (SELECT min(shard) <> 0 OR max(shard) <> count(*) - 1 FROM epochs)",
        "a shard has no epoch, or one that does not exist has one"},
    Question{"SELECT 'obligation of customer ' || customer || ', period ' || period FROM "
             "obligations WHERE epoch NOT BETWEEN 1 AND (SELECT max(epoch) FROM epochs)",
             "its epoch was never taken"},
    Question{"SELECT 'mark ' || scope || ' ' || key FROM marks WHERE "
             "digest <> row_digest(scope, key, fingerprint, expires_at)",
             wrong_digest},
    Question{"SELECT 'spend cap of customer ' || customer || ' for ' || period FROM "
             "cap_reservations WHERE digest <> row_digest(period, customer, purpose, attempt, "
             "state, amount_minor, currency)",
             wrong_digest},
    Question{"SELECT 'cap limit of ' || period || ' in ' || currency FROM cap_limits WHERE "
             "digest <> row_digest(period, currency, customer, limit_minor)",
             wrong_digest},
    Question{"SELECT 'snapshot of entity ' || entity FROM snapshots WHERE "
             "digest <> row_digest(entity, at, head, schema_version, payload)",
             wrong_digest},
    Question{"SELECT 'quarantine of ' || persistence_id FROM quarantine WHERE "
             "digest <> row_digest(persistence_id, reason, since)",
             wrong_digest},
    Question{"SELECT 'store_state' FROM store_state WHERE digest <> row_digest(commit_count, "
             "last_position, rolling, obligations, open_obligations, marks)",
             wrong_digest},
    Question{"SELECT 'commit ' || commit_count FROM commits WHERE "
             "digest <> row_digest(commit_count, last_position, rolling)",
             wrong_digest},
    Question{"SELECT 'plan ' || id FROM plans WHERE hash IS NOT NULL AND "
             "digest IS NOT row_digest(hash, period, created_at, customers, to_bill)",
             wrong_digest},
    Question{values_changed_sql.c_str(), wrong_digest},
    Question{"SELECT 'epoch of shard ' || shard FROM epochs WHERE complement <> ~epoch",
             "it was changed: its complement is wrong"},
    // Readers take currencies in any case.
    Question{"SELECT 'obligation of customer ' || customer || ', period ' || period FROM "
             "obligations WHERE currency <> lower(currency)",
             "its currency was changed"},
    Question{"SELECT 'refund of customer ' || customer || ', period ' || period FROM refunds "
             "WHERE currency <> lower(currency)",
             "its currency was changed"},
    Question{"SELECT 'plan row of customer ' || customer FROM plan_rows "
             "WHERE currency <> lower(currency)",
             "its currency was changed"},
    Question{"SELECT 'commit ' || commit_count FROM commits WHERE commit_count > "
             "(SELECT commit_count FROM store_state)",
             "it lies beyond the store's commit counter"},
};

class Verifier {
 public:
  using Progress = std::function<void(std::uint64_t)>;

  Verifier(SqliteConnection& connection, const StoreFiles& files, const Progress& progress)
      : connection_(connection), files_(files), progress_(progress) {}

  Result<std::vector<Finding>> run();

 private:
  struct Entity {
    HistoryCheck check;
    Epoch last_epoch;
    bool is_broken = false;
  };

  void add(std::string where, std::string what);
  /// A table that cannot be read is a finding, not the end of the verification.
  void expect_read(const Result<Unit>& read, const std::string& what);

  void check_database();
  void check_recorded_values();
  void check_events();
  Result<Go> check_event(const SqliteStatement& row);
  void check_commit_rows();
  void check_entities();
  void check_rows();
  void check_state();

  SqliteConnection& connection_;
  const StoreFiles& files_;
  const Progress& progress_;
  std::vector<Finding> findings_;
  std::optional<RecordedValues> recorded_;
  std::optional<Anchor> anchor_;
  bool is_anchor_readable_ = true;

  std::unordered_map<std::int64_t, Entity> entities_;
  std::map<std::uint64_t, std::pair<std::uint64_t, Digest>> commits_;  // by last position
  std::uint64_t last_position_ = 0;
  Digest rolling_;
};

void Verifier::add(std::string where, std::string what) {
  if (findings_.size() < findings_max) findings_.push_back({std::move(where), std::move(what)});
}

void Verifier::expect_read(const Result<Unit>& read, const std::string& what) {
  if (!read.has_value()) add(what, "cannot be read: " + read.error().context);
}

Result<std::vector<Finding>> Verifier::run() {
  // Before the look at the store: an anchor written meanwhile would seem to be ahead of it.
  const auto anchor = read_anchor(files_);
  is_anchor_readable_ = anchor.has_value();
  if (anchor.has_value()) {
    anchor_ = *anchor;
  } else {
    add("anchor", anchor.error().context);
  }
  if (auto begun = connection_.execute("BEGIN"); !begun.has_value()) {
    return Unexpected{std::move(begun).error()};
  }
  check_database();
  check_recorded_values();
  check_commit_rows();
  check_events();
  check_entities();
  check_rows();
  check_state();
  (void)connection_.execute("ROLLBACK");  // nothing was written
  return std::move(findings_);
}

void Verifier::check_database() {
  const auto report = [&](const SqliteStatement& row) -> Result<Go> {
    if (row.text(0) != "ok") add("database", std::string(row.text(0)));
    return Go::on;
  };
  expect_read(for_each_row(connection_, "PRAGMA integrity_check(100)", report), "database");
  expect_read(for_each_row(connection_, "PRAGMA foreign_key_check",
                           [&](const SqliteStatement& row) -> Result<Go> {
                             add(std::string(row.text(0)) + " row " + std::string(row.text(1)),
                                 "refers to an absent row of " + std::string(row.text(2)));
                             return Go::on;
                           }),
              "database");
}

void Verifier::check_recorded_values() {
  auto recorded = recorded_values(connection_);
  if (recorded.has_value()) {
    recorded_ = std::move(recorded).value();
  } else {
    add("store_values", recorded.error().context);
  }
}

void Verifier::check_commit_rows() {
  expect_read(for_each_row(connection_, "SELECT commit_count, last_position, rolling FROM commits",
                           [&](const SqliteStatement& row) -> Result<Go> {
                             const auto rolling = read_digest(row, 2);
                             if (!rolling.has_value()) return Unexpected{rolling.error()};
                             const auto count = static_cast<std::uint64_t>(row.integer(0));
                             const auto position = static_cast<std::uint64_t>(row.integer(1));
                             const auto known = commits_.try_emplace(position, count, *rolling);
                             if (known.first->second.second != *rolling) {
                               add("commit " + std::to_string(count),
                                   "another commit has another hash at the same position");
                             }
                             return Go::on;
                           }),
              "commits");
}

void Verifier::check_events() {
  const auto start = commits_.find(0);
  if (start != commits_.end() && start->second.second != rolling_) {
    add("commit " + std::to_string(start->second.first), "its rolling hash is wrong");
  }
  const auto read = for_each_row(connection_, all_events_sql,
                                 [&](const SqliteStatement& row) { return check_event(row); });
  expect_read(read, "events after position " + std::to_string(last_position_));
  for (auto row = commits_.upper_bound(last_position_); row != commits_.end(); ++row) {
    add("commit " + std::to_string(row->second.first),
        "its events up to position " + std::to_string(row->first) + " are missing");
  }
  progress_(last_position_);
}

Result<Go> Verifier::check_event(const SqliteStatement& row) {
  const auto position = static_cast<std::uint64_t>(row.integer(0));
  const std::string place = "position " + std::to_string(position);
  if (position != last_position_ + 1) {
    add(place, "events before it are missing: the one before is " + std::to_string(last_position_));
  }
  last_position_ = position;
  const PersistenceId id(std::string(row.text(2)));
  auto event = read_event(row, 3);
  if (!event.has_value()) {
    add(place, event.error().context);
    return Go::on;
  }
  Entity& entity = entities_[row.integer(1)];
  if (!entity.is_broken) {
    // Only the first break of a history is told: all after it rests on it.
    const auto taken = entity.check.take(id, *event);
    entity.is_broken = !taken.has_value();
    if (entity.is_broken) {
      add(id.value() + " " + std::to_string(event->sequence_nr.value), taken.error().context);
    }
  }
  entity.last_epoch = event->epoch;
  rolling_ = rolling_after(rolling_, event->head);
  const auto commit = commits_.find(position);
  if (commit != commits_.end() && commit->second.second != rolling_) {
    add("commit " + std::to_string(commit->second.first),
        "its rolling hash is not that of the events up to position " + std::to_string(position));
  }
  if (position % progress_every == 0) progress_(position);
  return Go::on;
}

void Verifier::check_entities() {
  std::vector<Epoch> epochs;
  expect_read(for_each_row(connection_, "SELECT epoch FROM epochs ORDER BY shard",
                           [&](const SqliteStatement& row) -> Result<Go> {
                             epochs.push_back(Epoch{static_cast<std::uint64_t>(row.integer(0))});
                             return Go::on;
                           }),
              "epochs");
  const auto shards = static_cast<std::uint32_t>(epochs.size());
  const auto check_one = [&](const SqliteStatement& row) -> Result<Go> {
    const PersistenceId id(std::string(row.text(1)));
    const auto head = read_digest(row, 4);
    if (!head.has_value()) return Unexpected{head.error()};
    Entity& entity = entities_[row.integer(0)];
    const SequenceNr last{static_cast<std::uint64_t>(row.integer(3))};
    const auto ended = entity.check.end_at(id, last, *head);
    if (!entity.is_broken && !ended.has_value()) add(id.value(), ended.error().context);
    if (shards == 0) return Go::on;  // told above
    const ShardNr shard = shard_of(id, shards);
    if (shard.value != static_cast<std::uint32_t>(row.integer(2))) {
      add(id.value(), "it is stored under a shard that is not its own");
    } else if (entity.last_epoch > epochs[shard.value]) {
      add(id.value(), "it holds events of an epoch that was never taken");
    }
    return Go::on;
  };
  expect_read(for_each_row(connection_,
                           "SELECT id, persistence_id, shard, last, head FROM entities ORDER BY id",
                           check_one),
              "entities");
}

void Verifier::check_rows() {
  const auto check_one = [&](const SqliteStatement& statement) -> Result<Go> {
    if (const auto row = read_row(statement); !row.has_value()) {
      add("obligations", row.error().context);
    }
    return Go::on;
  };
  expect_read(for_each_row(connection_, all_rows_sql, check_one), "obligations");
  const auto report = [this](std::string name) {
    add("schema", name + " is missing or is not as this program creates it");
  };
  expect_read(find_changed_schema(connection_, report), "schema");
  const auto tell = [this](std::string where, std::string what) {
    add(std::move(where), std::move(what));
  };
  expect_read(find_changed_plans(connection_, tell), "plans");
  for (const Question& question : questions) {
    expect_read(for_each_row(connection_, question.sql,
                             [&](const SqliteStatement& row) -> Result<Go> {
                               add(std::string(row.text(0)), question.what);
                               return Go::on;
                             }),
                question.what);
  }
}

void Verifier::check_state() {
  const auto state = read_store_state(connection_);
  if (!state.has_value()) {
    add("store_state", state.error().context);
    return;
  }
  if (state->last_position != last_position_) {
    add("store_state", "it ends at position " + std::to_string(state->last_position) +
                           ", the events end at " + std::to_string(last_position_));
  } else if (state->rolling != rolling_) {
    add("store_state", "its rolling hash is not that of the events");
  }
  if (!recorded_ || !is_anchor_readable_) return;
  const auto compared =
      compare_with_anchor(anchor_, {files_.path, recorded_->store_id, *state}, connection_);
  if (!compared.has_value()) add("anchor", compared.error().context);
}

Result<std::vector<Finding>> verify(const StoreFiles& files, const Verifier::Progress& progress) {
  // Damage so deep that nothing can be asked is a finding like any other.
  const auto failed = [](const Error& error) -> Result<std::vector<Finding>> {
    if (error.code != ErrorCode::store_corrupt) return Unexpected{error};
    return std::vector{Finding{"database", error.context}};
  };
  auto connection = connect_reader(files.path, files.vfs);
  if (!connection.has_value()) return failed(connection.error());
  const auto kind = recognize(*connection, files.path);
  if (!kind.has_value()) return failed(kind.error());
  if (*kind == FileKind::empty) {
    auto fresh = expect_never_used(files);
    if (fresh.has_value()) return fail(ErrorCode::not_found, files.path + " holds no store yet");
    return std::vector{Finding{"database", fresh.error().context}};
  }
  return Verifier(*connection, files, progress).run();
}

}  // namespace
}  // namespace sqlite

Result<std::vector<Finding>> verify_store(const StoreFiles& files,
                                          const std::function<void(std::uint64_t)>& progress) {
  if (!sqlite::is_present(files)) {
    return fail(ErrorCode::not_found, "there is no store at " + files.path);
  }
  const sqlite::Verifier::Progress quiet = [](std::uint64_t) {};
  return sqlite::verify(files, progress ? progress : quiet);
}

}  // namespace onceward::journal
