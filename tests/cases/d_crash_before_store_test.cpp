// Section D: a crash, or a store that fails, between the provider and the store.
#include <algorithm>

#include <onceward/journal/memory_journal.hpp>
#include <onceward/recovery/inbox.hpp>

#include "tests/cases/bodies.hpp"
#include "tests/cases/paid_by_hand.hpp"
#include "tests/cases/webhook_edge.hpp"
#include "tests/support/journal_wrapper.hpp"

namespace onceward::cases {

namespace {

// The store loses commits that hold an event of this name; whoever waits is told "unknown".
class LosingJournal final : public testing::JournalWrapper {
 public:
  LosingJournal(journal::Journal& inner, std::string event, int times)
      : JournalWrapper(inner), event_(std::move(event)), left_(times) {
    dynamic_cast<journal::MemoryJournal&>(inner_).script([this] {
      return loses_ ? journal::CommitFate::lost_unanswered : journal::CommitFate::normal;
    });
  }
  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override {
    const auto& events = units.front().events;
    const bool is_hit = std::any_of(events.begin(), events.end(),
                                    [&](const auto& e) { return e.manifest.name == event_; });
    loses_ = is_hit && left_ > 0;
    if (loses_) --left_;
    auto answers = inner_.commit(units);
    loses_ = false;
    return answers;
  }

 private:
  std::string event_;
  int left_;
  bool loses_ = false;
};

CaseOptions losing(const CaseSetup& setup, const std::string& event, int times) {
  CaseOptions options = setup.options();
  options.wrap_journal = [event, times](CaseWorld&, journal::Journal& inner) {
    return std::make_unique<LosingJournal>(inner, event, times);
  };
  return options;
}

}  // namespace

// The outcome cannot be stored five times over: only the storing is repeated.
void r27_busy_store(const CaseSetup& setup) {
  CaseWorld world(losing(setup, "BillingCompleted", 5));
  const auto bill = world.bill("cus_d1", "2026-08");
  world.run_for(1h);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_d1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_d1", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R27_BusyStore) {
  in_both_flows(r27_busy_store);
}

// The intent exists, its id was not stored, and the process starts again.
void r29_intent_not_stored(const CaseSetup& setup) {
  CaseWorld world(losing(setup, "PaymentIntentCreated", 3));
  (void)world.bill("cus_d2", "2026-08");
  world.restart();
  const auto again = world.bill("cus_d2", "2026-08");
  world.run_for(1h);
  EXPECT_EQ(again->status(), Status::completed);
  EXPECT_EQ(world.L("cus_d2", "2026-08"), 1);
  const auto trace = world.port().provider().trace();
  const auto creates = std::count_if(trace.begin(), trace.end(), [](const auto& sent) {
    return sent.path == "/v1/payment_intents" && sent.method == "POST" &&
           sent.outcome == "executed";
  });
  EXPECT_EQ(creates, 1) << "an intent was left behind";
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R29_IntentNotStored) {
  in_two_steps(r29_intent_not_stored);
}

// The alarm clock and a person turn to the same unknown obligation in the same instant: both are
// messages to its one entity.
void r31_two_look_at_once(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"commit_drop","match":{"money":true},"count":1)"});
  const auto bill = world.bill("cus_d3", "2026-08");
  const auto row = world.row(CaseWorld::key_of("cus_d3", "2026-08"));
  ASSERT_TRUE(row && row->next_action_at);
  EXPECT_EQ(row->status, Status::unknown);
  std::shared_ptr<testing::CaseCall> look;
  world.at(*row->next_action_at, [&] {
    look = world.send(LookAgain{CaseWorld::key_of("cus_d3", "2026-08"), "ann", "customer called"});
  });
  world.run_for(10min);
  EXPECT_EQ(bill->status(), Status::completed);
  ASSERT_TRUE(look && look->told() != nullptr);
  EXPECT_EQ(world.L("cus_d3", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_d3", "2026-08"), 1);
  EXPECT_EQ(world.count_events<BillingCompleted>("cus_d3"), 1);
  EXPECT_EQ(world.row(row->key)->charge_id, bill->charge());
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R31_TwoLookAtOnce) {
  in_both_flows(r31_two_look_at_once);
}

// An intent with our metadata was paid and only a webhook tells of it: of an obligation that is
// recorded it is adopted, of any other it waits in the inbox for a person. No second charge.
void r33_paid_without_a_record(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  WebhookEdge edge(world);
  pay_by_hand(world, "cus_d5", "2026-08");
  world.run_for(1min);
  const auto inbox = recovery::read_inbox(*world.reader(), "", 100, true);
  ASSERT_TRUE(inbox.has_value()) << inbox.error().context;
  EXPECT_FALSE(inbox->items.empty()) << "nobody would see it";
  EXPECT_TRUE(world.events("cus_d5").empty());

  world.port().is_cut_off = true;  // recorded, and nothing has left
  const auto bill = world.bill("cus_d6", "2026-08");
  pay_by_hand(world, "cus_d6", "2026-08");
  world.run_for(1s);
  world.port().is_cut_off = false;
  world.run_for(1h);
  EXPECT_EQ(bill->status(), Status::completed);
  EXPECT_EQ(world.L("cus_d6", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_d6", "2026-08"), 0) << "a second charge was tried";
  const auto events = world.events("cus_d6");
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const auto& event) {
    const auto* done = std::get_if<BillingCompleted>(&event);
    return done != nullptr && !done->alarm.empty();
  })) << "nobody would see it";
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R33_PaidWithoutARecord) {
  in_both_flows(r33_paid_without_a_record);
}

}  // namespace onceward::cases
