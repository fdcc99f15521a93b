// Section L: two roads to one obligation.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// A customer who owes may take another plan, but not owe the same one twice.
void r101_subscribes_again(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults(
      {R"("kind":"decline","code":"insufficient_funds","match":{"money":true},"count":1)"});
  const auto first = world.bill("cus_l3", "2026-08");
  world.run_for(1min);
  EXPECT_EQ(first->status(), Status::declined);
  const auto same = world.bill("cus_l3", "2026-08", 19'900, "second-subscription");
  ASSERT_TRUE(same->is_answered());
  EXPECT_TRUE(std::holds_alternative<Conflict>(same->replies.back()));
  const auto repeat = world.bill("cus_l3", "2026-08", 9'900, "second-subscription");
  EXPECT_EQ(repeat->status(), Status::declined);
  EXPECT_TRUE(repeat->told() != nullptr && repeat->told()->deduplicated);
  auto other = CaseWorld::bill_of("cus_l3", "2026-08", 1'900, "seats");
  other.key.purpose = Purpose{"seats"};
  const auto seats = world.send(other);
  world.run_for(1min);
  EXPECT_EQ(seats->status(), Status::completed);
  EXPECT_EQ(world.L("cus_l3", "2026-08"), 1);
  world.run_for(7 * 24h);
  EXPECT_EQ(world.status("cus_l3", "2026-08"), Status::completed);
  EXPECT_EQ(world.L("cus_l3", "2026-08"), 2) << "one for each purpose";
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R101_SubscribesAgain) {
  in_both_flows(r101_subscribes_again);
}

}  // namespace onceward::cases
