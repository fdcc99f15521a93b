// The power fails at every change that the billing flow makes to its disk, in at least twelve ways,
// and again during the recoveries. Two settings must lose nothing; the weaker ones must be caught.
#include <onceward/harness/crash_states.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/sqlite.hpp>

#include "tests/journal/sqlite_backend.hpp"
#include "tests/recovery/harness/billing_flow.hpp"

namespace onceward::harness {
namespace {

using journal::SqliteJournal;
using onceward::testing::BillingFlow;

bool is_long() {
  return std::getenv("ONCEWARD_LONG") != nullptr;
}

class CrashStatesTest : public ::testing::Test {
 protected:
  struct Plan {
    WeakSettings settings{};
    LossSample losses{.count = is_long() ? 24U : 16U};
    int rounds = 2;  ///< of billing, a checkpoint, billing, and a restart
    std::uint64_t recovery_every = 0;
  };

  /// Bills six customers in each round, over a creation, checkpoints and clean restarts.
  CrashTally run(const Plan& plan) {
    // The same run each time: SQLite's own random numbers are in the images.
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, nullptr);
    const auto start = std::chrono::steady_clock::now();
    CrashDisk disk(plan.settings);
    const StoreUnderTest store{.directory = directory_.path(),
                               .identity = journal::testing::test_identity(),
                               .settings = plan.settings};
    CrashStates states(
        {.store = store, .losses = plan.losses, .recovery_every = plan.recovery_every}, disk);
    commits_ = 0;
    for (int round = 0; round < plan.rounds; ++round) bill_a_round(disk, states, store, round);
    const CrashTally& tally = states.tally();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf(
        "  %llu changes, %llu states (%.0f/s, %zu contents verified): %llu lost, "
        "%llu refused, %llu damaged; %llu with the unanswered commit\n",
        as_llu(tally.io_points), as_llu(tally.states), static_cast<double>(tally.states) / seconds,
        states.contents(), as_llu(tally.lost_acknowledged), as_llu(tally.refused),
        as_llu(tally.damaged), as_llu(tally.unanswered_kept));
    return tally;
  }

  void bill_a_round(CrashDisk& disk, CrashStates& states, const StoreUnderTest& store, int round) {
    auto opened = SqliteJournal::open({.path = store_path(store, "live"),
                                       .identity = store.identity,
                                       .anchor_every = store.anchor_every,
                                       .vfs = disk.vfs(),
                                       .anchors = &disk});
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    states.epoch_taken((*opened)->epoch_of(ShardNr{0}).value);
    BillingFlow flow(**opened);
    flow.before_commit = [&] { states.commit_begins(); };
    flow.stored = [&] { states.acknowledged(++commits_); };
    const std::string nr = std::to_string(round);
    ASSERT_TRUE(flow.bill({"a" + nr, "b" + nr, "c" + nr}, "2026-08"));
    checkpoint(disk, store);
    ASSERT_TRUE(flow.bill({"d" + nr, "e"}, std::to_string(2000 + round) + "-01"));
  }

  static void checkpoint(CrashDisk& disk, const StoreUnderTest& store) {
    auto connection =
        platform::SqliteConnection::open({.path = store_path(store, "live"), .vfs = disk.vfs()});
    ASSERT_TRUE(connection.has_value());
    EXPECT_TRUE(connection->execute("PRAGMA wal_checkpoint(RESTART)").has_value());
  }

  static unsigned long long as_llu(std::uint64_t value) { return value; }

  journal::testing::TemporaryDirectory directory_;
  std::uint64_t commits_ = 0;
};

// The bounds below add up to more than 10^5 restarts, ten times that with --long.
LossSample names_are_kept() {
  return {.count = is_long() ? 24U : 16U, .only_names = Loss::Names::all};
}

TEST_F(CrashStatesTest, WalWithFullSyncLosesNothing) {
  const CrashTally tally = run({.rounds = is_long() ? 80 : 13});
  EXPECT_EQ(tally.bad(), 0U) << tally.first_problem;
  EXPECT_GT(tally.unanswered_kept, 0U) << "no restart was late enough to find it";
  EXPECT_GE(tally.states, is_long() ? 350'000U : 34'000U);
}

TEST_F(CrashStatesTest, WalWithFullSyncLosesNothingWhenRecoveriesCrashToo) {
  const CrashTally tally =
      run({.rounds = is_long() ? 12 : 2, .recovery_every = is_long() ? 60U : 150U});
  EXPECT_EQ(tally.bad(), 0U) << tally.first_problem;
  EXPECT_GE(tally.states, is_long() ? 350'000U : 34'000U);
}

TEST_F(CrashStatesTest, RollbackJournalWithFullSyncLosesNothingButNames) {
  const WeakSettings settings{.journal_mode = "delete", .synchronous = "full"};
  const CrashTally tally =
      run({.settings = settings, .losses = names_are_kept(), .rounds = is_long() ? 60 : 8});
  EXPECT_EQ(tally.bad(), 0U) << tally.first_problem;
  EXPECT_GE(tally.states, is_long() ? 300'000U : 32'000U);
}

// Why the store uses the log: the removal of a rollback journal is the commit, and it is not synced
// at this setting. A restart that finds the journal again takes an answered commit back.
TEST_F(CrashStatesTest, RollbackJournalWithFullSyncMayLoseACommitWithItsName) {
  const CrashTally tally =
      run({.settings = {.journal_mode = "delete", .synchronous = "full"}, .rounds = 1});
  EXPECT_GT(tally.lost_acknowledged + tally.refused, 0U);
  EXPECT_EQ(tally.damaged, 0U) << tally.first_problem;
}

TEST_F(CrashStatesTest, RollbackJournalWithExtraSyncLosesNothing) {
  const CrashTally tally =
      run({.settings = {.journal_mode = "delete", .synchronous = "extra"}, .rounds = 1});
  EXPECT_EQ(tally.bad(), 0U) << tally.first_problem;
}

// Negative controls: the same flow over settings that sync less.
TEST_F(CrashStatesTest, WalWithNormalSyncIsCaught) {
  const CrashTally tally = run({.settings = {.synchronous = "normal"}, .rounds = 1});
  EXPECT_GT(tally.lost_acknowledged, 0U);
  EXPECT_GT(tally.refused, 0U) << "the anchor notices, too";
}

TEST_F(CrashStatesTest, WalWithoutSyncIsCaught) {
  const CrashTally tally = run({.settings = {.synchronous = "off"}, .rounds = 1});
  EXPECT_GT(tally.lost_acknowledged, 0U);
  EXPECT_GT(tally.damaged, 0U);
}

TEST_F(CrashStatesTest, RollbackJournalWithoutSyncIsCaught) {
  const WeakSettings settings{.journal_mode = "delete", .synchronous = "off"};
  const CrashTally tally = run({.settings = settings, .losses = names_are_kept(), .rounds = 1});
  EXPECT_GT(tally.damaged, 0U);
}

}  // namespace
}  // namespace onceward::harness
