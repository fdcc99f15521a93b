// Section O: journal, snapshot, store.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

// A snapshot of another version lies beside the journal: it is as if it was not there.
void r111_snapshot_without_a_guard(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  const auto first = world.bill("cus_o1", "2026-08");
  world.run_for(1min);
  const auto id = customer_persistence_id(CustomerId{"cus_o1"});
  const auto end =
      world.reader()->replay(id, SequenceNr{}, [](const auto&, auto&&) { return true; });
  ASSERT_TRUE(end.has_value());
  CommitUnit unit;
  unit.persistence_id = id;
  unit.epoch = end->epoch;
  unit.writer = WriterId{"older"};
  unit.expected = end->last;
  unit.head = end->head;
  unit.at = world.now();
  unit.snapshot = SnapshotRecord{1, R"({"customer":"cus_o1"})"};
  const auto answers = world.journal().commit({&unit, 1});
  ASSERT_TRUE(std::holds_alternative<Stored>(answers.front()));
  world.restart();
  const auto again = world.bill("cus_o1", "2026-08", 9'900, "r2");
  world.run_for(1min);
  EXPECT_EQ(again->status(), Status::completed);
  EXPECT_EQ(again->charge(), first->charge());
  EXPECT_EQ(world.L("cus_o1", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_o1", "2026-08"), 1);
  EXPECT_TRUE(world.quarantines().empty());
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R111_SnapshotWithoutAGuard) {
  in_both_flows(r111_snapshot_without_a_guard);
}

// How old the request is cannot be told: it is taken for older than the provider remembers.
void r113_age_unknown(const CaseSetup& setup) {
  CaseOptions options = setup.options();
  options.downtime = 25h;
  CaseWorld world(options);
  world.faults({R"("kind":"commit_drop","match":{"money":true},"count":1)"});
  world.crash_at(CrashPoint::on_the_wire);
  (void)world.bill("cus_o3", "2026-08");
  EXPECT_EQ(world.crashes(), 1);
  world.run_for(26h);
  const auto again = world.bill("cus_o3", "2026-08");
  world.run_for(24h);
  EXPECT_EQ(again->status(), Status::completed);
  EXPECT_EQ(world.L("cus_o3", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_o3", "2026-08"), 1) << "it was sent again";
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R113_AgeUnknown) {
  in_both_flows(r113_age_unknown);
}

// Killed twenty times between the record of a send and the send.
void r115_killed_before_the_send(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.set_limit("2026-08", 9'900);
  for (int i = 0; i < 20; ++i) world.crash_at(CrashPoint::after_started);
  (void)world.bill("cus_o5", "2026-08");
  world.run_for(1h);
  EXPECT_EQ(world.crashes(), 20);
  const auto row = world.row(CaseWorld::key_of("cus_o5", "2026-08"));
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->status, Status::completed);
  EXPECT_EQ(row->attempt, 1U);
  EXPECT_EQ(world.L("cus_o5", "2026-08"), 1);
  EXPECT_EQ(world.W("cus_o5", "2026-08"), 1);
  EXPECT_EQ(world.K("cus_o5", "2026-08"), 1);
  const auto uses = world.reader()->cap_use(row->key.period);
  ASSERT_TRUE(uses.has_value() && !uses->empty());
  EXPECT_EQ(uses->front().settled_minor, 9'900);
  EXPECT_EQ(uses->front().reserved_minor, 0);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R115_KilledBeforeTheSend) {
  in_both_flows(r115_killed_before_the_send);
}

}  // namespace onceward::cases
