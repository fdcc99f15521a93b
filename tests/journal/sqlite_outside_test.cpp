// What others do to a live store: they read it for long, hold its write lock, take the permission
// away. Nothing acknowledged is lost, and the store works again without being opened anew.
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <onceward/journal/store_backup.hpp>
#include <onceward/platform/sqlite.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

using platform::SqliteConnection;

/// Whom permissions bind: root may do everything. Back again at the end.
class AsUser {
 public:
  explicit AsUser(uid_t user) : before_(::geteuid()) { EXPECT_EQ(::seteuid(user), 0); }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;
  ~AsUser() { EXPECT_EQ(::seteuid(before_), 0); }

 private:
  const uid_t before_;
};

class SqliteOutsideTest : public JournalFixture<SqliteBackend> {
 protected:
  SqliteConnection foreign() {
    auto opened = SqliteConnection::open({.path = backend().path(), .vfs = {}});
    EXPECT_TRUE(opened.has_value()) << opened.error().context;
    return std::move(opened).value();
  }
  /// What the next process finds.
  void expect_events_after_reopening(std::size_t count) {
    backend().reopen();
    EXPECT_EQ(payloads(entity("a")).size(), count);
    backend().close();
    EXPECT_TRUE(verify_store({.path = backend().path()}, {}).value().empty());
    backend().open();
  }
};

TEST_F(SqliteOutsideTest, AForeignReaderAndABackupHoldNobodyUp) {
  store(unit(entity("a"), {"1"}));
  auto reader = foreign();
  ASSERT_TRUE(reader.execute("BEGIN").has_value());
  ASSERT_EQ(reader.value("SELECT count(*) FROM v1_events").value(), "1");
  for (int n = 0; n < 20; ++n) store(unit(entity("a"), {"1"}));
  const auto copied = backup_store({.path = backend().path()}, backend().directory().file("copy"));
  ASSERT_TRUE(copied.has_value()) << copied.error().context;
  EXPECT_EQ(copied->events, 21U);
  EXPECT_EQ(reader.value("SELECT count(*) FROM v1_events").value(), "1") << "one state";
  ASSERT_TRUE(reader.execute("COMMIT").has_value());
  EXPECT_EQ(reader.value("SELECT count(*) FROM v1_events").value(), "21");
  expect_events_after_reopening(21);
}

TEST_F(SqliteOutsideTest, ACommitThatAForeignWriteLockKeepsOutIsUnknownUntilTheBarrier) {
  store(unit(entity("a"), {"1"}));
  auto locker = foreign();
  ASSERT_TRUE(locker.execute("BEGIN IMMEDIATE").has_value());
  const CommitUnit late = unit(entity("b"), {"1"});
  const CommitAnswer answer = journal().commit(std::span(&late, 1)).at(0);
  ASSERT_TRUE(is<CommitUnknown>(answer)) << name_of(answer);
  const Error& error = std::get<CommitUnknown>(answer).error;
  EXPECT_EQ(error.code, ErrorCode::store_io);
  EXPECT_NE(error.context.find("locked"), std::string::npos) << error.context;
  EXPECT_TRUE(journal().barrier_pending());
  ASSERT_TRUE(locker.execute("ROLLBACK").has_value());
  ASSERT_TRUE(journal().barrier().has_value());
  follow(entity("a"));
  follow(entity("b"));
  EXPECT_TRUE(history(entity("b")).empty()) << "nothing of it was stored";
  store(unit(entity("a"), {"2"}));
  expect_events_after_reopening(2);
}

TEST_F(SqliteOutsideTest, APermissionThatWasTakenAwayIsToldAndOnceGivenBackTheStoreGoesOn) {
  constexpr uid_t nobody = 65534;
  const bool is_root = ::geteuid() == 0;
  const std::string directory = backend().directory().path();
  backend().close();
  if (is_root) {
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
      ASSERT_EQ(::chown(file.path().c_str(), nobody, nobody), 0);
    }
    ASSERT_EQ(::chown(directory.c_str(), nobody, nobody), 0);
  }
  const AsUser user(is_root ? nobody : ::geteuid());
  backend().open();
  store(unit(entity("a"), {"1"}));
  ASSERT_EQ(::chmod(backend().path().c_str(), 0), 0);
  FaultVfs::fail(FaultVfs::Operation::sync, "-wal", 1);
  const CommitUnit late = unit(entity("b"), {"1"});
  EXPECT_TRUE(is<CommitUnknown>(journal().commit(std::span(&late, 1)).at(0)));
  FaultVfs::heal();
  const auto refused = journal().barrier();
  EXPECT_FALSE(refused.has_value());
  if (!refused.has_value()) {
    EXPECT_NE(refused.error().context.find(backend().path()), std::string::npos)
        << refused.error().context;
  }
  EXPECT_TRUE(journal().barrier_pending());
  ASSERT_EQ(::chmod(backend().path().c_str(), 0600), 0);
  EXPECT_TRUE(journal().barrier().has_value());
  follow(entity("a"));
  store(unit(entity("a"), {"2"}));
  expect_events_after_reopening(2);
  backend().close();
}

TEST_F(SqliteOutsideTest, AClockThatWentBackwardsChangesNoOrder) {
  for (const std::int64_t at : {5'000, 1'000, 3'000, -1}) {
    CommitUnit made = unit(entity("a"), {std::to_string(at)});
    made.at = Timestamp{at};
    store(std::move(made));
  }
  EXPECT_EQ(payloads(entity("a")), (std::vector<std::string>{"5000", "1000", "3000", "-1"}));
  expect_events_after_reopening(4);
}

std::atomic<int> statements{0};
int count_statement(unsigned, void*, void*, void*) {
  ++statements;
  return 0;
}
int count_statements_of(sqlite3* connection, const char**, const void*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, count_statement, nullptr);
}

TEST_F(SqliteOutsideTest, AThousandDueCustomersAreReadWithAtMostTenStatements) {
  constexpr std::size_t customers = 1'000;
  std::vector<CommitUnit> group;
  std::vector<PersistenceId> ids;
  for (std::size_t n = 0; n < customers; ++n) {
    const std::string name = "c" + std::to_string(n);
    group.push_back(unit(entity(name), {"1", "2"}));
    group.back().rows.push_back(claim(open_row(key(name))));
    ids.push_back(entity(name));
  }
  for (const auto& answer : journal().commit(group)) ASSERT_TRUE(is<Stored>(answer));
  const auto hook = reinterpret_cast<void (*)()>(&count_statements_of);
  ASSERT_EQ(sqlite3_auto_extension(hook), SQLITE_OK);
  const auto counted = reader();
  ASSERT_EQ(sqlite3_cancel_auto_extension(hook), 1);
  statements = 0;
  EXPECT_EQ(counted->due(Timestamp{1'000'000}, customers)->size(), customers);
  std::size_t events = 0;
  std::size_t ends = 0;
  counted->replay_many(
      ids, [&](auto&&...) { return ++events > 0; },
      [&](const PersistenceId&, Result<HistoryEnd> end) { ends += end.has_value() ? 1U : 0U; });
  EXPECT_EQ(events, 2 * customers);
  EXPECT_EQ(ends, customers);
  EXPECT_GT(statements.load(), 0) << "nothing was counted";
  EXPECT_LE(statements.load(), 10);
}

}  // namespace
}  // namespace onceward::journal::testing
