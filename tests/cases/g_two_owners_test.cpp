// Section G: leadership, locks, two live processes. A second process takes the store as a new owner
// of a shard does: by a raised epoch.
#include <filesystem>

#include "tests/cases/bodies.hpp"
#include "tests/support/journal_wrapper.hpp"

namespace onceward::cases {

namespace {

constexpr std::size_t a = 0;
constexpr std::size_t b = 1;

// A driver that reports attempted inserts: whoever lost is told that he won.
class EverybodyWins final : public testing::JournalWrapper {
 public:
  using JournalWrapper::JournalWrapper;
  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override {
    auto answers = inner_.commit(units);
    const CommitUnit& unit = units.front();
    const bool has_lost = std::holds_alternative<Fenced>(answers.front()) ||
                          std::holds_alternative<ClaimRefused>(answers.front());
    if (has_lost) {
      answers.front() = Stored{SequenceNr{unit.expected.value + unit.events.size()}, unit.head};
    }
    return answers;
  }
};

}  // namespace

// The leader is stopped for a minute; another one takes over; the first goes on as if nothing was.
void r56_paused_leader(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":30,"match":{"money":true},"count":1)"});
  (void)world.bill("cus_g1", "2026-08");
  world.run_for(1s);
  world.pause(a);
  (void)world.add_node("node-2");
  world.start(b);
  const auto asked_b = world.send(CaseWorld::bill_of("cus_g1", "2026-08"), b);
  world.run_for(1min);
  EXPECT_EQ(asked_b->status(), Status::completed);
  const auto stored = world.events("cus_g1").size();
  world.go_on(a);
  const auto asked_a = world.send(CaseWorld::bill_of("cus_g2", "2026-08"), a);
  world.run_for(2s);
  EXPECT_FALSE(world.node(a).is_owner) << "it still believes that it leads";
  EXPECT_FALSE(asked_a->is_answered());
  EXPECT_EQ(world.events("cus_g1").size(), stored);
  EXPECT_TRUE(world.events("cus_g2").empty());
  world.run_for(1h);
  EXPECT_EQ(world.L("cus_g1", "2026-08"), 1);
  EXPECT_EQ(world.L("cus_g2", "2026-08"), 0);
  EXPECT_EQ(world.K("cus_g1", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R56_PausedLeader) {
  in_both_flows(r56_paused_leader);
}

// Two processes hold the same epoch and have read the same history; both write its next event.
void r64_same_sequence_number(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  for (const char* period : {"2026-05", "2026-06", "2026-07"}) (void)world.bill("cus_g9", period);
  world.run_for(1min);
  world.faults({R"("kind":"slow","delay_s":2,"match":{"money":true})"});
  (void)world.add_node("node-2");
  world.join(b);
  world.pause(b);
  auto redelivered = CaseWorld::bill_of("cus_g9", "2026-08");
  redelivered.notify = Notify::accepted;
  const auto second = world.send(redelivered, b);
  const auto first = world.send(CaseWorld::bill_of("cus_g9", "2026-08"), a);
  world.go_on(b);
  world.run_for(1h);
  EXPECT_EQ(first->status(), Status::completed);
  EXPECT_EQ(second->status(), Status::in_progress) << "the loser reads again, and tells what it is";
  EXPECT_EQ(world.L("cus_g9", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_g9", "2026-08"), 1);
  EXPECT_EQ(world.count_events<BillingInitiated>("cus_g9"), 4);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R64_SameSequenceNumber) {
  in_both_flows(r64_same_sequence_number);
}

// With such a driver the case above must not stay green.
TEST(Cases, R58_EverybodyWins) {
  const auto body = [](const CaseSetup& setup) {
    CaseOptions options = setup.options();
    options.wrap_journal = [](CaseWorld&, journal::Journal& inner) {
      return std::make_unique<EverybodyWins>(inner);
    };
    CaseWorld world(options);
    world.faults({R"("kind":"slow","delay_s":2,"match":{"money":true})"});
    (void)world.add_node("node-2");
    world.join(b);
    world.pause(b);
    (void)world.send(CaseWorld::bill_of("cus_g3", "2026-08"), b);
    (void)world.send(CaseWorld::bill_of("cus_g3", "2026-08"), a);
    world.go_on(b);
    world.run_for(1h);
    EXPECT_EQ(world.audit(), "");
  };
  EXPECT_NE(report_of(body, {Flow::payment_intents, Mutation::none}), "");
  EXPECT_NE(report_of(body, {Flow::charges, Mutation::none}), "");
}

// The pause lies between reading and writing, and the two clocks differ by six seconds.
void r60_pause_before_the_write(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.node(a).wall_skew_ms = 3'000;
  world.pause(a);
  const auto asked_a = world.send(CaseWorld::bill_of("cus_g5", "2026-08"), a);
  const Epoch before = world.node(a).epoch;
  world.run_for(6s);
  world.add_node("node-2").wall_skew_ms = -3'000;
  world.start(b);
  EXPECT_GT(world.node(b).epoch, before);
  const auto asked_b = world.send(CaseWorld::bill_of("cus_g5", "2026-08"), b);
  world.go_on(a);
  world.run_for(1min);
  EXPECT_EQ(asked_b->status(), Status::completed);
  EXPECT_FALSE(asked_a->is_answered());
  EXPECT_FALSE(world.node(a).is_owner);
  EXPECT_EQ(world.L("cus_g5", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_g5", "2026-08"), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R60_PauseBeforeTheWrite) {
  in_both_flows(r60_pause_before_the_write);
}

// The store is closed and opened again every minute, in the middle of the work.
void r62_store_reopened(const CaseSetup& setup) {
  const auto folder = std::filesystem::path(::testing::TempDir()) /
                      ("cases_r62_" + std::to_string(static_cast<int>(setup.flow)));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  {
    CaseOptions options = setup.options();
    options.sqlite_path = folder / "billing.db";
    options.in_flight_max = 1;
    CaseWorld world(options);
    world.faults({R"("kind":"slow","delay_s":20,"match":{"money":true})"});
    for (int i = 0; i < 20; ++i) (void)world.bill("cus_g7_" + std::to_string(i), "2026-08");
    for (int minute = 0; minute < 10; ++minute) {
      world.run_for(50s);
      world.kill();
      world.reopen_store();
      world.start();
      world.run_for(10s);
    }
    world.run_for(1h);
    for (int i = 0; i < 20; ++i) {
      const std::string customer = "cus_g7_" + std::to_string(i);
      EXPECT_EQ(world.status(customer, "2026-08"), Status::completed) << customer;
      EXPECT_EQ(world.L(customer, "2026-08"), 1) << customer;
      EXPECT_EQ(world.K(customer, "2026-08"), 1) << customer;
    }
    EXPECT_EQ(world.audit(), "");
  }
  std::filesystem::remove_all(folder);
}
TEST(Cases, R62_StoreReopened) {
  in_both_flows(r62_store_reopened);
}

// The one whose write is refused has twenty commands waiting.
void r66_backlog_of_the_refused(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  (void)world.add_node("node-2");
  world.join(b);
  world.pause(b);
  std::vector<std::shared_ptr<testing::CaseCall>> backlog;
  std::vector<std::string> periods;
  for (int year : {2025, 2026}) {
    for (int month = 1; month <= (year == 2025 ? 12 : 8); ++month) {
      periods.push_back(std::to_string(year) + (month < 10 ? "-0" : "-") + std::to_string(month));
      backlog.push_back(world.send(CaseWorld::bill_of("cus_g11", periods.back()), b));
    }
  }
  ASSERT_EQ(backlog.size(), 20U);
  (void)world.send(CaseWorld::bill_of("cus_g11", "2026-08"), a);
  world.go_on(b);
  world.run_for(1h);
  for (std::size_t i = 0; i < backlog.size(); ++i) {
    EXPECT_EQ(backlog[i]->status(), Status::completed) << periods[i];
    EXPECT_EQ(world.L("cus_g11", periods[i]), 1) << periods[i];
  }
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R66_BacklogOfTheRefused) {
  in_both_flows(r66_backlog_of_the_refused);
}

}  // namespace onceward::cases
