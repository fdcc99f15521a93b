// Section B: a key that is too sticky, reused or mismatched.
#include <algorithm>
#include <set>

#include "tests/cases/bodies.hpp"
#include "tests/cases/new_card.hpp"

namespace onceward::cases {

// The provider remembers a refusal under its key: the next try needs a key of its own.
void r09_second_try_after_a_decline(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults(
      {R"("kind":"decline","code":"insufficient_funds","match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_b1", "2026-08");
  world.run_for(1min);
  EXPECT_EQ(bill->status(), Status::declined);
  const auto declined = world.row(CaseWorld::key_of("cus_b1", "2026-08"));
  ASSERT_TRUE(declined && declined->next_attempt_at);
  EXPECT_GE(declined->next_attempt_at->ms - world.now().ms, 23 * 3'600'000);
  world.run_for(4 * 24h);
  EXPECT_EQ(world.status("cus_b1", "2026-08"), Status::completed);
  EXPECT_EQ(world.L("cus_b1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_b1", "2026-08"), 2);
  EXPECT_EQ(world.K("cus_b1", "2026-08"), 2);
  for (const auto& sent : world.port().provider().trace()) {
    EXPECT_NE(sent.outcome, "key_mismatch");
    EXPECT_NE(sent.outcome, "replayed");
  }
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R09_SecondTryAfterADecline) {
  in_both_flows(r09_second_try_after_a_decline);
}

// And a second card, given after an hour or after a day, is charged under that key.
void r09_second_card(const CaseSetup& setup) {
  for (const auto wait : {1h, 24h}) {
    CaseWorld world(setup.options());
    world.faults(
        {R"("kind":"decline","code":"insufficient_funds","match":{"money":true},"count":1)"});
    (void)world.bill("cus_b2", "2026-08");
    world.run_for(wait);
    const auto set = world.send(new_card("cus_b2", "pm_card_mastercard"));
    world.run_for(1min);
    ASSERT_TRUE(set->is_answered());
    EXPECT_TRUE(std::holds_alternative<PaymentMethodSet>(set->replies.back()));
    EXPECT_EQ(world.status("cus_b2", "2026-08"), Status::completed);
    EXPECT_EQ(world.L("cus_b2", "2026-08"), 1);
    EXPECT_EQ(world.W("cus_b2", "2026-08"), 2);
    EXPECT_EQ(world.K("cus_b2", "2026-08"), 2);
    const auto& last = world.port().posts().back();
    EXPECT_TRUE(std::any_of(last.params.begin(), last.params.end(), [](const auto& param) {
      return param.second == "pm_card_mastercard";
    }));
    for (const auto& sent : world.port().provider().trace())
      EXPECT_NE(sent.outcome, "key_mismatch");
    EXPECT_EQ(world.audit(), "");
  }
}
TEST(Cases, R09_SecondCard) {
  in_both_flows(r09_second_card);
}

// Create and confirm follow each other on one connection and carry keys of their own.
void r11_each_request_its_key(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  const auto bill = world.bill("cus_b3", "2026-08");
  world.run_for(1min);
  EXPECT_EQ(bill->status(), Status::completed);
  const auto& posts = world.port().posts();
  ASSERT_EQ(posts.size(), 2U);
  EXPECT_EQ(posts[0].operation, Operation::create_intent);
  EXPECT_EQ(posts[1].operation, Operation::confirm_intent);
  EXPECT_NE(posts[0].key, posts[1].key);
  for (const auto& sent : world.port().provider().trace()) EXPECT_EQ(sent.outcome, "executed");
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R11_EachRequestItsKey) {
  in_two_steps(r11_each_request_its_key);
}

// Nobody is called nothing. `None` and `null` are names like any other, with keys of their own.
void r13_no_key_from_a_missing_id(const CaseSetup& setup) {
  const auto nobody = parse_customer_id("");
  ASSERT_FALSE(nobody.has_value());
  EXPECT_EQ(nobody.error().code, ErrorCode::invalid_argument);
  CaseWorld world(setup.options());
  for (const char* name : {"None", "null", "undefined"}) {
    ASSERT_TRUE(parse_customer_id(name).has_value());
    const auto bill = world.bill(name, "2026-08");
    world.run_for(1min);
    EXPECT_EQ(bill->status(), Status::completed) << name;
    EXPECT_EQ(world.L(name, "2026-08"), 1) << name;
    EXPECT_EQ(world.K(name, "2026-08"), 1) << name;
  }
  std::set<std::string> keys;
  for (const auto& post : world.port().posts()) keys.insert(post.key);
  EXPECT_EQ(keys.size(), world.port().posts().size());
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R13_NoKeyFromAMissingId) {
  in_both_flows(r13_no_key_from_a_missing_id);
}

// Two callers who must not know of each other use the same key.
void r15_caller_keys_of_two_tenants(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  const auto bill = [&](const std::string& tenant, const std::string& customer) {
    auto command = CaseWorld::bill_of(customer, "2026-08", 9'900, tenant + "-request");
    command.caller_mark = Mark{"caller/" + tenant, "2026-08", customer, std::nullopt};
    return world.send(command);
  };
  const auto one = bill("T1", "cus_1");
  const auto two = bill("T2", "cus_2");
  world.run_for(1min);
  for (const auto& call : {one, two}) {
    ASSERT_NE(call->told(), nullptr);
    EXPECT_EQ(call->status(), Status::completed);
    EXPECT_FALSE(call->told()->replayed);
    EXPECT_FALSE(call->told()->deduplicated);
  }
  EXPECT_NE(one->charge(), two->charge());
  EXPECT_EQ(world.L("cus_1", "2026-08"), 1);
  EXPECT_EQ(world.L("cus_2", "2026-08"), 1);
  // The other side of the rule: within one tenant the key names one content.
  const auto clash = bill("T1", "cus_3");
  world.run_for(1min);
  ASSERT_TRUE(clash->is_answered());
  EXPECT_TRUE(std::holds_alternative<CallerKeyReused>(clash->replies.back()));
  EXPECT_EQ(world.L("cus_3", "2026-08"), 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R15_CallerKeysOfTwoTenants) {
  in_both_flows(r15_caller_keys_of_two_tenants);
}

}  // namespace onceward::cases
