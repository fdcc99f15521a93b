// Section A: one intent, several keys.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

namespace {

BillCustomer with_caller_key(BillCustomer bill, const std::string& principal,
                             const std::string& key) {
  const std::string content = to_display(bill.key) + to_display(bill.amount);
  bill.caller_mark = Mark{"caller/" + principal, key, content, std::nullopt};
  return bill;
}

}  // namespace

// The provider takes 40 s, the caller's patience is 10 s. He repeats himself under the same key,
// and then under another one. (That the route answers 202 until then is bill_exchange_test.)
void r01_impatient_caller(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":40,"commit_at":"start","match":{"money":true})"});
  const auto bill = [&](const std::string& key) {
    return world.send(
        with_caller_key(CaseWorld::bill_of("cus_a1", "2026-08", 5'000, "rid-" + key), "shop", key));
  };
  const auto first = bill("k1");
  world.run_for(10s);
  EXPECT_FALSE(first->is_answered());
  for (const auto wait : {1s, 11s, 11s}) {
    world.run_for(wait);
    const auto repeat = bill("k1");
    EXPECT_EQ(repeat->status(), Status::in_progress);
    EXPECT_TRUE(repeat->told() != nullptr && repeat->told()->replayed);
  }
  world.run_for(1s);
  const auto other = bill("k2");
  EXPECT_FALSE(other->is_answered());
  world.run_for(30s);
  const auto late = bill("k1");
  EXPECT_EQ(first->status(), Status::completed);
  EXPECT_EQ(late->status(), Status::completed);
  EXPECT_EQ(other->status(), Status::completed);
  EXPECT_TRUE(other->told() != nullptr && other->told()->deduplicated);
  EXPECT_EQ(other->charge(), first->charge());
  EXPECT_EQ(late->charge(), first->charge());
  EXPECT_EQ(world.L("cus_a1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_a1", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_a1", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R01_ImpatientCaller) {
  in_both_flows(r01_impatient_caller);
}

// What changes from call to call is neither part of the key nor of what is sent.
void r03_volatile_fields(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"hang","match":{"money":true},"count":1)"});
  const auto bill = [&](const std::string& trace) {
    auto command = CaseWorld::bill_of("cus_a3", "2026-08", 9'900, trace);
    command.metadata = {{"trace_id", trace}};
    return world.send(command);
  };
  (void)bill("trace-1");
  world.run_for(90s);
  world.restart();
  const auto second = bill("trace-2");
  world.run_for(10min);
  EXPECT_EQ(second->status(), Status::completed);
  EXPECT_EQ(world.L("cus_a3", "2026-08"), 1);
  EXPECT_GE(world.W("cus_a3", "2026-08"), 2);
  EXPECT_EQ(world.K("cus_a3", "2026-08"), 1);
  for (const auto& sent : world.port().provider().trace()) {
    EXPECT_NE(sent.outcome, "key_mismatch");
  }
  for (const auto& post : world.port().posts()) {
    for (const auto& [name, value] : post.params) EXPECT_NE(value, "trace-2") << name;
  }
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R03_VolatileFields) {
  in_both_flows(r03_volatile_fields);
}

// A kept connection dies before the first byte: libcurl sends the POST again without being asked.
void r05_silent_resend(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.port().keeps_connections = true;
  (void)world.bill("cus_w", "2026-08");
  world.run_for(1min);
  world.faults({R"("kind":"commit_drop","match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_a5", "2026-08");
  world.run_for(1min);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(bill->replies.size(), 1U);
  EXPECT_EQ(world.W("cus_a5", "2026-08"), 2);
  EXPECT_EQ(world.K("cus_a5", "2026-08"), 1);
  EXPECT_EQ(world.L("cus_a5", "2026-08"), 1);
  EXPECT_EQ(world.count_events<OutcomeUnknown>("cus_a5"), 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R05_SilentResend) {
  in_both_flows(r05_silent_resend);
}

// Whoever asks gives up after 300 ms and asks again with another reply address.
void r07_asked_again(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":2,"match":{"money":true})"});
  std::vector<std::shared_ptr<testing::CaseCall>> asks;
  for (int i = 0; i < 7; ++i) {
    auto command = CaseWorld::bill_of("cus_a7", "2026-08", 9'900, "run-request");
    command.notify = Notify::accepted_and_left;
    asks.push_back(world.send(command));
    world.run_for(300ms);
  }
  world.run_for(1min);
  for (const auto& ask : asks) {
    ASSERT_EQ(ask->replies.size(), 2U);
    EXPECT_EQ(std::get<Told>(ask->replies.front()).row.status, Status::in_progress);
    EXPECT_EQ(ask->status(), Status::completed);
    EXPECT_EQ(ask->charge(), asks.front()->charge());
  }
  EXPECT_EQ(world.L("cus_a7", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_a7", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R07_AskedAgain) {
  in_both_flows(r07_asked_again);
}

}  // namespace onceward::cases
