// Section N: refunds.
#include <algorithm>
#include <set>

#include "tests/cases/bodies.hpp"

namespace onceward::cases {

namespace {

RefundObligation refund_of(const std::string& customer, std::int64_t minor,
                           const std::string& request_id) {
  RefundObligation refund;
  refund.key = CaseWorld::key_of(customer, "2026-08");
  refund.amount_minor = minor;
  refund.mark = Mark{"refund", request_id, std::to_string(minor), std::nullopt};
  refund.who = "ann";
  refund.why = "customer asked";
  return refund;
}

struct RefundPosts {
  int executed = 0;
  std::set<std::string> keys;
};

RefundPosts refund_posts(CaseWorld& world) {
  RefundPosts posts;
  for (const auto& sent : world.port().provider().trace()) {
    if (sent.method != "POST" || sent.path != "/v1/refunds" || sent.key.empty()) continue;
    posts.executed += sent.outcome == "executed" && sent.status == 200 ? 1 : 0;
    posts.keys.insert(sent.key);
  }
  return posts;
}

}  // namespace

// The answer to a refund is lost, the process restarts, and the same refund is asked for again.
void r107_refund_asked_again(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  (void)world.bill("cus_n1", "2026-08");
  world.run_for(1min);
  world.faults({R"("kind":"commit_drop","match":{"path":"/v1/refunds"},"count":1)"});
  (void)world.send(refund_of("cus_n1", 9'900, "r1"));
  world.restart();
  const auto again = world.send(refund_of("cus_n1", 9'900, "r1"));
  world.run_for(1h);
  ASSERT_TRUE(again->is_answered());
  const auto* told = std::get_if<RefundTold>(&again->replies.back());
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->refund.status, RefundStatus::succeeded);
  EXPECT_EQ(told->refund.number, 1U);
  const auto posts = refund_posts(world);
  EXPECT_EQ(posts.executed, 1);
  EXPECT_EQ(posts.keys.size(), 1U);
  EXPECT_EQ(world.status("cus_n1", "2026-08"), Status::completed) << "it stays billed";
  EXPECT_EQ(world.L("cus_n1", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R107_RefundAskedAgain) {
  in_both_flows(r107_refund_asked_again);
}

// The whole charge was refunded by hand at the provider; then somebody asks us for it.
void r109_refunded_out_of_band(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  const auto bill = world.bill("cus_n3", "2026-08");
  world.run_for(1min);
  const auto outside = world.port().ask("POST", "/v1/refunds",
                                        "charge=" + bill->charge() + "&amount=9900", world.now());
  ASSERT_EQ(outside.status, 200) << outside.body;
  const auto asked = world.send(refund_of("cus_n3", 9'900, "r3"));
  world.run_for(1h);
  ASSERT_TRUE(asked->is_answered());
  const auto* told = std::get_if<RefundTold>(&asked->replies.back());
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->refund.status, RefundStatus::succeeded);
  EXPECT_NE(outside.body.find(told->refund.refund_id), std::string::npos) << "another was adopted";
  EXPECT_EQ(refund_posts(world).executed, 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R109_RefundedOutOfBand) {
  in_both_flows(r109_refunded_out_of_band);
}

}  // namespace onceward::cases
