// Section M: the spend cap.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// Fifty bills at once under a cap that has room for one. The world checks the cap at each commit.
void r103_fifty_at_once(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.set_limit("2026-08", 10'000);
  world.faults({R"("kind":"slow","delay_s":5,"match":{"method":"ANY"})"});
  std::vector<std::shared_ptr<testing::CaseCall>> bills;
  for (int i = 0; i < 50; ++i)
    bills.push_back(world.bill("cus_m1_" + std::to_string(i), "2026-08"));
  world.run_for(1h);
  int completed = 0;
  int capped = 0;
  for (const auto& bill : bills) {
    completed += bill->status() == Status::completed ? 1 : 0;
    capped += bill->status() == Status::capped ? 1 : 0;
  }
  EXPECT_EQ(completed, 1);
  EXPECT_EQ(capped, 49);
  EXPECT_EQ(world.port().provider().ledger().rows().size(), 1U);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R103_FiftyAtOnce) {
  in_both_flows(r103_fifty_at_once);
}

// What is reserved for unknown outcomes counts, on whatever path the next bill comes.
void r105_both_paths_count(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.set_limit("2026-08", 31'000);
  world.faults(
      {R"("kind":"hang","match":{"money":true})", R"("kind":"gw_503","match":{"method":"GET"})"});
  for (int i = 0; i < 30; ++i) {
    (void)world.bill("cus_m3_" + std::to_string(i), "2026-08", 1'000);
  }
  world.run_for(10min);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(world.status("cus_m3_" + std::to_string(i), "2026-08"), Status::unknown);
  }
  const auto by_route = world.bill("cus_m4", "2026-08", 2'000);
  auto of_run = CaseWorld::bill_of("cus_m5", "2026-08", 2'000, "run");
  of_run.notify = Notify::accepted_and_left;
  const auto by_run = world.send(of_run);
  world.run_for(1min);
  EXPECT_EQ(by_route->status(), Status::capped);
  EXPECT_EQ(by_run->status(), Status::capped);
  EXPECT_EQ(world.W("cus_m4", "2026-08"), 0);
  EXPECT_EQ(world.W("cus_m5", "2026-08"), 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R105_BothPathsCount) {
  in_both_flows(r105_both_paths_count);
}

}  // namespace onceward::cases
