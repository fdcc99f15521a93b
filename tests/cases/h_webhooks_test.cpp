// Section H: webhooks.
#include <algorithm>

#include "tests/cases/bodies.hpp"
#include "tests/cases/webhook_edge.hpp"

namespace onceward::cases {

namespace {

// Accepted, and paid ten minutes later: only a webhook tells before the hourly poll.
constexpr const char* paid_later =
    R"("kind":"processing","for_s":600,"then":"succeeded","match":{"money":true})";

int look_ups_for(const CaseWorld& world, const std::string& customer, const std::string& type) {
  int count = 0;
  for (const auto& event : world.events(customer)) {
    const auto* owed = std::get_if<LookUpOwed>(&event);
    const auto* hinted = std::get_if<ObjectHinted>(&event);
    const std::string cause = owed != nullptr     ? owed->cause
                              : hinted != nullptr ? hinted->cause
                                                  : "";
    count += cause.find(type) != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace

// One event comes six times, and the process dies in the transaction that takes the first.
void r68_delivered_six_times(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  // No other event tells of it.
  const bool is_charge = setup.flow == Flow::charges;
  const std::string type = is_charge ? "charge.succeeded" : "payment_intent.succeeded";
  const std::string others = is_charge ? "payment_intent.*" : "charge.*";
  world.faults({paid_later, R"("kind":"wh_dup","n":5,"match":{"event":")" + type + R"("})",
                R"("kind":"wh_lose","match":{"event":")" + others + R"("})"});
  (void)world.bill("cus_h1", "2026-08");
  world.run_for(5min);
  EXPECT_EQ(world.status("cus_h1", "2026-08"), Status::processing);
  world.crash_at(CrashPoint::inside_claim);
  world.run_for(20min);
  EXPECT_EQ(world.crashes(), 1);
  EXPECT_EQ(world.status("cus_h1", "2026-08"), Status::completed) << "the webhook was swallowed";
  for (const auto& delivery : edge.deliveries()) {
    EXPECT_TRUE(!delivery.status || *delivery.status == 200);
  }
  EXPECT_GE(edge.taken(type), 6);
  EXPECT_EQ(look_ups_for(world, "cus_h1", type), 1);
  EXPECT_EQ(world.count_events<BillingCompleted>("cus_h1"), 1);
  EXPECT_EQ(world.L("cus_h1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_h1", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R68_DeliveredSixTimes) {
  in_both_flows(r68_delivered_six_times);
}

// Two events for one change arrive in the same instant.
void r70_two_events_at_once(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  world.faults({paid_later, R"("kind":"wh_twin","match":{"event":"*.succeeded"})"});
  (void)world.bill("cus_h3", "2026-08");
  world.run_for(20min);
  EXPECT_EQ(world.status("cus_h3", "2026-08"), Status::completed);
  EXPECT_GE(edge.taken("charge.succeeded"), 2);
  EXPECT_EQ(world.count_events<BillingCompleted>("cus_h3"), 1);
  EXPECT_EQ(world.L("cus_h3", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_h3", "2026-08"), 1);
  const auto row = world.row(CaseWorld::key_of("cus_h3", "2026-08"));
  EXPECT_TRUE(row && !row->charge_id.empty());
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R70_TwoEventsAtOnce) {
  in_both_flows(r70_two_events_at_once);
}

// The answer to the create is lost; its webhook and its replay name the same intent.
void r72_intent_by_two_roads(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  world.faults({R"("kind":"commit_drop","match":{"path":"/v1/payment_intents"},"count":1)"});
  const auto bill = world.bill("cus_h5", "2026-08");
  world.run_for(10min);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_GE(edge.taken("payment_intent.created"), 1);
  EXPECT_EQ(world.count_events<PaymentIntentCreated>("cus_h5"), 1);
  EXPECT_EQ(world.count_events<BillingCompleted>("cus_h5"), 1);
  EXPECT_EQ(world.L("cus_h5", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R72_IntentByTwoRoads) {
  in_two_steps(r72_intent_by_two_roads);
}

// Every webhook is lost: paid is found by asking.
void r74_webhooks_lost(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  world.faults({paid_later, R"("kind":"wh_lose","match":{"event":"*"})"});
  const auto bill = world.bill("cus_h7", "2026-08");
  world.run_for(15min);
  EXPECT_EQ(world.status("cus_h7", "2026-08"), Status::processing);
  world.run_for(1h);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_TRUE(edge.deliveries().empty());
  EXPECT_EQ(world.L("cus_h7", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_h7", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R74_WebhooksLost) {
  in_both_flows(r74_webhooks_lost);
}

// Forty minutes lie between taking an event and acting on it: its signature was looked at when it
// came, and would be refused by then.
void r76_worked_on_later(const CaseSetup& setup) {
  CaseOptions options = setup.options();
  options.downtime = 40min;
  CaseWorld world(options);
  WebhookEdge edge(world);
  world.faults({paid_later});
  (void)world.bill("cus_h9", "2026-08");
  world.run_for(9min);
  world.crash_at(CrashPoint::after_reply);
  world.run_for(5min);
  EXPECT_EQ(world.crashes(), 1);
  EXPECT_EQ(world.status("cus_h9", "2026-08"), Status::processing);
  const auto taken = std::find_if(edge.deliveries().rbegin(), edge.deliveries().rend(),
                                  [](const auto& one) { return one.status == 200; });
  ASSERT_NE(taken, edge.deliveries().rend());
  world.run_until(utc("2026-09-01T00:51:00Z"));
  EXPECT_EQ(world.status("cus_h9", "2026-08"), Status::completed);
  EXPECT_FALSE(edge.verify(*taken, world.now()).has_value());
  EXPECT_EQ(world.L("cus_h9", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R76_WorkedOnLater) {
  in_both_flows(r76_worked_on_later);
}

// Webhooks of every kind arrive while the confirm is on its way: none of them moves money.
void r78_webhook_beside_the_confirm(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  world.faults({R"("kind":"slow","delay_s":20,"match":{"money":true})",
                R"("kind":"wh_dup","n":3,"match":{"event":"*"})"});
  const auto bill = world.bill("cus_h11", "2026-08");
  world.run_for(10min);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_GE(edge.deliveries().size(), 4U);
  EXPECT_EQ(world.L("cus_h11", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_h11", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_h11", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R78_WebhookBesideTheConfirm) {
  in_both_flows(r78_webhook_beside_the_confirm);
}

}  // namespace onceward::cases
