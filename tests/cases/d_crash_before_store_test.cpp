// Section D: a crash, or a store that fails, between the provider and the store.
#include <algorithm>

#include <onceward/journal/memory_journal.hpp>

#include "tests/cases/bodies.hpp"
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

}  // namespace onceward::cases
