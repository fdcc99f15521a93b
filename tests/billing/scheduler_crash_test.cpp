// Runs through crashes and commits without an answer: at every commit, after every message, at
// random.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/billing/run_expectations.hpp"

namespace onceward::testing {
namespace {

using billing::RunStatus;

void crash_at_every_commit(RunCommit how, int rows, std::size_t commits) {
  for (std::size_t at = 1; at <= commits; ++at) {
    RunWorld world(window_of(16));
    const auto start = world.start_of(world.add_plan(plan_a, RunWorld::rows(rows)));
    world.fate = [&world, how, at](const CommitUnit&) {
      return world.commits() == at ? how : RunCommit::stored;
    };
    world.command(start);
    world.command(start);  // the sender that got no answer asks again
    world.run_to_end(3);
    SCOPED_TRACE("commit " + std::to_string(at));
    expect_all_billed(world, static_cast<std::size_t>(rows));
    // What is asked again: the rows since the cursor, and the window.
    EXPECT_LE(world.asks(), static_cast<std::size_t>(rows) + 64U + 16U);
    EXPECT_LE(world.open_max(), 32U);
    EXPECT_GE(world.commits(), commits);
  }
}

TEST(SchedulerCrash, SurvivesACrashBeforeEveryCommit) {
  crash_at_every_commit(RunCommit::crash_before, 1000, 17);
}

TEST(SchedulerCrash, SurvivesACrashAfterEveryCommit) {
  crash_at_every_commit(RunCommit::crash_after, 1000, 17);
}

TEST(SchedulerCrash, SurvivesAnUnknownAnswerToEveryCommit) {
  crash_at_every_commit(RunCommit::unknown_lost, 300, 6);
  crash_at_every_commit(RunCommit::unknown_stored, 300, 6);
}

TEST(SchedulerCrash, SurvivesTwoCrashesAtAnyTwoCommits) {
  for (std::size_t first = 1; first <= 6; ++first) {
    for (std::size_t second = first + 1; second <= 8; ++second) {
      RunWorld world(window_of(16));
      const auto start = world.start_of(world.add_plan(plan_a, RunWorld::rows(300)));
      world.fate = [&world, first, second](const CommitUnit&) {
        if (world.commits() == first) return RunCommit::crash_after;
        return world.commits() == second ? RunCommit::crash_before : RunCommit::stored;
      };
      world.command(start);
      world.command(start);
      world.run_to_end(3);
      expect_all_billed(world, 300);
    }
  }
}

TEST(SchedulerCrash, SurvivesACrashAfterAnyMessage) {
  for (int at = 0; at < 130; ++at) {
    RunWorld world(window_of(8));
    world.command(world.start_of(world.add_plan(plan_a, RunWorld::rows(40))));
    for (int i = 0; i < at; ++i) world.deliver();
    world.crash();
    world.run_to_end(3);
    expect_all_billed(world, 40);
  }
}

// Any order, any loss, any crash: with time passing, the run ends.
TEST(SchedulerCrash, EndsUnderRandomSchedules) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&random](unsigned percent) { return random() % 100 < percent; };
    RunWorld world(window_of(1 + seed % 20));
    world.pick = [&random](std::size_t n) { return random() % n; };
    world.fate = [&](const CommitUnit&) {
      if (!chance(6)) return RunCommit::stored;
      constexpr std::array<RunCommit, 4> all = {RunCommit::crash_before, RunCommit::crash_after,
                                                RunCommit::unknown_lost, RunCommit::unknown_stored};
      return all[random() % all.size()];
    };
    const auto start = world.start_of(world.add_plan(plan_a, RunWorld::rows(200)));
    for (int i = 1; i <= 200; ++i) {
      constexpr std::array<CustomerMood, 4> moods = {
          CustomerMood::busy, CustomerMood::uncertain_lost, CustomerMood::uncertain_stored,
          CustomerMood::silent};
      while (chance(30)) world.customer(i).moods.push_back(moods[random() % moods.size()]);
    }
    while (world.state().runs.empty()) world.command(start);
    for (int i = 0; i < 400 && billing::is_active(world.newest().status); ++i) {
      for (int n = 0; n < 40; ++n) world.deliver();
      if (chance(3)) world.crash();
      world.tick(chance(10) ? 31'000 : 1'000);
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_all_billed(world, 200);
  }
}

TEST(SchedulerCrash, WatchesAgainAfterACrashWhatIsInProgressBeforeTheCursor) {
  RunWorld world(window_of(8));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(900));
  world.customer(2).moods = {CustomerMood::hangs};
  world.customer(70).moods = {CustomerMood::hangs};
  world.command(world.start_of(plan));
  world.run();
  ASSERT_GE(world.newest().cursor, 832U);
  world.crash();
  world.run();
  EXPECT_EQ(world.customer(2).request_ids.size(), 2U);
  EXPECT_EQ(world.customer(70).request_ids.size(), 2U);
  EXPECT_EQ(world.customer(71).request_ids.size(), 1U) << "it had left before the crash";
  EXPECT_EQ(world.newest().in_progress, 2U);
  EXPECT_EQ(world.newest().status, RunStatus::running);
  world.settle({"c00002", "subscription"}, ObligationStatus::completed);
  world.settle({"c00070", "subscription"}, ObligationStatus::completed);
  world.run();
  expect_all_billed(world, 900);
}

TEST(SchedulerCrash, NeverHasMoreThanAWindowInProgressHoweverOftenItCrashes) {
  RunWorld world(window_of(8));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(200));
  for (int i = 1; i <= 200; ++i) world.customer(i).moods = {CustomerMood::hangs};
  world.command(world.start_of(plan));
  for (int crash = 0; crash < 20; ++crash) {
    world.run();
    world.tick();
    world.crash();
  }
  world.run();
  EXPECT_EQ(world.open_max(), 8U);
}

TEST(SchedulerCrash, IgnoresAnswersForRowsItHasNotAskedInThisIncarnation) {
  RunWorld world(window_of(2));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(5));
  world.customer(1).moods = {CustomerMood::hangs};
  world.customer(2).moods = {CustomerMood::hangs};
  world.command(world.start_of(plan));
  world.run();
  world.command(
      billing::CustomerTold{CustomerId{"c00004"}, (1ULL << 32U) | 4U, billing::Refused{}});
  world.settle({"c00001", "subscription"}, ObligationStatus::completed);
  world.settle({"c00002", "subscription"}, ObligationStatus::completed);
  world.run();
  expect_all_billed(world, 5);
  EXPECT_TRUE(world.newest().outcomes.empty());
}

}  // namespace
}  // namespace onceward::testing
