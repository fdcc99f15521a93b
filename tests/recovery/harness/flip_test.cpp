// Every byte of a small store is changed in turn: either verification finds it, or nothing that is
// stored has changed: all tables and all indexes, read row by row, say the same. ONCEWARD_LONG=1
// takes every byte, otherwise every 19th, which meets each kind of row.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <map>

#include <onceward/harness/crash_disk.hpp>
#include <onceward/journal/plan_store.hpp>
#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/sqlite.hpp>
#include <onceward/recovery/verify.hpp>

#include "tests/journal/sqlite_backend.hpp"
#include "tests/recovery/harness/billing_flow.hpp"

namespace onceward::harness {
namespace {

using journal::SqliteJournal;
using platform::SqliteConnection;

class FlipTest : public ::testing::Test {
 protected:
  /// A store with something in each table.
  void SetUp() override {
    auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    ASSERT_TRUE(onceward::testing::BillingFlow(**opened).bill({"a", "b", "c"}, "2026-08"));
    fill_the_rest(**opened);
  }

  /// An anchor after every commit: nothing lies behind the last one.
  Result<std::unique_ptr<SqliteJournal>> open() {
    return SqliteJournal::open({.path = path(),
                                .identity = journal::testing::test_identity(),
                                .anchor_every = 1,
                                .vfs = disk_.vfs(),
                                .anchors = &disk_});
  }

  static CommitUnit unit_of(SqliteJournal& journal, const char* name) {
    const PersistenceId id(name);
    CommitUnit unit;
    unit.persistence_id = id;
    unit.shard = journal::shard_of(id, 4);
    unit.epoch = journal.epoch_of(unit.shard);
    unit.writer = WriterId("writer");
    return unit;
  }

  void fill_the_rest(SqliteJournal& journal) {
    const auto period = *BillingPeriod::parse("2026-08");
    const auto usd = *Currency::parse("usd");
    CommitUnit unit = unit_of(journal, "inbox/pi_1");
    unit.events.push_back({{"Hinted", 1}, R"({"a":1})"});
    unit.snapshot = SnapshotRecord{1, R"({"state":1})"};
    unit.marks.push_back({"webhook", "evt_1", "f", Timestamp{99}});
    unit.limits.push_back({period, CustomerId(""), Money{1'000'000, usd}});
    ASSERT_TRUE(std::holds_alternative<Stored>(journal.commit({&unit, 1}).at(0)));
    ASSERT_TRUE(journal.quarantine(PersistenceId("customer/z"), "damaged", Timestamp{5}));
    auto plans = journal.plan_store();
    ASSERT_TRUE(plans.has_value());
    auto plan = (*plans)->begin(period, Timestamp{7});
    ASSERT_TRUE(plan.has_value());
    journal::PlanRow row{CustomerId("a"), Purpose("subscription"), Money{5, usd}, {}, {}, {}, {}};
    ASSERT_TRUE((*plan)->add(row));
    row.customer = CustomerId("b");
    row.skip_reason = "ended";
    ASSERT_TRUE((*plan)->add(row));
    ASSERT_TRUE((*plan)->finish().has_value());
  }

  /// Moves the log into the database file and makes its pages small, so that it has few bytes.
  void make_small() {
    auto connection = connect();
    ASSERT_TRUE(connection
                    .execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM; "
                             "PRAGMA journal_mode = WAL")
                    .has_value());
  }

  std::string path() { return directory_.file("billing.db"); }
  SqliteConnection connect() {
    auto opened = SqliteConnection::open({.path = path(), .vfs = disk_.vfs()});
    EXPECT_TRUE(opened.has_value());
    return std::move(opened).value();
  }

  /// Everything that any reader can see, or why he cannot.
  std::string content() {
    std::string seen;
    auto opened = SqliteConnection::open({.path = path(), .vfs = disk_.vfs()});
    if (!opened.has_value()) return opened.error().context;
    for (const char* from :
         {"sqlite_schema",
          "store_values",
          "store_state",
          "commits",
          "epochs",
          "entities",
          "events",
          "obligations",
          "refunds",
          "marks",
          "cap_reservations",
          "cap_totals",
          "cap_limits",
          "snapshots",
          "quarantine",
          "plans",
          "plan_rows",
          "plan_totals",
          "plan_skips",
          "pragma_user_version",
          "pragma_application_id",
          "events INDEXED BY sqlite_autoindex_events_1 WHERE entity > 0",
          "entities INDEXED BY sqlite_autoindex_entities_1 WHERE persistence_id > ''",
          "obligations INDEXED BY obligations_due WHERE next_action_at IS NOT NULL",
          "plans INDEXED BY sqlite_autoindex_plans_1 WHERE hash > ''"}) {
      seen += from;
      sqlite3_exec(
          opened->handle(), ("SELECT * FROM " + std::string(from)).c_str(),
          [](void* to, int count, char** values, char**) {
            for (int at = 0; at < count; ++at) {
              const char* const value = values[at];
              *static_cast<std::string*>(to) += value == nullptr ? "NULL" : value;
              *static_cast<std::string*>(to) += '|';
            }
            return 0;
          },
          &seen, nullptr);
      seen += sqlite3_errmsg(opened->handle());
    }
    return seen;
  }

  /// The first thing that verification says about the store; empty if it is clean.
  std::string finding() {
    const auto stored = journal::verify_store(disk_.files(path()), nullptr);
    if (!stored.has_value()) return stored.error().context;
    if (!stored->empty()) return stored->front().where + ": " + stored->front().what;
    auto store = journal::open_read_only(disk_.files(path()));
    if (!store.has_value()) return store.error().context;
    const auto folded = recovery::verify(*store->reader, nullptr);
    if (!folded.has_value()) return folded.error().context;
    return folded->differences.empty() ? "" : folded->differences.front().what;
  }

  /// Changes each byte of a file of the image in turn.
  void flip_each(const DiskImage& good, const std::string& file) {
    disk_.restart(good, DiskModel::Kind::safe);
    ASSERT_EQ(finding(), "") << "a good store is clean";
    const std::string good_content = content();
    const std::size_t size = good.at(file).size();
    const std::size_t step = std::getenv("ONCEWARD_LONG") != nullptr ? 1 : 19;
    std::size_t found = 0;
    std::size_t unseen = 0;
    std::map<std::string, int> missed;
    for (std::size_t at = 0; at < size; at += step) {
      DiskImage bad = good;
      char& flipped = bad.at(file)[at];
      flipped = static_cast<char>(static_cast<unsigned char>(flipped) ^ (1U << (at % 8)));
      disk_.restart(bad, DiskModel::Kind::safe);
      if (!finding().empty()) {
        ++found;
        continue;
      }
      disk_.restart(std::move(bad), DiskModel::Kind::safe);
      const std::string now = content();
      if (now == good_content) {
        ++unseen;
        continue;
      }
      std::size_t from = 0;
      while (now[from] == good_content[from]) ++from;
      ++missed[now.substr(from < 30 ? 0 : from - 30, 60)];
    }
    std::printf("  %s: every %zu. of %zu bytes: %zu found, %zu outside of everything stored\n",
                file.c_str(), step, size, found, unseen);
    for (const auto& [where, count] : missed) ADD_FAILURE() << count << " not found: " << where;
    EXPECT_GT(found, size / step / 4) << "much of a small store is live";
  }

  journal::testing::TemporaryDirectory directory_;
  CrashDisk disk_;
};

TEST_F(FlipTest, EachFlippedByteOfTheDatabaseIsFoundOrSeenByNobody) {
  make_small();
  flip_each(disk_.model().image(), "billing.db");
}

TEST_F(FlipTest, EachFlippedByteOfTheAnchorIsFound) {
  flip_each(disk_.model().image(), "billing.db.anchor");
}

TEST_F(FlipTest, EachFlippedByteOfTheLogIsFoundOrSeenByNobody) {
  make_small();
  DiskImage killed;
  {
    auto opened = open();
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    for (const char* name : {"inbox/pi_2", "inbox/pi_3"}) {
      CommitUnit unit = unit_of(**opened, name);
      unit.events.push_back({{"Hinted", 1}, R"({"a":2})"});
      unit.marks.push_back({"webhook", name, "f", std::nullopt});
      ASSERT_TRUE(std::holds_alternative<Stored>((*opened)->commit({&unit, 1}).at(0)));
    }
    killed = disk_.model().image();
  }
  flip_each(killed, "billing.db-wal");
}

}  // namespace
}  // namespace onceward::harness
