// Backups of live stores, restores, and that nothing restored bills before it was reconciled.
#include <onceward/journal/store_backup.hpp>

#include <fstream>

#include <onceward/platform/sqlite.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

class SqliteBackupTest : public JournalFixture<SqliteBackend> {
 protected:
  void store_some(int commits) {
    for (int n = 0; n < commits; ++n) store(unit(entity("a"), {"1"}));
  }
  [[nodiscard]] std::string backup_path() { return backend().directory().file("copy"); }
  Result<BackupReport> back_up() { return backup_store({.path = backend().path()}, backup_path()); }
  /// The store is lost, or taken away; the anchor may stay.
  void lose_store() {
    backend().close();
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(backend().path() + suffix);
    }
  }
  ErrorCode code_of_open() {
    const auto opened = SqliteJournal::open(backend().options());
    return opened.has_value() ? ErrorCode{} : opened.error().code;
  }
};

TEST_F(SqliteBackupTest, CopiesALiveStoreWhole) {
  store_some(5);
  const auto report = back_up();
  ASSERT_TRUE(report.has_value()) << report.error().context;
  EXPECT_EQ(report->commit_count, 5U);
  EXPECT_EQ(report->events, 5U);
  store_some(1);  // the store goes on
  const auto copy = open_read_only({.path = backup_path()});
  ASSERT_TRUE(copy.has_value()) << copy.error().context;
  EXPECT_EQ(copy->reader->stats().value().events, 5U);
  for (const char* suffix : {"-wal", "-journal", ".anchor", ".unfinished"}) {
    EXPECT_FALSE(std::filesystem::exists(backup_path() + suffix)) << suffix;
  }
}

TEST_F(SqliteBackupTest, RefusesToOverwriteAndToCopyNothing) {
  store_some(1);
  ASSERT_TRUE(back_up().has_value());
  EXPECT_EQ(back_up().error().code, ErrorCode::conflict);
  EXPECT_EQ(backup_store({.path = backend().path() + "x"}, backup_path() + "x").error().code,
            ErrorCode::not_found);
}

TEST_F(SqliteBackupTest, LeavesNoCopyOfADamagedStore) {
  store_some(2);
  backend().close();
  {
    auto connection = platform::SqliteConnection::open({.path = backend().path(), .vfs = {}});
    ASSERT_TRUE(connection.has_value());
    ASSERT_TRUE(connection
                    ->execute("DROP TRIGGER events_are_not_changed; "
                              "UPDATE events SET payload = '2' WHERE position = 1")
                    .has_value());
  }
  const auto report = back_up();
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::store_corrupt);
  EXPECT_NE(report.error().context.find("customer/a 1"), std::string::npos)
      << report.error().context;
  EXPECT_FALSE(std::filesystem::exists(backup_path()));
  EXPECT_FALSE(std::filesystem::exists(backup_path() + ".unfinished"));
}

TEST_F(SqliteBackupTest, ACopyThatIsStartedRefusesToBill) {
  store_some(3);
  ASSERT_TRUE(back_up().has_value());
  SqliteJournalOptions options = backend().options();
  options.path = backup_path();
  const auto opened = SqliteJournal::open(options);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::store_restored) << opened.error().context;
}

TEST_F(SqliteBackupTest, ARestoredStoreRefusesToBillUntilItIsAccepted) {
  store_some(3);
  ASSERT_TRUE(back_up().has_value());
  store_some(4);  // what the backup does not know
  lose_store();
  const auto report = restore_store(backup_path(), {.path = backend().path()});
  ASSERT_TRUE(report.has_value()) << report.error().context;
  EXPECT_EQ(report->commit_count, 3U);
  EXPECT_EQ(code_of_open(), ErrorCode::store_restored);
  EXPECT_EQ(code_of_open(), ErrorCode::store_restored) << "a refused start changes nothing";
  EXPECT_TRUE(open_read_only({.path = backend().path()}).has_value()) << "to reconcile from";

  const auto accepted = accept_restored({.path = backend().path()}, "ops: compared by hand");
  ASSERT_TRUE(accepted.has_value()) << accepted.error().context;
  EXPECT_EQ(accept_restored({.path = backend().path()}, "ops: compared by hand").error().code,
            ErrorCode::conflict);
  backend().open();
  follow(entity("a"));
  store_some(1);
  EXPECT_EQ(payloads(entity("a")).size(), 4U);
  EXPECT_TRUE(verify_store({.path = backend().path()}, {}).value().empty());
}

TEST_F(SqliteBackupTest, WithoutAnAnchorARestoredStoreRefusesJustAsWell) {
  store_some(3);
  ASSERT_TRUE(back_up().has_value());
  lose_store();
  std::filesystem::remove(backend().path() + ".anchor");
  ASSERT_TRUE(restore_store(backup_path(), {.path = backend().path()}).has_value());
  EXPECT_EQ(code_of_open(), ErrorCode::store_restored);
}

TEST_F(SqliteBackupTest, RestoresNeitherOverAStoreNorUnderANode) {
  store_some(3);
  ASSERT_TRUE(back_up().has_value());
  EXPECT_EQ(restore_store(backup_path(), {.path = backend().path()}).error().code,
            ErrorCode::store_locked);
  backend().close();
  EXPECT_EQ(restore_store(backup_path(), {.path = backend().path()}).error().code,
            ErrorCode::conflict);
  lose_store();
  EXPECT_EQ(restore_store(backup_path() + "x", {.path = backend().path()}).error().code,
            ErrorCode::not_found);
  std::ofstream(backup_path() + "y") << "no store";
  EXPECT_FALSE(restore_store(backup_path() + "y", {.path = backend().path()}).has_value());
  EXPECT_FALSE(std::filesystem::exists(backend().path())) << "nothing is left behind";
}

TEST_F(SqliteBackupTest, RefusesADamagedBackup) {
  store_some(3);
  ASSERT_TRUE(back_up().has_value());
  lose_store();
  {
    auto connection = platform::SqliteConnection::open({.path = backup_path(), .vfs = {}});
    ASSERT_TRUE(connection.has_value());
    ASSERT_TRUE(connection->execute("UPDATE store_state SET rolling = zeroblob(32)").has_value());
  }
  EXPECT_EQ(restore_store(backup_path(), {.path = backend().path()}).error().code,
            ErrorCode::store_corrupt);
  EXPECT_FALSE(std::filesystem::exists(backend().path()));
}

}  // namespace
}  // namespace onceward::journal::testing
