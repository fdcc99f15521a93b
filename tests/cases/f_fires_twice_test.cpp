// Section F: a scheduler or a job that fires twice.
#include "tests/cases/bodies.hpp"
#include "tests/cases/new_card.hpp"

namespace onceward::cases {

// The provider is so slow that a run takes three hours; the clock starts it again every hour.
void r44_run_longer_than_its_clock(const CaseSetup& setup) {
  constexpr int customers = 150;
  CaseOptions options = setup.options();
  options.in_flight_max = 1;
  CaseWorld world(options);
  world.faults({R"("kind":"slow","delay_s":72,"match":{"money":true})"});
  std::vector<std::shared_ptr<testing::CaseCall>> asks;
  for (int hour = 0; hour < 4; ++hour) {
    for (int i = 0; i < customers; ++i) {
      asks.push_back(world.bill("cus_f1_" + std::to_string(i), "2026-08", 9'900, "run"));
    }
    world.run_for(1h);
  }
  world.run_for(1h);
  for (const auto& ask : asks) EXPECT_EQ(ask->status(), Status::completed);
  for (int i = 0; i < customers; ++i) {
    const std::string customer = "cus_f1_" + std::to_string(i);
    EXPECT_EQ(world.L(customer, "2026-08"), 1) << customer;
  }
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R44_RunLongerThanItsClock) {
  in_both_flows(r44_run_longer_than_its_clock);
}

// By a mistake in the set-up eight actors believe that they are the customer's only one.
void r46_eight_owners(const CaseSetup& setup) {
  constexpr std::size_t owners = 8;
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":3,"match":{"money":true})"});
  for (std::size_t i = 1; i < owners; ++i) {
    (void)world.add_node("node-" + std::to_string(i + 1));
    world.join(i);
    world.pause(i);
  }
  // All of them read the empty history before the first one writes.
  std::vector<std::shared_ptr<testing::CaseCall>> asks;
  for (std::size_t i = owners; i-- > 0;) {
    asks.push_back(world.send(CaseWorld::bill_of("cus_f3", "2026-08"), i));
  }
  for (std::size_t i = 1; i < owners; ++i) world.go_on(i);
  world.run_for(1h);
  for (const auto& ask : asks) EXPECT_EQ(ask->status(), Status::completed);
  EXPECT_EQ(world.L("cus_f3", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_f3", "2026-08"), 1);
  EXPECT_EQ(world.count_events<BillingInitiated>("cus_f3"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R46_EightOwners) {
  in_both_flows(r46_eight_owners);
}

// The same command once more, minutes after it was done.
void r48_again_after_minutes(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":1,"match":{"money":true})"});
  const auto first = world.bill("cus_f5", "2026-08", 9'900, "rid");
  world.run_for(6min);
  const auto second = world.bill("cus_f5", "2026-08", 9'900, "rid");
  world.run_for(7min);
  const auto third = world.bill("cus_f5", "2026-08", 9'900, "rid");
  world.run_for(1min);
  for (const auto& one : {first, second, third}) {
    EXPECT_EQ(one->status(), Status::completed);
    EXPECT_EQ(one->charge(), first->charge());
  }
  EXPECT_EQ(world.L("cus_f5", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_f5", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R48_AgainAfterMinutes) {
  in_both_flows(r48_again_after_minutes);
}

// Delivered again after 15 s, because nobody had acknowledged what takes 60 s. The acknowledgement
// is the reply that it is recorded, not the one that it is done.
void r50_redelivered_while_running(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":60,"match":{"money":true})"});
  auto command = CaseWorld::bill_of("cus_f7", "2026-08");
  command.notify = Notify::accepted;
  const auto first = world.send(command);
  EXPECT_EQ(first->status(), Status::in_progress);
  world.run_for(15s);
  const auto second = world.send(command);
  EXPECT_EQ(second->status(), Status::in_progress);
  world.run_for(1min);
  EXPECT_EQ(world.status("cus_f7", "2026-08"), Status::completed);
  EXPECT_EQ(world.L("cus_f7", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_f7", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R50_RedeliveredWhileRunning) {
  in_both_flows(r50_redelivered_while_running);
}

// A declined customer pays with a new card before the planned try: when that one's time comes,
// nothing is owed, and the next period is not begun early.
void r52_paid_before_the_planned_try(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults(
      {R"("kind":"decline","code":"insufficient_funds","match":{"money":true},"count":1)"});
  (void)world.bill("cus_f8", "2026-08");
  world.run_for(24h);
  EXPECT_EQ(world.status("cus_f8", "2026-08"), Status::declined);
  const auto set = world.send(new_card("cus_f8", "pm_card_mastercard"));
  world.run_for(1min);
  ASSERT_TRUE(set->is_answered());
  EXPECT_TRUE(std::holds_alternative<PaymentMethodSet>(set->replies.back()));
  EXPECT_EQ(world.status("cus_f8", "2026-08"), Status::completed);
  world.run_for(13 * 24h);
  EXPECT_EQ(world.L("cus_f8", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_f8", "2026-08"), 2);
  EXPECT_EQ(world.K("cus_f8", "2026-08"), 2);
  EXPECT_EQ(world.status("cus_f8", "2026-09"), std::nullopt);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R52_PaidBeforeThePlannedTry) {
  in_both_flows(r52_paid_before_the_planned_try);
}

// The program starts ten times in ten minutes and each time first of all bills.
void r54_runs_at_every_start(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  for (int i = 0; i < 10; ++i) {
    const auto bill = world.bill("cus_f9", "2026-08", 9'900, "start-" + std::to_string(i));
    world.run_for(1min);
    EXPECT_EQ(bill->status(), Status::completed);
    world.restart();
  }
  EXPECT_EQ(world.L("cus_f9", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_f9", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R54_RunsAtEveryStart) {
  in_both_flows(r54_runs_at_every_start);
}

}  // namespace onceward::cases
