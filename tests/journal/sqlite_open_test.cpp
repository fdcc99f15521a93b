// Opening an SQLite store: what is refused, in which words, and that a refused store is not written
// to. Also reading without the lock, and the settings.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include <onceward/platform/sqlite.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/child_process.hpp"
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

using platform::SqliteConnection;

class SqliteOpenTest : public JournalFixture<SqliteBackend> {
 protected:
  [[nodiscard]] std::string path() { return backend().path(); }

  static void run_sql(const std::string& file, const std::string& sql) {
    auto connection = SqliteConnection::open({.path = file, .vfs = {}});
    ASSERT_TRUE(connection.has_value());
    const auto done = connection->execute(sql);
    ASSERT_TRUE(done.has_value()) << done.error().context;
  }
  static std::string bytes_of_file(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  /// Expects the open to fail with this code and to say all of the texts.
  static void expect_refused(const SqliteJournalOptions& options, ErrorCode code,
                             const std::vector<std::string>& texts) {
    const auto opened = SqliteJournal::open(options);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, code) << opened.error().context;
    for (const std::string& text : texts) {
      EXPECT_NE(opened.error().context.find(text), std::string::npos)
          << "no \"" << text << "\" in: " << opened.error().context;
    }
  }
};

TEST_F(SqliteOpenTest, RefusesEachRecordedValueThatDiffersByName) {
  store(unit(entity("a"), {"1"}));
  backend().close();
  const std::string before = bytes_of_file(path());
  const auto with = [&](const auto& change) {
    SqliteJournalOptions options = backend().options();
    change(options.identity);
    return options;
  };
  expect_refused(with([](StoreIdentity& i) { i.ns = Namespace("other"); }),
                 ErrorCode::store_mismatch, {path(), "namespace", "test-billing", "other"});
  expect_refused(with([](StoreIdentity& i) { i.account = AccountLabel("acct2"); }),
                 ErrorCode::store_mismatch, {path(), "account", "default", "acct2"});
  expect_refused(with([](StoreIdentity& i) { i.mode = Mode::live; }), ErrorCode::store_mismatch,
                 {path(), "mode", "test", "live"});
  expect_refused(with([](StoreIdentity& i) { i.key_scheme = "colon"; }), ErrorCode::store_mismatch,
                 {path(), "key_scheme", "v1", "colon"});
  expect_refused(with([](StoreIdentity& i) { i.shards = 8; }), ErrorCode::store_mismatch,
                 {path(), "shards", "4", "8"});
  EXPECT_EQ(bytes_of_file(path()), before) << "a refused store is not written to";
  backend().open();
  EXPECT_EQ(payloads(entity("a")).size(), 1U);
}

TEST_F(SqliteOpenTest, RefusesANewerSchemaAnotherProgramsDatabaseAndGarbage) {
  backend().close();
  run_sql(path(), "PRAGMA user_version = 4");
  const std::string before = bytes_of_file(path());
  expect_refused(backend().options(), ErrorCode::store_schema_newer,
                 {path(), "4", "newer release"});
  EXPECT_EQ(bytes_of_file(path()), before);

  SqliteJournalOptions other = backend().options();
  other.path = backend().directory().file("other.db");
  run_sql(other.path, "CREATE TABLE t (i)");
  const std::string foreign = bytes_of_file(other.path);
  expect_refused(other, ErrorCode::store_mismatch, {other.path, "another program"});
  EXPECT_EQ(bytes_of_file(other.path), foreign);

  other.path = backend().directory().file("garbage.db");
  std::ofstream(other.path) << std::string(10'000, 'x');
  expect_refused(other, ErrorCode::store_corrupt, {other.path, "another path"});
  EXPECT_EQ(bytes_of_file(other.path), std::string(10'000, 'x'));
}

TEST_F(SqliteOpenTest, RefusesDirectoriesThatAreAbsentOrNotWritable) {
  SqliteJournalOptions options = backend().options();
  options.path = "/nonexistent-directory/billing.db";
  expect_refused(options, ErrorCode::store_io, {"/nonexistent-directory", "create it"});
  options.path = "";
  expect_refused(options, ErrorCode::store_io, {"directory"});

  const std::string closed = backend().directory().file("closed");
  ASSERT_EQ(::mkdir(closed.c_str(), 0555), 0);
  options.path = closed + "/billing.db";
  // Root may write everywhere, so the child becomes somebody else first.
  ::chmod(backend().directory().path().c_str(), 0755);
  ChildProcess child([&](int) {
    if (::getuid() == 0 && ::setuid(65534) != 0) return 2;
    const auto opened = SqliteJournal::open(options);
    const bool is_right = !opened.has_value() && opened.error().code == ErrorCode::store_io &&
                          opened.error().context.find(options.path) != std::string::npos &&
                          opened.error().context.find("writable") != std::string::npos;
    return is_right ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(SqliteOpenTest, RefusesASecondOpenWhileTheFirstRunsOrIsStopped) {
  expect_refused(backend().options(), ErrorCode::store_locked,
                 {path(), "process " + std::to_string(::getpid())});
  backend().close();
  ChildProcess child([&](int descriptor) -> int {
    const auto opened = SqliteJournal::open(backend().options());
    tell(descriptor, opened.has_value() ? 1 : 0);
    for (;;) ::pause();
  });
  ASSERT_EQ(child.read(4), std::string("\1\0\0\0", 4));
  const std::string holder = "process " + std::to_string(child.pid());
  expect_refused(backend().options(), ErrorCode::store_locked, {path(), holder});
  child.stop();
  expect_refused(backend().options(), ErrorCode::store_locked, {path(), holder});
  child.kill();
  backend().open();
}

TEST_F(SqliteOpenTest, CreatesAStoreWithTheDocumentedSettingsAndObjects) {
  auto connection = SqliteConnection::open({.path = path(), .vfs = {}});
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(connection->value("PRAGMA journal_mode").value(), "wal");
  EXPECT_EQ(connection->value("PRAGMA application_id").value(), std::to_string(0x4F4E4345));
  EXPECT_EQ(connection->value("PRAGMA user_version").value(), "3");
  EXPECT_EQ(connection
                ->value("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                        "type = 'table' AND name NOT LIKE 'sqlite%' AND strict = 0")
                .value(),
            "0")
      << "every table is STRICT";
  EXPECT_FALSE(connection->execute("UPDATE events SET at = 1").has_value() &&
               connection->changes() > 0);
}

TEST_F(SqliteOpenTest, RefusesChangesOfEventsAndDeletionOfRowsByHand) {
  CommitUnit one = unit(entity("a"), {"1"});
  one.rows.push_back(claim(open_row(key("a"))));
  store(one);
  auto connection = SqliteConnection::open({.path = path(), .vfs = {}});
  ASSERT_TRUE(connection.has_value());
  for (const char* sql :
       {"UPDATE events SET payload = '2'", "DELETE FROM events", "DELETE FROM obligations",
        "UPDATE obligations SET next_action_at = NULL"}) {
    EXPECT_FALSE(connection->execute(sql).has_value()) << sql;
  }
}

TEST_F(SqliteOpenTest, ShowsTheVersionedViewsWhileItIsOpen) {
  CommitUnit one = unit(entity("a"), {R"({"amount":5})"});
  one.at = Timestamp{1'786'060'800'123};
  one.rows.push_back(claim(row_in(key("a"), ObligationStatus::declined)));
  one.rows[0].row.next_action_at = Timestamp{1'786'060'800'123};
  const Stored end = store(one);
  auto connection = SqliteConnection::open({.path = path(), .vfs = {}});
  ASSERT_TRUE(connection.has_value());
  EXPECT_EQ(
      connection
          ->value("SELECT group_concat(position || persistence_id || sequence_nr || manifest "
                  "|| version || (payload ->> '$.amount') || epoch || writer || at || at_ms "
                  "|| head) FROM v1_events")
          .value(),
      "1customer/a1Tested151writer-12026-08-07T00:00:00.123Z1786060800123" + to_hex(end.head));
  EXPECT_EQ(connection
                ->value("SELECT customer || period || purpose || status || is_open || amount_minor "
                        "|| currency || next_action_at FROM v1_obligations")
                .value(),
            "a2026-08subscriptiondeclined14990usd2026-08-07T00:00:00.123Z");
}

TEST_F(SqliteOpenTest, IsReadWithoutTheLockLiveAndStopped) {
  CommitUnit one = unit(entity("a"), {"1", "2"});
  one.rows.push_back(claim(open_row(key("a"))));
  store(one);
  for (const bool is_live : {true, false}) {
    if (!is_live) backend().close();
    auto opened = open_read_only({.path = path()});
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    EXPECT_EQ(opened->identity, test_identity());
    EXPECT_EQ(opened->reader->stats().value().events, 2U);
    const auto end = opened->reader->replay(entity("a"), {}, [](auto&&...) { return true; });
    EXPECT_EQ(end.value().last, SequenceNr{2});
    EXPECT_EQ(end.value().epoch, Epoch{1}) << "no epoch was raised";
    EXPECT_FALSE(opened->plans->begin(period(), now).has_value());
  }
  const auto none = open_read_only({.path = backend().directory().file("none.db")});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(backend().directory().file("none.db")));
}

TEST_F(SqliteOpenTest, RefusesAFileSystemThatCannotHoldAWriteAheadLog) {
  SqliteJournalOptions options = backend().options();
  options.path = backend().directory().file("second.db");
  options.vfs = "unix-none";  // SQLite's own, without the shared memory that the log needs
  expect_refused(options, ErrorCode::store_io, {options.path, "journal_mode", "local file system"});
}

TEST_F(SqliteOpenTest, RefusesAStoreWithoutShards) {
  SqliteJournalOptions options = backend().options();
  options.path = backend().directory().file("second.db");
  options.identity.shards = 0;
  expect_refused(options, ErrorCode::invalid_argument, {"shard"});
}

TEST_F(SqliteOpenTest, FencesAWriterThatIgnoresTheLock) {
  store(unit(entity("a"), {"1"}));
  const CommitUnit late = unit(entity("a"), {"2"});
  // Another program raises the epoch of all shards behind this one's back.
  run_sql(path(), "UPDATE epochs SET epoch = epoch + 1, complement = ~(epoch + 1)");
  EXPECT_EQ(name_of(commit_one(late)), "fenced by epoch");
  EXPECT_EQ(journal().epoch_of(late.shard), late.epoch) << "the shard is no longer ours";
  const auto end = reader()->replay(entity("a"), {}, [](auto&&...) { return true; });
  EXPECT_EQ(end.value().epoch, late.epoch) << "a reader does not hand out another's epoch";
  ASSERT_TRUE(journal().raise_epoch(late.shard).has_value());
  EXPECT_EQ(name_of(commit_one(unit(entity("a"), {"2"}))), "stored");
}

TEST_F(SqliteOpenTest, SeesWhatAForeignWriterChanged) {
  store(unit(entity("a"), {"1"}));
  run_sql(path(), "INSERT INTO cap_limits VALUES ('2026-08', 'usd', '', 10, 0)");
  CommitUnit over = unit(entity("b"), {"1"});
  over.caps.push_back(cap(CapOp::Kind::reserve, key("b"), usd(11)));
  EXPECT_EQ(name_of(commit_one(over)), "cap");
}

}  // namespace
}  // namespace onceward::journal::testing
