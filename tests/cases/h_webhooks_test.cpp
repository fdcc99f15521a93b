// Section H: webhooks.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// Every webhook is lost: paid is found by asking.
void r74_webhooks_lost(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"processing","for_s":600,"then":"succeeded","match":{"money":true})"});
  const auto bill = world.bill("cus_h7", "2026-08");
  world.run_for(10min);
  EXPECT_EQ(world.status("cus_h7", "2026-08"), Status::processing);
  world.run_for(1h);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_h7", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_h7", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R74_WebhooksLost) {
  in_both_flows(r74_webhooks_lost);
}

}  // namespace onceward::cases
