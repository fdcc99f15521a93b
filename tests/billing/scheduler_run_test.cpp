// Runs from start to completion, with crashes, silence, busy customers and a bounded window.
#include <gtest/gtest.h>

#include "tests/support/run_world.hpp"

namespace onceward::testing {
namespace {

using billing::CursorMoved;
using billing::RunOutcome;
using billing::RunStatus;
using billing::RunTold;

const std::string plan_a(32, 'a');

billing::SchedulerPolicy window_of(std::size_t window) {
  billing::SchedulerPolicy policy;
  policy.window = window;
  return policy;
}

/// Every row of the plan was asked and is completed.
void expect_all_billed(RunWorld& world, std::size_t rows) {
  EXPECT_EQ(world.newest().status, RunStatus::completed);
  EXPECT_EQ(world.newest().cursor, rows);
  EXPECT_EQ(world.customers().size(), rows);
  for (const auto& [key, customer] : world.customers()) {
    EXPECT_FALSE(customer.request_ids.empty()) << key.first;
    EXPECT_EQ(customer.status, ObligationStatus::completed) << key.first;
  }
  EXPECT_EQ(world.verdict(), "");
}

TEST(SchedulerRun, AsksEveryCustomerOnceWithinItsWindow) {
  RunWorld world(window_of(16));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(1000));
  const auto reply = world.command(world.start_of(plan));
  ASSERT_TRUE(reply && std::holds_alternative<RunTold>(*reply));
  EXPECT_FALSE(std::get<RunTold>(*reply).existed);
  world.run();
  expect_all_billed(world, 1000);
  EXPECT_EQ(world.asks(), 1000U);
  EXPECT_EQ(world.open_max(), 16U);
  // Planned and started, one cursor per 64 rows, completed together with the last one.
  EXPECT_EQ(world.commits(), 17U);
  EXPECT_EQ(world.journal().back().event.manifest.name, "RunCompleted");
}

TEST(SchedulerRun, GoesOnWithoutTicksAndWithARunOfNobody) {
  RunWorld world(window_of(4));
  world.command(world.start_of(world.add_plan(plan_a, {})));
  world.run();
  EXPECT_EQ(world.newest().status, RunStatus::completed);
  EXPECT_EQ(world.commits(), 2U);
}

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

TEST(SchedulerRun, SurvivesACrashBeforeEveryCommit) {
  crash_at_every_commit(RunCommit::crash_before, 1000, 17);
}
TEST(SchedulerRun, SurvivesACrashAfterEveryCommit) {
  crash_at_every_commit(RunCommit::crash_after, 1000, 17);
}
TEST(SchedulerRun, SurvivesAnUnknownAnswerToEveryCommit) {
  crash_at_every_commit(RunCommit::unknown_lost, 300, 6);
  crash_at_every_commit(RunCommit::unknown_stored, 300, 6);
}

TEST(SchedulerRun, SurvivesTwoCrashesAtAnyTwoCommits) {
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

TEST(SchedulerRun, SurvivesACrashAfterAnyMessage) {
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
TEST(SchedulerRun, EndsUnderRandomSchedules) {
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

TEST(SchedulerRun, AsksABusyOrUncertainCustomerAgainAtTheTick) {
  for (const CustomerMood mood :
       {CustomerMood::busy, CustomerMood::uncertain_lost, CustomerMood::uncertain_stored}) {
    RunWorld world(window_of(16));
    const auto plan = world.add_plan(plan_a, RunWorld::rows(200));
    world.customer(3).moods = {mood, mood};
    world.command(world.start_of(plan));
    world.run();
    EXPECT_EQ(world.newest().covered, 2U) << "the cursor never passes it";
    EXPECT_EQ(world.newest().held, 1U);
    EXPECT_EQ(world.customer(3).request_ids.size(), 1U) << "not before a pause";
    world.tick();
    world.run();
    EXPECT_EQ(world.customer(3).request_ids.size(), 2U);
    EXPECT_EQ(world.newest().cursor, 2U);
    world.run_to_end(2);
    EXPECT_EQ(world.customer(3).request_ids.size(), 3U);
    expect_all_billed(world, 200);
  }
}

TEST(SchedulerRun, HoldsItsWindowWhileEverybodyIsBusy) {
  RunWorld world(window_of(16));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(200));
  for (int i = 1; i <= 200; ++i) world.customer(i).moods = {CustomerMood::busy};
  world.command(world.start_of(plan));
  world.run();
  EXPECT_EQ(world.asks(), 16U);
  world.run_to_end(20);
  expect_all_billed(world, 200);
}

TEST(SchedulerRun, ReadsOnlyABoundedWayPastAStuckCustomer) {
  RunWorld world(window_of(16));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(9000));
  for (int i = 0; i < 100; ++i) world.customer(1).moods.push_back(CustomerMood::busy);
  world.command(world.start_of(plan));
  world.run();
  EXPECT_GE(world.asks(), billing::look_ahead_max);
  EXPECT_LE(world.asks(), billing::look_ahead_max + billing::plan_page_rows);
  world.customer(1).moods.clear();
  world.run_to_end(2);
  expect_all_billed(world, 9000);
}

TEST(SchedulerRun, AsksAgainWhenNotificationsAreLost) {
  RunWorld world(window_of(2));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(10));
  world.customer(1).moods = {CustomerMood::silent};
  world.customer(2).moods = {CustomerMood::silent};
  world.command(world.start_of(plan));
  world.run();
  world.tick(29'000);
  EXPECT_EQ(world.asks(), 2U) << "the window is full and nobody is overdue";
  world.tick(1'000);
  world.run_to_end(1);
  EXPECT_EQ(world.customer(1).request_ids.size(), 2U);
  expect_all_billed(world, 10);
}

TEST(SchedulerRun, MovesItsCursorPastOpenOnesButEndsOnlyWhenNoneIsInProgress) {
  RunWorld world(window_of(4));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(10));
  world.customer(2).moods = {CustomerMood::hangs};
  world.command(world.start_of(plan));
  world.run();
  world.tick();
  EXPECT_EQ(world.newest().cursor, 10U);
  EXPECT_EQ(world.newest().in_progress, 1U);
  EXPECT_EQ(world.newest().oldest.value(), "c00002");
  EXPECT_EQ(world.newest().status, RunStatus::running);
  world.settle({"c00002", "subscription"}, ObligationStatus::unknown);
  world.run();
  EXPECT_EQ(world.newest().status, RunStatus::completed) << "unknown is an outcome, in hand";
}

TEST(SchedulerRun, WatchesAgainAfterACrashWhatIsInProgressBeforeTheCursor) {
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

TEST(SchedulerRun, NeverHasMoreThanAWindowInProgressHoweverOftenItCrashes) {
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

TEST(SchedulerRun, StoresTheCursorAtTheTickButNotWithoutProgress) {
  RunWorld world(window_of(4));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(100));
  for (int i = 9; i <= 100; ++i) world.customer(i).moods = {CustomerMood::busy};
  world.command(world.start_of(plan));
  world.run();
  EXPECT_EQ(world.newest().cursor, 0U);
  world.deliver_loads = false;
  world.tick();
  EXPECT_EQ(world.newest().cursor, 8U);
  const std::size_t commits = world.commits();
  world.command(billing::Tick{});
  EXPECT_EQ(world.commits(), commits);
}

TEST(SchedulerRun, ReadsThePlanAgainAfterAFailure) {
  RunWorld world(window_of(4));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(20));
  world.load_error = Error{ErrorCode::store_io, "disk on fire"};
  world.command(world.start_of(plan));
  world.run();
  EXPECT_EQ(world.loads(), 1U) << "not before the tick";
  EXPECT_EQ(world.newest().problem, "disk on fire");
  world.load_error.reset();
  world.tick();
  world.run();
  EXPECT_EQ(world.newest().problem, "");
  expect_all_billed(world, 20);
}

TEST(SchedulerRun, ReadsThePlanAgainWhenTheReaderIsSilent) {
  RunWorld world(window_of(4));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(20));
  world.deliver_loads = false;
  world.command(world.start_of(plan));
  world.deliver_loads = true;
  world.tick(29'999);
  EXPECT_EQ(world.loads(), 1U);
  world.tick(1);
  EXPECT_EQ(world.loads(), 2U);
  world.run();
  expect_all_billed(world, 20);
}

TEST(SchedulerRun, StopsAtAPlanThatLostRows) {
  RunWorld world(window_of(4));
  auto plan = world.add_plan(plan_a, RunWorld::rows(20));
  plan.customers = 21;
  world.command(world.start_of(plan));
  world.run_to_end(3);
  EXPECT_EQ(world.newest().status, RunStatus::running);
  EXPECT_NE(world.newest().problem.find("approved with 21 rows, the store holds 20"),
            std::string::npos);
  EXPECT_EQ(world.asks(), 0U);
}

TEST(SchedulerRun, AsksNobodyOfAPlanThatHasMoreRowsThanWereApproved) {
  RunWorld world(window_of(4));
  auto plan = world.add_plan(plan_a, RunWorld::rows(600));
  plan.customers = 100;
  world.command(world.start_of(plan));
  world.run_to_end(3);
  EXPECT_NE(world.newest().problem.find("the store holds at least 512"), std::string::npos);
  EXPECT_EQ(world.asks(), 0U);
}

TEST(SchedulerRun, IgnoresRowsThatWereNotAskedForNow) {
  RunWorld world(window_of(4));
  world.command(world.start_of(world.add_plan(plan_a, RunWorld::rows(1200))));
  while (world.loads() < 2) world.deliver();  // the second page is being read
  const auto rows = RunWorld::rows(512);
  world.command(billing::PlanRowsLoaded{billing::RunNr{1}, 0, rows, false, {}});
  world.run();
  expect_all_billed(world, 1200);
  EXPECT_EQ(world.asks(), 1200U);

  RunWorld read(window_of(1));
  const auto plan = read.add_plan(plan_a, RunWorld::rows(2));
  read.customer(1).moods = {CustomerMood::hangs};
  read.command(read.start_of(plan));
  read.run();
  read.command(billing::PlanRowsLoaded{billing::RunNr{1}, 2, {}, true, {}});
  EXPECT_EQ(read.newest().in_progress, 1U);
}

TEST(SchedulerRun, RecordsRowsThatLedToNoObligation) {
  RunWorld world(window_of(4));
  auto rows = RunWorld::rows(12);
  rows[11].billable = false;
  rows[0].billable = false;
  const auto plan = world.add_plan(plan_a, rows);
  world.customer(3).moods = {CustomerMood::conflict};
  world.customer(4).moods = {CustomerMood::granularity};
  world.customer(5).moods = {CustomerMood::not_begun};
  world.customer(6).moods = {CustomerMood::refused};
  world.customer(7).moods = {CustomerMood::quarantined};
  world.command(world.start_of(plan));
  world.run();
  const auto view = world.newest();
  EXPECT_EQ(view.status, RunStatus::completed);
  EXPECT_EQ(view.cursor, 12U);
  EXPECT_EQ(world.asks(), 10U);
  const std::map<RunOutcome, std::uint64_t> expected = {{RunOutcome::conflict, 1},
                                                        {RunOutcome::granularity, 1},
                                                        {RunOutcome::period_not_begun, 1},
                                                        {RunOutcome::refused, 1},
                                                        {RunOutcome::quarantined, 1}};
  EXPECT_EQ(view.outcomes, expected);
}

TEST(SchedulerRun, RecordsEachExceptionalRowOnce) {
  RunWorld world(window_of(8));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(300));
  for (int i = 1; i <= 300; i += 3) world.customer(i).moods = {CustomerMood::conflict};
  world.command(world.start_of(plan));
  world.run();
  EXPECT_EQ(world.commits(), 6U);
  EXPECT_EQ(world.newest().outcomes.at(RunOutcome::conflict), 100U);
}

TEST(SchedulerRun, SplitsManyExceptionalRowsOverSeveralEvents) {
  RunWorld world(window_of(256));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(3000));
  for (int i = 2; i <= 3000; ++i) world.customer(i).moods = {CustomerMood::conflict};
  world.customer(1).moods = {CustomerMood::busy, CustomerMood::conflict};
  world.command(world.start_of(plan));
  world.run_to_end(2);
  std::size_t exceptional = 0;
  std::size_t moves = 0;
  std::uint64_t last = 0;
  for (const auto& event : world.events()) {
    const auto* moved = std::get_if<CursorMoved>(&event);
    if (moved == nullptr) continue;
    ++moves;
    EXPECT_LE(moved->exceptional.size(), billing::exceptional_rows_max);
    for (const auto& row : moved->exceptional) {
      EXPECT_GT(row.row.ordinal, last);
      EXPECT_LE(row.row.ordinal, moved->cursor.ordinal);
      last = row.row.ordinal;
      ++exceptional;
    }
  }
  EXPECT_EQ(exceptional, 3000U);
  EXPECT_EQ(moves, 6U);
  EXPECT_EQ(world.newest().outcomes.at(RunOutcome::conflict), 3000U);
}

TEST(SchedulerRun, IgnoresAnswersForRowsItHasNotAskedInThisIncarnation) {
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

TEST(SchedulerRun, IgnoresAnswersThatAreLateRepeatedOrOfAnotherRun) {
  RunWorld world(window_of(2));
  const auto plan = world.add_plan(plan_a, RunWorld::rows(5));
  world.customer(1).moods = {CustomerMood::hangs};
  world.command(world.start_of(plan));
  world.run();
  const std::uint64_t first_row = (1ULL << 32U) | 1U;
  const auto tell = [&world](std::uint64_t correlation, const char* customer) {
    world.command(billing::CustomerTold{CustomerId{customer}, correlation, billing::Told{}});
    world.command(billing::CustomerTold{CustomerId{customer}, correlation, billing::Refused{}});
  };
  tell(first_row, "c00002");
  tell((2ULL << 32U) | 1U, "c00001");
  tell(0, "c00001");
  tell((1ULL << 32U) | 400U, "c00001");
  world.command(billing::PlanRowsLoaded{billing::RunNr{1}, 0, RunWorld::rows(5), true, {}});
  world.run();
  EXPECT_EQ(world.newest().in_progress, 1U);
  EXPECT_TRUE(world.newest().outcomes.empty());
  world.settle({"c00001", "subscription"}, ObligationStatus::completed);
  world.run();
  expect_all_billed(world, 5);
  const std::size_t commits = world.commits();
  tell(first_row, "c00001");
  EXPECT_EQ(world.commits(), commits);
}

}  // namespace
}  // namespace onceward::testing
