// Section C: an unknown outcome that was misread.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// The saved answer is a 500 although the money moved; somebody bills again ten minutes later.
void r17_unknown_then_late_repair(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"commit_500","match":{"money":true},"count":1)",
                R"("kind":"gw_503","match":{"method":"GET"},"count":4)"});
  const auto first = world.bill("cus_c1", "2026-08", 9'900, "rid1");
  world.run_for(10s);
  EXPECT_EQ(world.status("cus_c1", "2026-08"), Status::unknown);
  const auto second = world.bill("cus_c1", "2026-08", 9'900, "rid2");
  EXPECT_FALSE(second->is_answered());
  world.run_for(2h);
  EXPECT_EQ(first->status(), Status::completed);
  EXPECT_EQ(second->status(), Status::completed);
  EXPECT_EQ(first->charge(), second->charge());
  EXPECT_EQ(world.L("cus_c1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_c1", "2026-08"), 1);
  EXPECT_EQ(world.count_events<AttemptDeclined>("cus_c1"), 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R17_UnknownThenLateRepair) {
  in_both_flows(r17_unknown_then_late_repair);
}

// The call outlasts our patience; the resends meet 409 until it has ended.
void r19_still_running(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults(
      {R"("kind":"slow","delay_s":90,"commit_at":"end","match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_c2", "2026-08");
  world.run_for(85s);
  EXPECT_EQ(world.status("cus_c2", "2026-08"), Status::unknown);
  EXPECT_EQ(world.L("cus_c2", "2026-08"), 0);
  world.run_for(1h);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_c2", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_c2", "2026-08"), 1);
  EXPECT_GE(world.W("cus_c2", "2026-08"), 2);
  bool has_met_409 = false;
  for (const auto& sent : world.port().provider().trace()) {
    has_met_409 = has_met_409 || sent.outcome == "key_in_use";
  }
  EXPECT_TRUE(has_met_409);
  EXPECT_EQ(world.count_events<AttemptDeclined>("cus_c2"), 0);
  EXPECT_EQ(world.count_events<BillingParked>("cus_c2"), 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R19_StillRunning) {
  in_both_flows(r19_still_running);
}

// A refusal that no repetition changes, and a 409 that a repetition cures.
void r21_what_may_be_repeated(const CaseSetup& setup) {
  CaseOptions options = setup.options();
  options.policy.below_minimum = BelowMinimum::hold;
  CaseWorld world(options);
  const auto small = world.bill("cus_c3", "2026-08", 10);
  world.run_for(24h);
  EXPECT_EQ(small->status(), Status::rejected);
  EXPECT_EQ(world.port().posts().size(), 1U);
  const auto row = world.row(CaseWorld::key_of("cus_c3", "2026-08"));
  EXPECT_TRUE(row && row->reason.find("amount_too_small") != std::string::npos);

  world.faults({R"("kind":"inuse_409","for_s":10,"match":{"money":true})"});
  const auto bill = world.bill("cus_c4", "2026-08");
  world.run_for(10min);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_c4", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_c4", "2026-08"), 1);
  EXPECT_GE(world.W("cus_c4", "2026-08"), 2);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R21_WhatMayBeRepeated) {
  in_both_flows(r21_what_may_be_repeated);
}

// The connection is reset after the money moved; whatever repeats, repeats the key.
void r23_reset_after_the_money(const CaseSetup& setup) {
  for (const bool keeps : {true, false}) {
    CaseWorld world(setup.options());
    world.port().keeps_connections = keeps;
    world.faults({R"("kind":"commit_drop","end":"rst","match":{"money":true},"count":1)"});
    const auto bill = world.bill("cus_c5", "2026-08");
    world.run_for(10min);
    EXPECT_EQ(bill->status(), Status::completed);
    EXPECT_TRUE(bill->told() != nullptr && bill->told()->row.attempt == 1);
    EXPECT_EQ(world.L("cus_c5", "2026-08"), 1);
    EXPECT_EQ(world.K("cus_c5", "2026-08"), 1);
    EXPECT_LE(world.W("cus_c5", "2026-08"), 2);
    EXPECT_EQ(world.audit(), "");
  }
}
TEST(Cases, R23_ResetAfterTheMoney) {
  in_both_flows(r23_reset_after_the_money);
}

// No answer, no id: what is known is the obligation, and by that it is found.
void r25_timeout_without_an_id(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"hang","commit":true,"match":{"money":true})"});
  const auto bill = world.bill("cus_c6", "2026-08");
  world.run_for(2min);
  EXPECT_EQ(world.status("cus_c6", "2026-08"), Status::unknown);
  world.run_for(10min);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_c6", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_c6", "2026-08"), 1);
  EXPECT_EQ(world.count_events<AttemptDeclined>("cus_c6"), 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R25_TimeoutWithoutAnId) {
  in_both_flows(r25_timeout_without_an_id);
}

}  // namespace onceward::cases
