// Stores of earlier schemas, as the releases that made them left them: refused by name, brought to
// the newest schema whole or not at all, and everything in them kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/journal/sqlite_migration.hpp>
#include <onceward/platform/sqlite.hpp>

#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

using platform::SqliteConnection;
using platform::SqliteOpen;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

SqliteConnection connect(const std::string& path, SqliteOpen how) {
  auto connection = SqliteConnection::open({.path = path, .open = how, .vfs = {}});
  EXPECT_TRUE(connection.has_value());
  return *std::move(connection);
}

std::string value_of(const std::string& path, const std::string& sql) {
  return connect(path, SqliteOpen::read_only).value(sql).value();
}

/// Names and definitions of everything in the schema, without layout and comments.
std::string schema_of(const std::string& path) {
  const std::string listed =
      value_of(path,
               "SELECT group_concat(entry, char(10)) FROM (SELECT type || ' ' || name || ' ' || "
               "coalesce(sql, '') AS entry FROM sqlite_schema ORDER BY type, name)");
  std::string plain;
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) plain += line.substr(0, line.find("--")) + ' ';
  plain.erase(
      std::unique(plain.begin(), plain.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
      plain.end());
  return plain;
}

class SqliteMigrationTest : public ::testing::Test {
 protected:
  ~SqliteMigrationTest() override { FaultVfs::heal(); }

  /// A store as a schema was released: of 21 customers in schema 1, one is capped.
  std::string golden(const std::string& name = "billing.db", int schema = 1) {
    const std::string path = directory_.file(name);
    const std::string stored = ONCEWARD_GOLDEN_DIR "/stores/schema_" + std::to_string(schema);
    auto connection = connect(path, SqliteOpen::create);
    const auto made = connection.execute(text_of(stored + ".sql").c_str());
    EXPECT_TRUE(made.has_value()) << made.error().context;
    std::ofstream(path + ".anchor") << text_of(stored + ".anchor");
    return path;
  }
  static SqliteJournalOptions options(const std::string& path, const char* ns = "acme-billing") {
    return {.path = path,
            .identity = {Namespace(ns), AccountLabel("default"), Mode::test, "v1", 256},
            .anchor_every = 1000,
            .vfs = {}};
  }
  TemporaryDirectory directory_;
};

TEST_F(SqliteMigrationTest, AnOlderStoreIsRefusedWithTheCommandThatHelps) {
  const std::string path = golden();
  const std::string before = text_of(path);
  for (const auto& error :
       {SqliteJournal::open(options(path)).error(), open_read_only({path}).error(),
        verify_store({path}, nullptr).error()}) {
    EXPECT_EQ(error.code, ErrorCode::store_mismatch);
    EXPECT_NE(error.context.find("onceward migrate up"), std::string::npos) << error.context;
  }
  EXPECT_EQ(text_of(path), before);
}

TEST_F(SqliteMigrationTest, PlansWithoutWriting) {
  const std::string path = golden();
  const std::string before = text_of(path);
  const auto plan = plan_migration(path);
  ASSERT_TRUE(plan.has_value()) << plan.error().context;
  EXPECT_EQ(plan->version, 1);
  ASSERT_EQ(plan->steps.size(), 2U);
  EXPECT_EQ(plan->steps[1].to, plan->newest);
  const auto tried = migrate_store(path, true);
  ASSERT_TRUE(tried.has_value()) << tried.error().context;
  EXPECT_EQ(tried->steps, plan->steps);
  EXPECT_EQ(value_of(path, "PRAGMA user_version"), "1");
  EXPECT_EQ(value_of(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'refunds'"), "0");
}

TEST_F(SqliteMigrationTest, KeepsEverythingAndEndsWhereANewStoreBegins) {
  const std::vector<std::string> kept = {
      "SELECT group_concat(hex(head)) FROM events",
      "SELECT group_concat(status || customer || amount_minor) FROM obligations",
      "SELECT group_concat(scope || key || fingerprint || expires_at) FROM marks",
      "SELECT group_concat(customer || state || amount_minor || currency) FROM cap_reservations",
      "SELECT group_concat(period || currency || customer || limit_minor) FROM cap_limits",
      "SELECT group_concat(commit_count || hex(rolling)) FROM commits",
      "SELECT group_concat(shard || epoch) FROM epochs",
      "SELECT group_concat(hash || customers || to_bill) FROM plans",
      "SELECT commit_count || hex(rolling) || obligations || marks FROM store_state"};
  for (const int schema : {1, 2}) {
    const char* const ns = schema == 1 ? "acme-billing" : "demo-billing";
    const std::string path = golden("schema" + std::to_string(schema) + ".db", schema);
    std::vector<std::string> before;
    for (const std::string& sql : kept) before.push_back(value_of(path, sql));
    EXPECT_NE(before[2], "") << "the golden store has marks";
    const auto done = migrate_store(path, false);
    ASSERT_TRUE(done.has_value()) << done.error().context;
    EXPECT_EQ(done->version, schema);

    for (std::size_t at = 0; at < kept.size(); ++at) {
      EXPECT_EQ(value_of(path, kept[at]), before[at]) << kept[at];
    }
    const auto migrated = verify_store({path}, nullptr);
    ASSERT_TRUE(migrated.has_value());
    EXPECT_TRUE(migrated->empty()) << migrated->front().where << ": " << migrated->front().what;
    const auto opened = SqliteJournal::open(options(path, ns));
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    const auto findings = verify_store({path}, nullptr);
    ASSERT_TRUE(findings.has_value());
    EXPECT_TRUE(findings->empty()) << findings->front().where << ": " << findings->front().what;

    const std::string fresh = directory_.file("fresh" + std::to_string(schema) + ".db");
    ASSERT_TRUE(SqliteJournal::open(options(fresh)).has_value());
    EXPECT_EQ(schema_of(path), schema_of(fresh));
    EXPECT_EQ(value_of(path, "PRAGMA user_version"), value_of(fresh, "PRAGMA user_version"));
    EXPECT_EQ(value_of(path, "SELECT value FROM store_values WHERE name = 'schema'"),
              value_of(fresh, "SELECT value FROM store_values WHERE name = 'schema'"));
  }
}

TEST_F(SqliteMigrationTest, DoesNothingTwiceAndNothingToANewStore) {
  const std::string path = golden();
  ASSERT_TRUE(migrate_store(path, false).has_value());
  const auto again = migrate_store(path, false);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->steps.empty());
  EXPECT_TRUE(plan_migration(path)->steps.empty());
}

TEST_F(SqliteMigrationTest, IsWholeOrAbsentWhateverWriteFails) {
  int failed = 0;
  for (int nth = 1;; ++nth) {
    const std::string path = golden("store" + std::to_string(nth) + ".db");
    FaultVfs::fail(FaultVfs::Operation::write, "", nth, 0, true);
    const auto done = migrate_store(path, false, FaultVfs::name());
    const bool is_hit = FaultVfs::failures() > 0;
    FaultVfs::heal();
    const std::string version = value_of(path, "PRAGMA user_version");
    const bool has_table =
        value_of(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'refunds'") == "1";
    const bool has_digests =
        value_of(path, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%digest%'") == "8";
    EXPECT_EQ(has_table, version == "3");
    EXPECT_EQ(has_digests, version == "3");
    EXPECT_EQ(value_of(path, "SELECT value FROM store_values WHERE name = 'schema'"), version);
    EXPECT_TRUE(version == "1" || version == "3");
    EXPECT_TRUE(!done.has_value() || version == "3");
    if (!is_hit) break;
    ++failed;
    ASSERT_TRUE(migrate_store(path, false).has_value());
    ASSERT_TRUE(SqliteJournal::open(options(path)).has_value());
  }
  EXPECT_GE(failed, 3) << "the migration writes; failing it must have been tried";
}

TEST_F(SqliteMigrationTest, LeavesALiveStoreAndOtherFilesAlone) {
  const std::string path = golden();
  ASSERT_TRUE(migrate_store(path, false).has_value());
  {
    const auto live = SqliteJournal::open(options(path));
    ASSERT_TRUE(live.has_value());
    EXPECT_EQ(migrate_store(path, false).error().code, ErrorCode::store_locked);
    EXPECT_TRUE(plan_migration(path).has_value());
  }
  EXPECT_EQ(plan_migration(directory_.file("absent.db")).error().code, ErrorCode::not_found);
  EXPECT_EQ(migrate_store(directory_.file("absent.db"), false).error().code, ErrorCode::not_found);
  const std::string foreign = directory_.file("foreign.db");
  (void)connect(foreign, SqliteOpen::create).execute("CREATE TABLE t (i)");
  const std::string before = text_of(foreign);
  EXPECT_EQ(migrate_store(foreign, false).error().code, ErrorCode::store_mismatch);
  EXPECT_EQ(text_of(foreign), before);
}

}  // namespace
}  // namespace onceward::journal::testing
