// Section P: Kafka and queues. The intake from Kafka is not built: what it will rest on is played
// here, a consumer that acknowledges after the reply that a command is recorded.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {

namespace {

BillCustomer message(int offset) {
  auto command = CaseWorld::bill_of("cus_p1_" + std::to_string(offset), "2026-08", 9'900,
                                    "offset-" + std::to_string(offset));
  command.notify = Notify::accepted;
  return command;
}

}  // namespace

// Offsets 100-119 are worked on but never acknowledged; another consumer reads them again.
void r116_offsets_read_again(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"slow","delay_s":5,"match":{"money":true})"});
  for (int offset = 100; offset < 120; ++offset) {
    EXPECT_EQ(world.send(message(offset))->status(), Status::in_progress);
  }
  world.run_for(2s);
  world.restart();
  std::vector<std::shared_ptr<testing::CaseCall>> duplicates;
  for (int offset = 100; offset < 120; ++offset) duplicates.push_back(world.send(message(offset)));
  world.run_for(1h);
  for (const auto& duplicate : duplicates) {
    ASSERT_NE(duplicate->told(), nullptr);
    EXPECT_FALSE(duplicate->told()->deduplicated) << "the same request id";
  }
  for (int offset = 100; offset < 120; ++offset) {
    const std::string customer = "cus_p1_" + std::to_string(offset);
    EXPECT_EQ(world.status(customer, "2026-08"), Status::completed);
    EXPECT_EQ(world.L(customer, "2026-08"), 1);
    EXPECT_EQ(world.K(customer, "2026-08"), 1);
  }
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R116_OffsetsReadAgain) {
  in_both_flows(r116_offsets_read_again);
}

// The consumer dies at every place between reading a message and acknowledging it; the message
// comes again: it is neither lost nor billed twice.
void r118_redelivered_after_a_crash(const CaseSetup& setup) {
  for (const auto point :
       {CrashPoint::before_claim, CrashPoint::inside_claim, CrashPoint::after_claim,
        CrashPoint::after_started, CrashPoint::on_the_wire, CrashPoint::answer_read,
        CrashPoint::result_stored, CrashPoint::after_reply}) {
    SCOPED_TRACE("crash point " + std::to_string(static_cast<int>(point)));
    CaseWorld world(setup.options());
    world.crash_at(point);
    const auto first = world.bill("cus_p3", "2026-08");
    world.run_for(1s);
    EXPECT_EQ(world.crashes(), 1);
    EXPECT_EQ(first->is_answered(), point == CrashPoint::after_reply);
    world.run_for(10s);
    const auto again = world.bill("cus_p3", "2026-08");
    world.run_for(1h);
    EXPECT_EQ(again->status(), Status::completed);
    EXPECT_EQ(world.L("cus_p3", "2026-08"), 1);
    EXPECT_EQ(world.K("cus_p3", "2026-08"), 1);
    EXPECT_TRUE(world.quarantines().empty());
    EXPECT_EQ(world.audit(), "");
  }
}
TEST(Cases, R118_RedeliveredAfterACrash) {
  in_both_flows(r118_redelivered_after_a_crash);
}

}  // namespace onceward::cases
