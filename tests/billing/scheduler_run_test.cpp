// Runs from start to completion, with silence, busy customers and a bounded window.
#include <gtest/gtest.h>

#include "tests/billing/run_expectations.hpp"

namespace onceward::testing {
namespace {

using billing::CursorMoved;
using billing::RunOutcome;
using billing::RunStatus;
using billing::RunTold;

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
