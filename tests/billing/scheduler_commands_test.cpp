// What operators may do to runs: start once, pause, resume, cancel, and what plans do to the cap.
#include <gtest/gtest.h>

#include "tests/support/run_world.hpp"

namespace onceward::testing {
namespace {

using billing::CancelRun;
using billing::NoSuchRun;
using billing::OtherPlansApproved;
using billing::PauseRun;
using billing::ResumeRun;
using billing::RunConflict;
using billing::RunId;
using billing::RunRefused;
using billing::RunStatus;
using billing::RunTold;
using billing::RunTurnedDown;

const std::string plan_a(32, 'a');
const std::string plan_b(32, 'b');
const RunId run_a{"2026-08-aaaaaaaaaaaaaaaa"};
const RunId run_b{"2026-08-bbbbbbbbbbbbbbbb"};

Money usd(std::int64_t minor) {
  return {minor, Currency::parse("usd").value()};
}

class SchedulerCommands : public ::testing::Test {
 protected:
  SchedulerCommands() { policy_.window = 4; }

  void SetUp() override { world_ = std::make_unique<RunWorld>(policy_); }

  template <class T>
  T answer(billing::SchedulerCommand command) {
    auto reply = world_->command(std::move(command));
    EXPECT_TRUE(reply.has_value());
    EXPECT_TRUE(reply && std::holds_alternative<T>(*reply)) << "another kind of reply";
    return reply && std::holds_alternative<T>(*reply) ? std::get<T>(*reply) : T{};
  }
  billing::StartRun start_of(const std::string& hash, int rows) {
    return world_->start_of(world_->add_plan(hash, RunWorld::rows(rows)));
  }

  billing::SchedulerPolicy policy_;
  std::unique_ptr<RunWorld> world_;
};

TEST_F(SchedulerCommands, StartsAPlanOnceAndAnswersARepeatWithTheRun) {
  const auto start = start_of(plan_a, 20);
  const auto first = answer<RunTold>(start);
  EXPECT_EQ(first.run.id, run_a);
  EXPECT_EQ(first.run.started_by, "operator:jane");
  EXPECT_EQ(first.run.started_at, world_->now().wall);
  EXPECT_FALSE(first.existed);
  EXPECT_TRUE(answer<RunTold>(start).existed);
  world_->run();
  const auto again = answer<RunTold>(start);
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.run.status, RunStatus::completed);
  world_->run();
  EXPECT_EQ(world_->asks(), 20U);
}

TEST_F(SchedulerCommands, AnswersAStartThatMayNotBeStoredAsUncertain) {
  world_->fate = [](const CommitUnit&) { return RunCommit::unknown_stored; };
  const auto start = start_of(plan_a, 5);
  EXPECT_EQ(answer<RunTurnedDown>(start).why, Turndown::uncertain);
  world_->fate = nullptr;
  EXPECT_TRUE(answer<RunTold>(start).existed);
}

TEST_F(SchedulerCommands, KeepsAnotherPlanOfThePeriodOutWhileARunIsActive) {
  answer<RunTold>(start_of(plan_a, 20));
  const auto other = start_of(plan_b, 10);
  const auto conflict = answer<RunConflict>(other);
  EXPECT_EQ(conflict.active->id, run_a);
  EXPECT_NE(conflict.detail.find("cancel it first"), std::string::npos);
  answer<RunTold>(PauseRun{run_a, "jane", "lunch"});
  answer<RunConflict>(other);
  answer<RunTold>(ResumeRun{run_a, "jane", "lunch is over"});
  world_->run();
  EXPECT_FALSE(answer<RunTold>(other).existed);
  world_->run();
  EXPECT_EQ(world_->newest().id, run_b);
  EXPECT_EQ(world_->newest().status, RunStatus::completed);
}

TEST_F(SchedulerCommands, LetsAnotherPeriodRunBeside) {
  answer<RunTold>(start_of(plan_a, 20));
  auto other = start_of(plan_b, 20);
  other.plan.period = BillingPeriod::parse("2026-07").value();
  other.united_with.clear();
  EXPECT_EQ(answer<RunTold>(other).run.id.value(), "2026-07-bbbbbbbbbbbbbbbb");
  world_->run();
  for (const auto& run : world_->state().runs) EXPECT_EQ(run.status, RunStatus::completed);
}

TEST_F(SchedulerCommands, AsksForAllApprovedPlansToBeUnited) {
  answer<RunTold>(start_of(plan_a, 5));
  world_->run();
  auto start = start_of(plan_b, 5);
  start.united_with.clear();
  const auto others = answer<OtherPlansApproved>(start);
  ASSERT_EQ(others.approved.size(), 1U);
  EXPECT_EQ(others.approved[0].value(), plan_a);
  start.united_with = others.approved;
  answer<RunTold>(start);
}

TEST_F(SchedulerCommands, RefusesAPeriodThatHasNotBegun) {
  auto start = start_of(plan_a, 5);
  start.plan.period = BillingPeriod::parse("2026-09").value();
  const auto refused = answer<RunRefused>(start);
  EXPECT_NE(refused.detail.find("begins at 2026-09-01T00:00:00.000Z"), std::string::npos);
  EXPECT_TRUE(world_->journal().empty());
  policy_.allow_future = true;
  SetUp();
  start_of(plan_a, 5);
  answer<RunTold>(start);
}

TEST_F(SchedulerCommands, RefusesAPlanWithMoreRowsThanItCanCount) {
  auto start = start_of(plan_a, 5);
  start.plan.customers = billing::plan_rows_max + 1;
  answer<RunRefused>(start);
}

TEST_F(SchedulerCommands, RefusesADifferentPlanWithTheSameRunId) {
  answer<RunTold>(start_of(plan_a, 5));
  world_->run();
  auto start = start_of(plan_a, 5);
  start.plan.plan = billing::PlanHash{std::string(16, 'a') + std::string(16, 'c')};
  answer<RunRefused>(start);
}

TEST_F(SchedulerCommands, PauseAsksNobodyElseAndResumeGoesOn) {
  answer<RunTold>(start_of(plan_a, 50));
  for (int i = 0; i < 30; ++i) world_->deliver();
  const auto paused = answer<RunTold>(PauseRun{run_a, "jane", "prices are wrong"});
  EXPECT_EQ(paused.run.status, RunStatus::paused);
  EXPECT_EQ(paused.run.why, "prices are wrong");
  EXPECT_EQ(paused.run.changed_by, "jane");
  EXPECT_GT(paused.run.cursor, 0U);
  const std::size_t asks = world_->asks();
  EXPECT_LT(asks, 50U);
  for (int i = 0; i < 40; ++i) {
    world_->run();
    world_->tick();
  }
  EXPECT_EQ(world_->asks(), asks);
  EXPECT_EQ(world_->newest().cursor, asks) << "what was asked goes on";
  EXPECT_TRUE(answer<RunTold>(PauseRun{run_a, "jane", ""}).existed);
  answer<RunTold>(ResumeRun{run_a, "jane", "prices are right"});
  EXPECT_TRUE(answer<RunTold>(ResumeRun{run_a, "jane", ""}).existed);
  world_->run();
  EXPECT_EQ(world_->newest().status, RunStatus::completed);
  EXPECT_EQ(world_->asks(), 50U);
}

TEST_F(SchedulerCommands, ResumeAsksNobodyTwice) {
  const auto start = start_of(plan_a, 50);
  world_->customer(1).moods = {CustomerMood::hangs};
  answer<RunTold>(start);
  for (int i = 0; i < 30; ++i) world_->deliver();
  answer<RunTold>(PauseRun{run_a, "jane", ""});
  answer<RunTold>(ResumeRun{run_a, "jane", ""});
  world_->run();
  EXPECT_EQ(world_->asks(), 50U);
  EXPECT_EQ(world_->newest().status, RunStatus::running) << "one is in progress";
}

TEST_F(SchedulerCommands, StaysPausedOverARestart) {
  answer<RunTold>(start_of(plan_a, 50));
  for (int i = 0; i < 30; ++i) world_->deliver();
  answer<RunTold>(PauseRun{run_a, "jane", ""});
  const std::size_t asks = world_->asks();
  world_->crash();
  world_->tick();
  world_->run();
  EXPECT_EQ(world_->asks(), asks);
  answer<RunTold>(ResumeRun{run_a, "jane", ""});
  world_->run();
  EXPECT_EQ(world_->newest().status, RunStatus::completed);
  EXPECT_EQ(world_->customers().size(), 50U);
}

TEST_F(SchedulerCommands, CancelEndsTheRunAndOnlyAResumeTakesItUp) {
  const auto start = start_of(plan_a, 50);
  answer<RunTold>(start);
  for (int i = 0; i < 30; ++i) world_->deliver();
  EXPECT_EQ(answer<RunTold>(CancelRun{run_a, "jane", "wrong file"}).run.status,
            RunStatus::cancelled);
  const std::size_t asks = world_->asks();
  const std::uint64_t cursor = world_->newest().cursor;
  EXPECT_GT(cursor, 0U);
  world_->run();
  world_->tick();
  EXPECT_TRUE(answer<RunTold>(start).existed) << "a repeated start does not revive it";
  EXPECT_TRUE(answer<RunTold>(CancelRun{run_a, "jane", ""}).existed);
  answer<RunConflict>(PauseRun{run_a, "jane", ""});
  world_->run();
  EXPECT_EQ(world_->asks(), asks);
  EXPECT_EQ(world_->newest().cursor, cursor);
  answer<RunTold>(start_of(plan_b, 10));
  answer<RunConflict>(ResumeRun{run_a, "jane", ""});
  world_->run();
  answer<RunTold>(ResumeRun{run_a, "jane", "right file after all"});
  world_->run();
  EXPECT_EQ(world_->state().runs[0].status, RunStatus::completed);
  EXPECT_EQ(world_->customers().size(), 50U);
}

TEST_F(SchedulerCommands, RefusesToChangeACompletedOrUnknownRun) {
  answer<RunTold>(start_of(plan_a, 5));
  world_->run();
  answer<RunConflict>(PauseRun{run_a, "jane", ""});
  answer<RunConflict>(ResumeRun{run_a, "jane", ""});
  answer<RunConflict>(CancelRun{run_a, "jane", ""});
  answer<NoSuchRun>(PauseRun{run_b, "jane", ""});
  answer<NoSuchRun>(ResumeRun{run_b, "jane", ""});
  answer<NoSuchRun>(CancelRun{run_b, "jane", ""});
}

TEST_F(SchedulerCommands, ShowsAllRuns) {
  EXPECT_TRUE(answer<billing::RunsTold>(billing::ShowRuns{}).runs.empty());
  answer<RunTold>(start_of(plan_a, 5));
  world_->run();
  answer<RunTold>(start_of(plan_b, 7));
  const auto told = answer<billing::RunsTold>(billing::ShowRuns{});
  ASSERT_EQ(told.runs.size(), 2U);
  EXPECT_EQ(told.runs[0].id, run_a);
  EXPECT_EQ(told.runs[1].plan.customers, 7U);
  EXPECT_EQ(told.runs[1].asked, 0U) << "the plan is not read yet";
}

TEST_F(SchedulerCommands, SetsTheCapFromTheUnionOfApprovedPlans) {
  auto start = start_of(plan_a, 5);
  start.united_totals = {usd(1001)};
  const auto told = answer<RunTold>(start);
  ASSERT_EQ(world_->limits().size(), 1U);
  EXPECT_EQ(world_->limits()[0].limit, usd(1102)) << "110 %, rounded up";
  EXPECT_EQ(world_->limits()[0].period.text(), "2026-08");
  EXPECT_EQ(world_->limits()[0].customer.value(), "");
  EXPECT_EQ(told.run.limits, std::vector<Money>{usd(1102)});
}

TEST_F(SchedulerCommands, OnlyRaisesTheCap) {
  auto start = start_of(plan_a, 5);
  start.united_totals = {usd(1000), Money{500, Currency::parse("jpy").value()}};
  start.limits_now = {usd(1100), Money{549, Currency::parse("jpy").value()}};
  answer<RunTold>(start);
  ASSERT_EQ(world_->limits().size(), 1U);
  EXPECT_EQ(world_->limits()[0].limit, (Money{550, Currency::parse("jpy").value()}));
}

TEST_F(SchedulerCommands, RefusesToStartBelowWhatThePeriodHasSpent) {
  world_->fate = [](const CommitUnit&) { return RunCommit::cap_refused; };
  const auto refused = answer<RunConflict>(start_of(plan_a, 5));
  EXPECT_NE(refused.detail.find("9999.99 usd are reserved or settled"), std::string::npos);
  EXPECT_NE(refused.detail.find("set a higher cap"), std::string::npos);
  EXPECT_TRUE(world_->journal().empty());
}

TEST_F(SchedulerCommands, StartsWithoutALimitWhereTheCapOnlyObserves) {
  policy_.cap_mode = billing::CapMode::observe;
  SetUp();
  world_->fate = [](const CommitUnit& unit) {
    return unit.limits.empty() ? RunCommit::stored : RunCommit::cap_refused;
  };
  EXPECT_TRUE(answer<RunTold>(start_of(plan_a, 5)).run.limits.empty());
  world_->run();
  EXPECT_EQ(world_->newest().status, RunStatus::completed);
}

TEST_F(SchedulerCommands, SetsNoLimitWhereTheCapIsOff) {
  policy_.cap_mode = billing::CapMode::off;
  SetUp();
  answer<RunTold>(start_of(plan_a, 5));
  EXPECT_TRUE(world_->limits().empty());
}

TEST(RunNames, AreStable) {
  const ObligationKey key{CustomerId{"cust_123"}, BillingPeriod::parse("2026-08").value(),
                          Purpose{"subscription"}};
  EXPECT_EQ(billing::run_request_id("monthly", key).value(), "acd136a0882632cfa2adee741a04e9e5");
  EXPECT_EQ(billing::run_id_of(key.period, billing::PlanHash{plan_a}), run_a);
}

}  // namespace
}  // namespace onceward::testing
