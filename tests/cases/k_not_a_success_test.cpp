// Section K: answers that are no success, and declines.
#include <algorithm>

#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// The payer must act; he does so two hours later, and nobody tells us.
void r94_payer_must_act(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"requires_action","match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_k1", "2026-08");
  world.run_for(1min);
  EXPECT_EQ(bill->status(), Status::action_required);
  EXPECT_EQ(bill->charge(), "");
  const auto again = world.bill("cus_k1", "2026-08", 9'900, "r2");
  world.run_for(2h);
  EXPECT_EQ(again->status(), Status::action_required);
  const auto events = world.events("cus_k1");
  const auto created = std::find_if(events.begin(), events.end(), [](const auto& event) {
    return std::holds_alternative<PaymentIntentCreated>(event);
  });
  ASSERT_NE(created, events.end());
  const std::string intent = std::get<PaymentIntentCreated>(*created).intent;
  const auto acted = world.port().ask(
      "POST", "/_sim/authenticate",
      R"({"payment_intent":")" + intent + R"(","outcome":"succeeded"})", world.now());
  EXPECT_EQ(acted.status, 200) << acted.body;
  world.run_for(2h);
  EXPECT_EQ(world.status("cus_k1", "2026-08"), Status::completed);
  EXPECT_EQ(world.L("cus_k1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_k1", "2026-08"), 1);
  EXPECT_EQ(world.count_events<PaymentIntentCreated>("cus_k1"), 1);
  EXPECT_EQ(world.count_events<BillingCompleted>("cus_k1"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R94_PayerMustAct) {
  in_two_steps(r94_payer_must_act);
}

void r96_off_session_at_confirm_only(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  const auto bill = world.bill("cus_k3", "2026-08");
  world.run_for(1min);
  EXPECT_EQ(bill->status(), Status::completed);
  for (const auto& post : world.port().posts()) {
    const bool has = std::any_of(post.params.begin(), post.params.end(),
                                 [](const auto& param) { return param.first == "off_session"; });
    EXPECT_EQ(has, post.operation == Operation::confirm_intent) << to_text(post.operation);
  }
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R96_OffSessionAtConfirmOnly) {
  in_two_steps(r96_off_session_at_confirm_only);
}

// A card that always declines, and a clock that asks every hour.
void r98_hammered_card(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"decline","code":"do_not_honor","match":{"money":true})"});
  for (int hour = 0; hour < 10 * 24; ++hour) {
    (void)world.bill("cus_k5", "2026-08", 9'900, "hour-" + std::to_string(hour));
    world.run_for(1h);
  }
  world.run_for(30 * 24h);
  EXPECT_EQ(world.L("cus_k5", "2026-08"), 0);
  EXPECT_EQ(world.W("cus_k5", "2026-08"), setup.options().policy.dunning_attempts);
  std::optional<Timestamp> last;
  for (const auto& post : world.port().posts()) {
    const bool tries_card =
        post.operation == Operation::confirm_intent || post.operation == Operation::create_charge;
    if (!tries_card) continue;
    EXPECT_TRUE(!last || post.at.ms - last->ms >= 24 * 3'600'000);
    last = post.at;
  }
  const auto status = world.status("cus_k5", "2026-08");
  EXPECT_TRUE(status == Status::parked || status == Status::uncollectible);
  const auto row = world.row(CaseWorld::key_of("cus_k5", "2026-08"));
  EXPECT_TRUE(row && row->reason == "dunning_exhausted");
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R98_HammeredCard) {
  in_both_flows(r98_hammered_card);
}

}  // namespace onceward::cases
