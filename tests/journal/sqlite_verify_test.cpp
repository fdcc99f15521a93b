// verify_store() and replay against stores that were changed by hand or damaged on disk.
#include <fstream>

#include <onceward/core/chain.hpp>
#include <onceward/platform/sqlite.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

using platform::SqliteConnection;

class SqliteVerifyTest : public JournalFixture<SqliteBackend> {
 protected:
  /// Three entities with four events each, rows, marks, caps and a snapshot; closed.
  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) {
      CommitUnit one = unit(entity(name), {R"({"n":1})", R"({"n":2})"});
      one.rows.push_back(claim(open_row(key(name))));
      one.marks.push_back({"m", name, "", std::nullopt});
      one.caps.push_back(cap(CapOp::Kind::reserve, key(name), usd(10)));
      one.snapshot = SnapshotRecord{1, "{}"};
      store(one);
    }
    for (const char* name : {"a", "b", "c"})
      store(unit(entity(name), {R"({"n":3})", R"({"n":4})"}));
    backend().close();
    ASSERT_TRUE(findings().empty()) << "a good store is clean";
  }

  std::vector<Finding> findings() {
    auto found = verify_store({.path = backend().path()}, {});
    EXPECT_TRUE(found.has_value()) << found.error().context;
    return found.has_value() ? std::move(found).value() : std::vector<Finding>();
  }
  /// Runs SQL by hand, past the triggers, and expects a finding whose place or text has `text`.
  void expect_found(const std::string& sql, const std::string& text) {
    {
      auto connection = SqliteConnection::open({.path = backend().path(), .vfs = {}});
      ASSERT_TRUE(connection.has_value());
      const auto done = connection->execute(
          "PRAGMA ignore_check_constraints = ON; DROP TRIGGER IF EXISTS events_are_not_changed; "
          "DROP TRIGGER IF EXISTS events_are_not_deleted; " +
          sql);
      ASSERT_TRUE(done.has_value()) << done.error().context;
    }
    std::string all;
    for (const Finding& finding : findings()) all += finding.where + ": " + finding.what + "\n";
    EXPECT_NE(all.find(text), std::string::npos) << "no \"" << text << "\" in:\n" << all;
  }
  /// Replays an entity without opening the store for writing.
  Result<HistoryEnd> replayed(const char* name) {
    auto opened = open_read_only({.path = backend().path()});
    EXPECT_TRUE(opened.has_value()) << opened.error().context;
    return opened->reader->replay(entity(name), {}, [](auto&&...) { return true; });
  }
  void expect_only_b_broken() {
    EXPECT_EQ(replayed("b").error().code, ErrorCode::store_corrupt);
    EXPECT_TRUE(replayed("a").has_value()) << "the others go on";
    EXPECT_TRUE(replayed("c").has_value());
  }
};

TEST_F(SqliteVerifyTest, TellsProgressInEvents) {
  std::vector<std::uint64_t> told;
  ASSERT_TRUE(
      verify_store({.path = backend().path()}, [&](std::uint64_t n) { told.push_back(n); }));
  EXPECT_EQ(told, std::vector<std::uint64_t>{12});
}

TEST_F(SqliteVerifyTest, FindsAnEditedPayload) {
  expect_found("UPDATE events SET payload = '{\"n\":9}' WHERE position = 3", "customer/b 1");
  expect_only_b_broken();
}
TEST_F(SqliteVerifyTest, FindsEachOtherEditedColumn) {
  expect_found(
      "UPDATE events SET at = at + 1 WHERE position = 1;"
      "UPDATE events SET writer = 'x' WHERE position = 3;"
      "UPDATE events SET manifest = 'x' WHERE position = 5",
      "customer/c 1");
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(replayed(name).error().code, ErrorCode::store_corrupt) << name;
  }
}
TEST_F(SqliteVerifyTest, FindsAnEditedVersionOrEpoch) {
  expect_found(
      "UPDATE events SET version = 2 WHERE position = 1;"
      "UPDATE events SET epoch = 9 WHERE position = 3",
      "customer/a 1");
  EXPECT_FALSE(replayed("a").has_value());
  EXPECT_FALSE(replayed("b").has_value());
  EXPECT_TRUE(replayed("c").has_value());
}
TEST_F(SqliteVerifyTest, FindsADeletedEventInTheMiddle) {
  expect_found("DELETE FROM events WHERE position = 3", "position 4: events before it are missing");
  expect_only_b_broken();
}
TEST_F(SqliteVerifyTest, FindsADeletedLastEvent) {
  expect_found("DELETE FROM events WHERE position = 10", "customer/b: history of customer/b");
  expect_only_b_broken();
}
TEST_F(SqliteVerifyTest, FindsADeletedHistory) {
  expect_found("DELETE FROM events WHERE entity = 2", "missing");
  EXPECT_EQ(replayed("b").error().code, ErrorCode::store_corrupt)
      << "an entity without its events must not look new";
  auto opened = open_read_only({.path = backend().path()});
  opened->reader->replay_many(
      std::vector{entity("b")}, [](auto&&...) { return true; },
      [](const PersistenceId&, const Result<HistoryEnd>& end) { EXPECT_FALSE(end.has_value()); });
}
TEST_F(SqliteVerifyTest, FindsSwappedEvents) {
  expect_found(
      "UPDATE events SET sequence_nr = -1 WHERE position = 3;"
      "UPDATE events SET sequence_nr = 1 WHERE position = 4;"
      "UPDATE events SET sequence_nr = 2 WHERE position = 3",
      "customer/b 2");
  expect_only_b_broken();
}
TEST_F(SqliteVerifyTest, FindsSwappedPositions) {
  expect_found(
      "UPDATE events SET position = 99 WHERE position = 1;"
      "UPDATE events SET position = 1 WHERE position = 3;"
      "UPDATE events SET position = 3 WHERE position = 99",
      "rolling hash");
}
TEST_F(SqliteVerifyTest, FindsAForgedTailWithACorrectChain) {
  const StoredEvent last = [&] {
    auto opened = open_read_only({.path = backend().path()});
    StoredEvent found;
    (void)opened->reader->replay(entity("c"), {}, [&](const PersistenceId&, StoredEvent&& event) {
      found = std::move(event);
      return true;
    });
    return found;
  }();
  const Digest head = chain_next(last.head, {.persistence_id = "customer/c",
                                             .sequence_nr = SequenceNr{5},
                                             .manifest = "Tested/v1",
                                             .payload = "5",
                                             .epoch = Epoch{1},
                                             .writer = "forger",
                                             .at_ms = 5});
  expect_found("INSERT INTO events VALUES (13, 3, 5, 'Tested', 1, '5', 1, 'forger', 5, x'" +
                   to_hex(head) + "'); UPDATE entities SET last = 5, head = x'" + to_hex(head) +
                   "' WHERE id = 3",
               "store_state");
  EXPECT_TRUE(replayed("c").has_value()) << "the entity's own chain cannot show it";
}
TEST_F(SqliteVerifyTest, FindsCommitsRemovedFromTheEnd) {
  // By somebody who knows the format: events, ends, state and commits all agree; not the anchor.
  expect_found(
      "DELETE FROM events WHERE position > 6; "
      "UPDATE entities SET last = 2, head = (SELECT head FROM events WHERE entity = entities.id "
      "AND "
      "sequence_nr = 2); DELETE FROM commits WHERE commit_count > 3; UPDATE store_state SET "
      "(commit_count, last_position, rolling) = (SELECT commit_count, last_position, rolling FROM "
      "commits WHERE commit_count = 3)",
      "its anchor knows of 6");
}
TEST_F(SqliteVerifyTest, FindsChangedBookkeeping) {
  expect_found("UPDATE store_state SET rolling = zeroblob(32)", "rolling hash");
  expect_found("UPDATE commits SET rolling = zeroblob(32) WHERE commit_count = 3", "commit 3");
  expect_found("UPDATE store_state SET obligations = 2", "counts of obligations");
  expect_found("UPDATE cap_totals SET reserved_minor = 29", "spend cap of 2026-08 in usd");
  expect_found("UPDATE snapshots SET at = 1 WHERE entity = 1", "snapshot of entity 1");
  expect_found("UPDATE entities SET shard = (shard + 1) % 4 WHERE id = 1", "a shard");
  expect_found("UPDATE epochs SET epoch = 0", "an epoch that was never taken");
  expect_found("INSERT INTO commits VALUES (100, 50, zeroblob(32), 0)", "commit 100");
}
TEST_F(SqliteVerifyTest, FindsEditsOfWhatNoEventImplies) {
  const std::string changed = "it was changed: its digest is wrong";
  expect_found("UPDATE marks SET fingerprint = 'x' WHERE key = 'a'", "mark m a: " + changed);
  expect_found("UPDATE cap_reservations SET customer = 'z' WHERE customer = 'a'",
               "spend cap of customer z for 2026-08: " + changed);
  expect_found("UPDATE snapshots SET payload = '{ }' WHERE entity = 2",
               "snapshot of entity 2: " + changed);
  expect_found("INSERT INTO cap_limits VALUES ('2026-08', 'usd', '', 1000, 0)",
               "cap limit of 2026-08 in usd: " + changed);
  expect_found("INSERT INTO quarantine VALUES ('customer/x', 'none', 1, 0)",
               "quarantine of customer/x: " + changed);
  expect_found("UPDATE store_values SET value = 'other' WHERE name = 'namespace'",
               "store_values: " + changed);
  expect_found("UPDATE store_state SET commit_count = 7", "store_state: " + changed);
  expect_found("UPDATE commits SET commit_count = 4 WHERE commit_count = 3",
               "commit 4: " + changed);
}
TEST_F(SqliteVerifyTest, ADamagedSnapshotIsNotRead) {
  const auto snapshot = [&] {
    return open_read_only({.path = backend().path()})->reader->snapshot(entity("a"));
  };
  ASSERT_TRUE(snapshot()->has_value());
  expect_found("UPDATE snapshots SET payload = '{ }' WHERE entity = 1", "snapshot of entity 1");
  EXPECT_FALSE(snapshot()->has_value()) << "the events are replayed instead";
}
TEST_F(SqliteVerifyTest, FindsAChangedSchema) {
  expect_found("SELECT 1", "schema: trigger events_are_not_changed is missing");
  expect_found("DROP INDEX obligations_due", "schema: index obligations_due is missing");
  expect_found("CREATE INDEX obligations_due ON obligations (next_action_at)",
               "schema: index obligations_due");
}
TEST_F(SqliteVerifyTest, FindsEpochsThatWereNeverTaken) {
  expect_found("UPDATE obligations SET epoch = 99 WHERE customer = 'a'", "customer a");
  expect_found("UPDATE epochs SET shard = 77 WHERE shard = 3", "a shard has no epoch");
}
TEST_F(SqliteVerifyTest, FindsRowsThatAreNoRows) {
  expect_found("UPDATE obligations SET status = 'paid' WHERE customer = 'a'", "customer a");
  expect_found("UPDATE obligations SET currency = 'xx' WHERE customer = 'b'", "customer b");
  expect_found("UPDATE obligations SET period = '2026-8' WHERE customer = 'c'", "customer c");
  auto opened = open_read_only({.path = backend().path()});
  const auto row = opened->reader->row(key("a"));
  ASSERT_FALSE(row.has_value());
  EXPECT_EQ(row.error().code, ErrorCode::store_corrupt);
}

TEST_F(SqliteVerifyTest, FindsDamagedPages) {
  const auto size = std::filesystem::file_size(backend().path());
  ASSERT_GT(size, 4096U * 10);
  std::ifstream in(backend().path(), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  int found = 0;
  int pages = 0;
  for (std::size_t at = 0; at + 4096 <= good.size(); at += 4096) {
    std::string bad = good;
    bad.replace(at, 512, 512, '\0');
    std::ofstream(backend().path(), std::ios::binary | std::ios::trunc) << bad;
    const auto result = verify_store({.path = backend().path()}, {});
    ++pages;
    found += !result.has_value() || !result->empty() ? 1 : 0;
  }
  EXPECT_EQ(found, pages) << "a page whose head is zeroed";
  std::ofstream(backend().path(), std::ios::binary | std::ios::trunc)
      << good.substr(0, good.size() / 2);
  const auto truncated = verify_store({.path = backend().path()}, {});
  EXPECT_TRUE(!truncated.has_value() || !truncated->empty());
}

TEST_F(SqliteVerifyTest, SaysWhatIsNoStore) {
  const auto none = verify_store({.path = backend().directory().file("none.db")}, {});
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  std::ofstream(backend().path(), std::ios::trunc) << std::string(5000, 'x');
  EXPECT_FALSE(findings().empty());
  std::ofstream(backend().path(), std::ios::trunc) << "";
  EXPECT_FALSE(findings().empty()) << "empty, but its anchor knows of commits";
}

TEST_F(SqliteVerifyTest, IsCleanWhileTheStoreIsWrittenTo) {
  backend().open();
  store(unit(entity("d"), {"1"}));
  EXPECT_TRUE(findings().empty());
}

}  // namespace
}  // namespace onceward::journal::testing
