// SqliteConnection and SqliteStatement on real files: values, errors as values, the cache, locks.
#include <onceward/platform/sqlite.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace onceward::platform {
namespace {

using Step = SqliteStatement::Step;
using std::string_literals::operator""s;

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string file(const std::string& name = "test.db") const {
    return directory_ / name;
  }
  SqliteConnection open(SqliteOpen how = SqliteOpen::create, std::chrono::milliseconds wait = {}) {
    auto opened =
        SqliteConnection::open({.path = file(), .open = how, .vfs = {}, .busy_timeout = wait});
    EXPECT_TRUE(opened.has_value()) << opened.error().context;
    return std::move(opened).value();
  }
  static void run(SqliteConnection& connection, const std::string& sql) {
    const auto done = connection.execute(sql);
    EXPECT_TRUE(done.has_value()) << done.error().context;
  }

 private:
  std::filesystem::path directory_ =
      std::filesystem::path(testing::TempDir()) /
      ("sqlite_test_" + std::to_string(::getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(SqliteTest, RoundTripsEveryKindOfValue) {
  SqliteConnection connection = open();
  run(connection, "CREATE TABLE t (i, t, e, b, n, o)");
  const std::string text = "a\0'b\xc3\xa9"s;
  const std::array<std::uint8_t, 3> bytes = {0, 255, 7};
  SqliteStatement insert = connection.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)").value();
  insert.bind(std::int64_t{-5}, text, std::string_view(), std::span<const std::uint8_t>(bytes),
              nullptr, std::optional<std::int64_t>(9));
  ASSERT_TRUE(insert.run().has_value());
  EXPECT_EQ(connection.changes(), 1);

  SqliteStatement select = connection.prepare("SELECT i, t, e, b, n, o FROM t").value();
  ASSERT_EQ(select.step(), Step::row);
  EXPECT_EQ(select.integer(0), -5);
  EXPECT_EQ(select.text(1), text);
  EXPECT_EQ(select.text(2), "");
  EXPECT_FALSE(select.is_null(2)) << "an empty text is not NULL";
  EXPECT_TRUE(std::ranges::equal(select.blob(3), bytes));
  EXPECT_TRUE(select.is_null(4));
  EXPECT_EQ(select.optional_integer(4), std::nullopt);
  EXPECT_EQ(select.optional_integer(5), 9);
  EXPECT_EQ(select.step(), Step::done);
}

TEST_F(SqliteTest, RunsAStatementAgainWithOtherValues) {
  SqliteConnection connection = open();
  run(connection, "CREATE TABLE t (i INTEGER PRIMARY KEY)");
  SqliteStatement insert = connection.prepare("INSERT INTO t VALUES (?)").value();
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(insert.bind(i).run().has_value());
  SqliteStatement select = connection.prepare("SELECT i FROM t WHERE i >= ? ORDER BY i").value();
  select.bind(2);
  ASSERT_EQ(select.step(), Step::row);
  select.bind(3);  // left on a row: starts again
  ASSERT_EQ(select.step(), Step::row);
  EXPECT_EQ(select.integer(0), 3);
}

TEST_F(SqliteTest, ReturnsFailuresAsErrorsAndWorksOn) {
  SqliteConnection connection = open();
  EXPECT_FALSE(connection.prepare("SELECT nothing FROM nowhere").has_value());
  EXPECT_FALSE(connection.execute("CREATE TABLE t (i INTEGER PRIMARY KEY); garbage").has_value());
  SqliteStatement insert = connection.prepare("INSERT INTO t VALUES (?)").value();
  ASSERT_TRUE(insert.bind(1).run().has_value());
  const auto again = insert.bind(1).run();
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::store_io);
  EXPECT_NE(again.error().context.find("UNIQUE"), std::string::npos) << again.error().context;
  EXPECT_NE(again.error().context.find(file()), std::string::npos) << again.error().context;
  EXPECT_EQ(insert.result_code(), 1555) << "SQLITE_CONSTRAINT_PRIMARYKEY";
  ASSERT_TRUE(insert.bind(2).run().has_value());
  EXPECT_EQ(insert.result_code(), 0);
  EXPECT_EQ(connection.value("SELECT count(*) FROM t").value(), "2");
}

TEST_F(SqliteTest, TellsFullFromDamagedFromOther) {
  {
    SqliteConnection connection = open();
    run(connection, "PRAGMA page_size = 512; CREATE TABLE t (b); PRAGMA max_page_count = 4");
    const auto full = connection.execute("INSERT INTO t VALUES (zeroblob(100000))");
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::store_full) << full.error().context;
    EXPECT_EQ(connection.error().code, ErrorCode::store_full);
  }
  std::ofstream(file(), std::ios::trunc) << std::string(4096, 'x');
  SqliteConnection damaged = open();
  const auto read = damaged.value("SELECT count(*) FROM sqlite_schema");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::store_corrupt) << read.error().context;
}

TEST_F(SqliteTest, OpensOnlyWhatItMay) {
  const auto open_as = [&](SqliteOpen how) {
    return SqliteConnection::open({.path = file(), .open = how, .vfs = {}});
  };
  EXPECT_FALSE(open_as(SqliteOpen::existing).has_value());
  EXPECT_FALSE(open_as(SqliteOpen::read_only).has_value());
  EXPECT_FALSE(std::filesystem::exists(file()));
  {
    SqliteConnection connection = open();
    run(connection, "CREATE TABLE t (i)");
  }
  SqliteConnection reader = open(SqliteOpen::read_only);
  EXPECT_FALSE(reader.execute("INSERT INTO t VALUES (1)").has_value());
  EXPECT_EQ(reader.value("SELECT count(*) FROM t").value(), "0");
  const auto unknown = SqliteConnection::open({.path = file(), .vfs = "no-such-vfs"});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().context.find(file()), std::string::npos);
}

TEST_F(SqliteTest, TheCacheGivesTheSameStatementReset) {
  SqliteConnection connection = open();
  run(connection, "CREATE TABLE t (i); INSERT INTO t VALUES (1), (2)");
  SqliteStatement* const first = connection.cached("SELECT i FROM t ORDER BY i").value();
  ASSERT_EQ(first->step(), Step::row);
  SqliteConnection moved = std::move(connection);
  SqliteStatement* const second = moved.cached("SELECT i FROM t ORDER BY i").value();
  EXPECT_EQ(first, second);
  ASSERT_EQ(second->step(), Step::row);
  EXPECT_EQ(second->integer(0), 1) << "it began anew";
  EXPECT_FALSE(moved.cached("SELECT broken FROM t").has_value());
}

TEST_F(SqliteTest, KnowsWhetherATransactionIsOpenAndWaitsForLocksOnlyAsLongAsTold) {
  SqliteConnection writer = open();
  run(writer, "CREATE TABLE t (i)");
  EXPECT_FALSE(writer.is_in_transaction());
  run(writer, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
  EXPECT_TRUE(writer.is_in_transaction());
  SqliteConnection other = open(SqliteOpen::existing, std::chrono::milliseconds(1));
  const auto refused = other.execute("BEGIN IMMEDIATE");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::store_io);
  run(writer, "ROLLBACK");
  EXPECT_FALSE(writer.is_in_transaction());
  run(other, "BEGIN IMMEDIATE; INSERT INTO t VALUES (2); COMMIT");
  EXPECT_EQ(writer.value("SELECT i FROM t").value(), "2");
}

TEST_F(SqliteTest, AnAbsentRowIsNotFound) {
  SqliteConnection connection = open();
  const auto none = connection.value("SELECT 1 WHERE 0");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace onceward::platform
