// Stored form of the scheduler's events, and histories that cannot be.
#include <gtest/gtest.h>

#include <onceward/billing/scheduler_entity.hpp>

namespace onceward::billing {
namespace {

const EventCodec<SchedulerEvent> codec = scheduler_event_codec();

ApprovedPlan sample_plan() {
  ApprovedPlan plan;
  plan.plan = PlanHash{std::string(32, 'a')};
  plan.period = BillingPeriod::parse("2026-08").value();
  plan.customers = 200;
  plan.to_bill = 199;
  plan.skipped = {{"no_payment_method", 1}};
  plan.totals = {{4990, Currency::parse("usd").value()}};
  return plan;
}

const std::vector<std::pair<SchedulerEvent, std::string>>& golden() {
  static const Timestamp at{1'786'000'000'000};
  static const PlanPosition row{64, CustomerId{"c\"1"}, Purpose{"seats"}};
  static const PlanPosition start;
  static const std::vector<std::pair<SchedulerEvent, std::string>> events = {
      {RunPlanned{RunNr{1}, at, sample_plan()},
       R"({"run":1,"at":1786000000000,"period":"2026-08",)"
       R"("plan":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","customers":200,"to_bill":199,)"
       R"("skipped":{"no_payment_method":1},"totals":[{"amount_minor":4990,"currency":"usd"}]})"},
      {RunStarted{RunNr{1}, at, "jane", {{5489, Currency::parse("usd").value()}}},
       R"({"run":1,"at":1786000000000,"who":"jane",)"
       R"("limits":[{"amount_minor":5489,"currency":"usd"}]})"},
      {CursorMoved{RunNr{1}, at, row, start, {{row, RunOutcome::conflict}}},
       R"({"run":1,"at":1786000000000,)"
       R"("cursor":{"ordinal":64,"customer":"c\"1","purpose":"seats"},)"
       R"("watched_from":{"ordinal":0,"customer":"","purpose":""},)"
       R"("exceptional":[{"row":{"ordinal":64,"customer":"c\"1","purpose":"seats"},)"
       R"("outcome":"conflict"}]})"},
      {RunPaused{RunNr{1}, at, "jane", "lunch"},
       R"({"run":1,"at":1786000000000,"who":"jane","why":"lunch"})"},
      {RunResumed{RunNr{1}, at, "jane", "back"},
       R"({"run":1,"at":1786000000000,"who":"jane","why":"back"})"},
      {RunCancelled{RunNr{1}, at, "jane", "wrong"},
       R"({"run":1,"at":1786000000000,"who":"jane","why":"wrong"})"},
      {RunCompleted{RunNr{1}, at}, R"({"run":1,"at":1786000000000})"},
  };
  return events;
}

TEST(SchedulerCodec, WritesTheDocumentedTextAndReadsItBack) {
  std::set<std::size_t> kinds;
  for (const auto& [event, text] : golden()) {
    const EncodedEvent encoded = codec.encode(event);
    EXPECT_EQ(encoded.payload, text);
    EXPECT_EQ(encoded.manifest.version, 1U);
    const auto decoded = codec.decode(encoded);
    ASSERT_TRUE(decoded) << decoded.error().context;
    EXPECT_EQ(*decoded, event);
    kinds.insert(event.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<SchedulerEvent>);
}

TEST(SchedulerCodec, NeverDefaultsAMissingMember) {
  for (const auto& [event, text] : golden()) {
    EncodedEvent encoded = codec.encode(event);
    for (std::size_t at = text.find("\":"); at != std::string::npos;
         at = text.find("\":", at + 1)) {
      encoded.payload = text;
      encoded.payload.insert(at, "_");  // renames one member
      // Names of skip reasons are data, not members.
      if (text.substr(0, at).ends_with("no_payment_method")) continue;
      const auto decoded = codec.decode(encoded);
      ASSERT_FALSE(decoded) << encoded.payload;
      EXPECT_EQ(decoded.error().code, ErrorCode::decode_failed);
    }
  }
}

TEST(SchedulerCodec, RefusesWhatItDoesNotKnow) {
  EncodedEvent encoded = codec.encode(RunCompleted{RunNr{1}, {}});
  encoded.manifest.version = 2;
  EXPECT_EQ(codec.decode(encoded).error().code, ErrorCode::unknown_manifest);
  encoded.manifest = {"BillingInitiated", 1};
  EXPECT_EQ(codec.decode(encoded).error().code, ErrorCode::unknown_manifest);
  encoded.manifest = {"RunCompleted", 1};
  for (const char* payload : {"", "[]", "{", R"({"run":-1,"at":1})", R"({"run":"1","at":1})",
                              R"({"run":4294967296,"at":1})", R"({"run":1.5,"at":1})"}) {
    encoded.payload = payload;
    EXPECT_EQ(codec.decode(encoded).error().code, ErrorCode::decode_failed) << payload;
  }
}

class SchedulerHistory : public ::testing::Test {
 protected:
  void SetUp() override {
    state_ = entity_.initial(PersistenceId{"scheduler/monthly"});
    take(RunPlanned{RunNr{1}, {}, sample_plan()});
    take(RunStarted{RunNr{1}, {}, "jane", {}});
  }
  void take(const SchedulerEvent& event) {
    const auto taken = entity_.evolve(state_, event);
    ASSERT_TRUE(taken) << taken.error().context;
  }
  void expect_impossible(const SchedulerEvent& event) {
    SchedulerState copy = state_;
    const auto taken = entity_.evolve(copy, event);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::impossible_transition);
  }
  [[nodiscard]] static CursorMoved moved_to(std::uint64_t cursor, std::uint64_t watched = 0) {
    return {RunNr{1}, {}, {cursor, {}, {}}, {watched, {}, {}}, {}};
  }

  SchedulerEntity entity_{SchedulerPolicy{}};
  SchedulerState state_;
};

TEST_F(SchedulerHistory, RefusesWhatCannotFollowAStart) {
  expect_impossible(RunStarted{RunNr{1}, {}, "jane", {}});
  expect_impossible(RunStarted{RunNr{2}, {}, "jane", {}});
  expect_impossible(RunPlanned{RunNr{1}, {}, sample_plan()});
  expect_impossible(RunPlanned{RunNr{3}, {}, sample_plan()});
  expect_impossible(RunResumed{RunNr{1}, {}, "jane", ""});
  expect_impossible(RunCompleted{RunNr{1}, {}});
  for (const std::uint32_t unknown : {0U, 2U}) {
    expect_impossible(RunPaused{RunNr{unknown}, {}, "jane", ""});
    expect_impossible(RunCancelled{RunNr{unknown}, {}, "jane", ""});
    expect_impossible(CursorMoved{RunNr{unknown}, {}, {}, {}, {}});
  }
}

TEST_F(SchedulerHistory, RefusesACursorThatMovesBackOrBeyond) {
  take(moved_to(64, 3));
  expect_impossible(moved_to(63));
  expect_impossible(moved_to(201));
  expect_impossible(moved_to(70, 71));
  take(moved_to(200, 200));
}

TEST_F(SchedulerHistory, RefusesEventsOfARunThatWasOnlyPlanned) {
  take(RunPlanned{RunNr{2}, {}, sample_plan()});
  expect_impossible(RunPaused{RunNr{2}, {}, "jane", ""});
  expect_impossible(RunCancelled{RunNr{2}, {}, "jane", ""});
}

TEST_F(SchedulerHistory, RefusesWhatCannotFollowAnEnd) {
  take(moved_to(200, 200));
  take(RunCompleted{RunNr{1}, {}});
  expect_impossible(RunCompleted{RunNr{1}, {}});
  expect_impossible(RunPaused{RunNr{1}, {}, "jane", ""});
  expect_impossible(RunResumed{RunNr{1}, {}, "jane", ""});
  expect_impossible(RunCancelled{RunNr{1}, {}, "jane", ""});
  expect_impossible(moved_to(200, 200));
}

}  // namespace
}  // namespace onceward::billing
