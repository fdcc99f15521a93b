// Section E: billing that is missed or stuck.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// One customer's requests hang for ever, while two hundred others are due.
void r37_one_hangs(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"hang","match":{"customer":"cus_e3","method":"ANY"})"});
  const auto stuck = world.bill("cus_e3", "2026-08");
  std::vector<std::shared_ptr<testing::CaseCall>> others;
  for (int i = 0; i < 200; ++i) {
    others.push_back(world.bill("cus_other_" + std::to_string(i), "2026-08"));
  }
  world.run_for(1min);
  for (const auto& other : others) EXPECT_EQ(other->status(), Status::completed);
  world.run_for(10min);
  EXPECT_FALSE(stuck->is_answered());
  const auto row = world.row(CaseWorld::key_of("cus_e3", "2026-08"));
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->status, Status::unknown);
  EXPECT_FALSE(row->reason.empty()) << "nobody could see why";
  EXPECT_TRUE(row->next_action_at.has_value());
  world.run_for(7 * 24h);
  EXPECT_EQ(world.count_events<AttemptDeclined>("cus_e3"), 0);
  EXPECT_EQ(world.L("cus_e3", "2026-08"), 0);
  world.heal();
  world.run_for(24h);
  const auto healed = world.status("cus_e3", "2026-08");
  EXPECT_TRUE(healed == Status::completed || healed == Status::parked);
  EXPECT_LE(world.L("cus_e3", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R37_OneHangs) {
  in_both_flows(r37_one_hangs);
}

// Accepted, worked on for two days, then refused: the poll finds it, and dunning follows.
void r41_refused_after_two_days(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults(
      {R"("kind":"processing","for_s":172800,"then":"failed","match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_e5", "2026-08");
  world.run_for(47h);
  EXPECT_EQ(world.status("cus_e5", "2026-08"), Status::processing);
  EXPECT_FALSE(bill->is_answered());
  world.run_for(3h);
  EXPECT_EQ(bill->status(), Status::declined);
  EXPECT_EQ(bill->charge(), "");
  const auto row = world.row(CaseWorld::key_of("cus_e5", "2026-08"));
  ASSERT_TRUE(row && row->next_attempt_at);
  EXPECT_GT(*row->next_attempt_at, world.now());
  world.run_for(14 * 24h);
  EXPECT_EQ(world.status("cus_e5", "2026-08"), Status::completed);
  EXPECT_EQ(world.L("cus_e5", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_e5", "2026-08"), 2);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R41_RefusedAfterTwoDays) {
  in_both_flows(r41_refused_after_two_days);
}

}  // namespace onceward::cases
