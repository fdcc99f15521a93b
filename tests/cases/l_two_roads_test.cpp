// Section L: two roads to one obligation.
#include <algorithm>

#include "tests/cases/bodies.hpp"
#include "tests/cases/paid_by_hand.hpp"
#include "tests/cases/webhook_edge.hpp"

namespace onceward::cases {

// A person pays by hand 50 ms before our first send, or 50 ms after it.
void r99_paid_by_hand(const CaseSetup& setup) {
  {
    SCOPED_TRACE("before");
    CaseWorld world(setup.options());
    WebhookEdge edge(world);
    world.port().is_cut_off = true;
    const auto bill = world.bill("cus_l1", "2026-08");
    pay_by_hand(world, "cus_l1", "2026-08");
    world.run_for(50ms);
    world.port().is_cut_off = false;
    world.run_for(1h);
    EXPECT_EQ(bill->status(), Status::completed);
    EXPECT_EQ(world.L("cus_l1", "2026-08"), 1);
    EXPECT_EQ(world.W("cus_l1", "2026-08"), 0) << "it was sent beside the payment";
    EXPECT_EQ(world.audit(), "");
  }
  SCOPED_TRACE("after");
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  world.faults({R"("kind":"slow","delay_s":5,"match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_l1", "2026-08");
  world.run_for(50ms);
  pay_by_hand(world, "cus_l1", "2026-08");
  world.run_for(2h);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_l1", "2026-08"), 2) << "both were paid";
  EXPECT_EQ(world.W("cus_l1", "2026-08"), 1);
  const auto events = world.events("cus_l1");
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const auto& event) {
    const auto* done = std::get_if<BillingCompleted>(&event);
    return std::holds_alternative<UnexpectedPaymentFound>(event) ||
           (done != nullptr && !done->alarm.empty());
  })) << "nobody would see that it was paid twice";
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R99_PaidByHand) {
  in_both_flows(r99_paid_by_hand);
}

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
