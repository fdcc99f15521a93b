// Small parts of the run service: the pace of a run, picking a run by its id, waiting for replies.
#include <gtest/gtest.h>

#include <thread>

#include "ingress/run_answers.hpp"
#include "ingress/run_pace.hpp"

namespace onceward::ingress {
namespace {

using std::chrono::seconds;

TEST(RunPaceTest, NeedsTwoSeconds) {
  RunPace pace;
  EXPECT_FALSE(pace.rows_per_minute());
  pace.observe(0, 0);
  pace.observe(1'999, 100);
  EXPECT_FALSE(pace.rows_per_minute());
  pace.observe(2'000, 100);
  EXPECT_EQ(pace.rows_per_minute(), 3'000U);
  EXPECT_EQ(pace.remaining(100), seconds(2));
  EXPECT_EQ(pace.remaining(101), seconds(3));
}

TEST(RunPaceTest, ForgetsWhatIsOlderThanAMinute) {
  RunPace pace;
  pace.observe(0, 0);
  pace.observe(30'000, 10'000);
  pace.observe(61'000, 10'000);
  pace.observe(91'000, 10'000);
  EXPECT_EQ(pace.rows_per_minute(), 0U);
  EXPECT_FALSE(pace.remaining(5)) << "it may never end";
}

TEST(RunPaceTest, BeginsAnewWhenTheCountGoesBack) {
  RunPace pace;
  pace.observe(0, 500);
  pace.observe(10'000, 400);
  EXPECT_FALSE(pace.rows_per_minute());
  pace.observe(12'000, 402);
  EXPECT_EQ(pace.rows_per_minute(), 60U);
}

std::vector<billing::RunView> runs(std::initializer_list<const char*> ids) {
  std::vector<billing::RunView> views;
  for (const char* id : ids) views.emplace_back().id = billing::RunId{id};
  return views;
}

TEST(PickRun, TakesAnIdOrItsUnambiguousBeginning) {
  EXPECT_EQ(pick_run(runs({"ab", "abc"}), "ab")->id.value(), "ab");
  EXPECT_EQ(pick_run(runs({"abc", "abd", "b"}), "b")->id.value(), "b");
  EXPECT_EQ(pick_run(runs({"abc", "abd"}), "ab").error().code, ErrorCode::conflict);
  EXPECT_EQ(pick_run(runs({"abc"}), "x").error().code, ErrorCode::not_found);
  EXPECT_EQ(pick_run(runs({"abc"}), "").error().code, ErrorCode::not_found);
}

Result<billing::SchedulerReply> taken(billing::SchedulerReply reply) {
  ReplySlot slot;
  slot.put(std::any(std::move(reply)));
  return slot.take(std::chrono::milliseconds(0));
}

TEST(ReplySlotTest, SaysWhatIsKnownOfACommandThatWasTurnedDown) {
  using billing::RunTurnedDown;
  EXPECT_EQ(taken(RunTurnedDown{Turndown::busy}).error().code, ErrorCode::busy);
  EXPECT_EQ(taken(RunTurnedDown{Turndown::uncertain}).error().code, ErrorCode::store_uncertain);
  EXPECT_EQ(taken(RunTurnedDown{Turndown::quarantined}).error().code, ErrorCode::quarantined);
  EXPECT_EQ(taken(RunTurnedDown{Turndown::invalid}).error().code, ErrorCode::invalid_argument);
}

TEST(ReplySlotTest, KeepsTheFirstReplyAndDoesNotWaitForEver) {
  ReplySlot slot;
  EXPECT_EQ(slot.take(std::chrono::milliseconds(1)).error().code, ErrorCode::store_uncertain);
  std::thread other([&slot] {
    slot.put(std::any(billing::SchedulerReply{billing::NoSuchRun{}}));
    slot.put(std::any(billing::SchedulerReply{billing::RunsTold{}}));
  });
  const auto reply = slot.take(std::chrono::seconds(10));
  other.join();
  ASSERT_TRUE(reply);
  EXPECT_TRUE(std::holds_alternative<billing::NoSuchRun>(*reply));
}

TEST(ToldOrError, SpeaksOfEachReply) {
  EXPECT_TRUE(told_or_error(billing::RunTold{}, "x"));
  EXPECT_EQ(told_or_error(billing::RunConflict{"c", {}}, "x").error(),
            (Error{ErrorCode::conflict, "c"}));
  EXPECT_EQ(told_or_error(billing::RunRefused{"r"}, "x").error(),
            (Error{ErrorCode::invalid_argument, "r"}));
  EXPECT_EQ(told_or_error(billing::NoSuchRun{}, "x").error(),
            (Error{ErrorCode::not_found, "no run x"}));
}

}  // namespace
}  // namespace onceward::ingress
