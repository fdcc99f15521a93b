// Entities that throw, and histories that are broken: one entity stops, the others go on.
#include "tests/actors/actors_fixture.hpp"

#include <future>

namespace onceward::actors::testing {
namespace {

TEST_F(ActorsTest, AnEntityThatThrowsAnswersAndComesBackFromTheJournal) {
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(reply("a", Throw{1}), "uncertain");
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(reply("a", Look{}), "1");
  EXPECT_EQ(provider.posts(), 1);
  EXPECT_TRUE(quarantined().empty());
}

TEST_F(ActorsTest, WhoeverWaitsForAnEntityThatThrowsIsAnswered) {
  start();
  provider.hold();
  const auto waiting = settle("a");
  EXPECT_TRUE(eventually([this] { return provider.held() == 1; }));
  EXPECT_EQ(reply("a", Throw{1}), "uncertain");
  EXPECT_EQ(waiting->at(0), "uncertain");
  provider.let_go();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.posts(), 1);
}

TEST_F(ActorsTest, AnEntityThatThrowsTooOftenIsQuarantined) {
  start();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reply("a", Throw{1'000}), "uncertain");
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_EQ(quarantined().front().persistence_id, counter_id("a"));
  EXPECT_NE(quarantined().front().reason.find("told to throw"), std::string::npos);
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "quarantined");
  EXPECT_TRUE(eventually([this] { return runtime->stats().entities == 0; }));
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "quarantined");
  EXPECT_EQ(runtime->stats().entities, 0u) << "it is not started again";
  EXPECT_EQ(reply("b", Settle{"2026-08"}), "settled");
}

TEST_F(ActorsTest, DeathsAreCountedOverPassivation) {
  auto options = quick();
  options.resident_max = 1;
  options.routers = 1;
  start(options);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reply("a", Throw{1'000}), "uncertain");
    for (const char* other : {"b", "c"}) EXPECT_EQ(reply(other, Look{}), "0");
    EXPECT_TRUE(eventually([this] { return runtime->stats().entities <= 1; }));
  }
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
}

TEST_F(ActorsTest, AnEventOfUnknownNameQuarantinesItsEntityByNameAndNoOther) {
  CommitUnit unit;
  unit.persistence_id = counter_id("a");
  unit.epoch = journal.epoch_of(ShardNr{0});
  unit.writer = WriterId{"later release"};
  unit.at = clock.now().wall;
  unit.events.push_back({{"Unheard", 7}, "{}"});
  ASSERT_TRUE(std::holds_alternative<Stored>(journal.commit(std::span(&unit, 1)).front()));
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "quarantined");
  EXPECT_EQ(reply("b", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.posts(), 1) << "nothing is sent for an entity that is not understood";
  ASSERT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_EQ(quarantined().front().persistence_id, counter_id("a"));
  EXPECT_NE(quarantined().front().reason.find("Unheard"), std::string::npos)
      << quarantined().front().reason;
}

TEST_F(ActorsTest, AClockThatGoesBackwardsOverARestartBillsNothingTwice) {
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  stop();
  clock.wall_ms -= 86'400'000;
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.posts(), 1);
  EXPECT_EQ(reply("a", Settle{"2026-09"}), "settled");
  EXPECT_EQ(provider.posts(), 2);
  EXPECT_TRUE(quarantined().empty());
}

TEST_F(ActorsTest, QuarantineIsKnownAfterARestartAndNothingRunsTheEntity) {
  store_open("a", "2026-08", Timestamp{1}, false);
  ASSERT_TRUE(journal.quarantine(counter_id("a"), "by hand", clock.now().wall));
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  start();
  EXPECT_TRUE(eventually([this] { return runtime->is_recovered() && journal.due_queries > 2; }));
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "quarantined");
  runtime->wake(counter_id("a"));
  EXPECT_EQ(reply("b", Look{}), "0");
  EXPECT_EQ(provider.posts(), 0);
  EXPECT_EQ(journal.histories.load(), 1) << "only b was read";
}

TEST_F(ActorsTest, AQuarantineThatIsLiftedStaysLiftedAndTheEntityOwesWhatItOwed) {
  store_open("a", "2026-08", Timestamp{1}, false);
  ASSERT_TRUE(journal.quarantine(counter_id("a"), "by hand", clock.now().wall));
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  start();
  EXPECT_EQ(reply("a", Look{}), "quarantined");
  EXPECT_EQ(provider.posts(), 0);
  std::promise<Result<Unit>> done;
  runtime->lift_quarantine(counter_id("a"),
                           [&](Result<Unit> result) { done.set_value(std::move(result)); });
  EXPECT_TRUE(done.get_future().get().has_value());
  EXPECT_TRUE(quarantined().empty()) << "durable before it is told";
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.posts(), 1) << "what was owed, once";
  stop();
  start();
  EXPECT_EQ(reply("a", Look{}), "1");
}

TEST_F(ActorsTest, AnEntityWhoseHistoryIsStillBrokenIsQuarantinedAnew) {
  CommitUnit unit;
  unit.persistence_id = counter_id("a");
  unit.epoch = journal.epoch_of(ShardNr{0});
  unit.events.push_back({{"FromTheFuture", 1}, "{}"});
  ASSERT_TRUE(std::holds_alternative<Stored>(journal.commit(std::span(&unit, 1)).front()));
  ASSERT_TRUE(journal.quarantine(counter_id("a"), "by hand", clock.now().wall));
  start();
  std::promise<Result<Unit>> done;
  runtime->lift_quarantine(counter_id("a"),
                           [&](Result<Unit> result) { done.set_value(std::move(result)); });
  EXPECT_TRUE(done.get_future().get().has_value());
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "quarantined");
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_NE(quarantined().front().reason, "by hand");
}

TEST_F(ActorsTest, WhoeverWaitsForTheEndOfAQuarantineIsAnsweredByAStop) {
  start();
  runtime->drain(0);
  std::promise<Result<Unit>> done;
  runtime->lift_quarantine(counter_id("a"),
                           [&](Result<Unit> result) { done.set_value(std::move(result)); });
  EXPECT_FALSE(done.get_future().get().has_value());
}

TEST_F(ActorsTest, AnEventThatCannotBeAppliedQuarantinesItsEntity) {
  start();
  EXPECT_EQ(reply("a", Poison{}), "uncertain");  // stored; applying it throws, then replaying it
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_NE(quarantined().front().reason.find("poison"), std::string::npos);
  EXPECT_EQ(reply("a", Look{}), "quarantined");
}

TEST_F(ActorsTest, AQuarantineThatCannotBeRecordedHoldsAndIsTriedAgain) {
  journal.quarantines_fail = 2;
  start();
  EXPECT_EQ(reply("a", Poison{}), "uncertain");
  EXPECT_TRUE(eventually([this] { return reply("a", Look{}) == "quarantined"; }));
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_EQ(journal.quarantines_fail.load(), 0);
  EXPECT_EQ(reply("a", Look{}), "quarantined");
}

TEST_F(ActorsTest, AThrowWhileResumingGivesBackThePermit) {
  store_open("a", "2026-08", clock.now().wall, false);
  switches->throw_in_resume = true;
  start();
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_TRUE(provider.is_balanced()) << provider.books();
  EXPECT_EQ(provider.posts(), 0);
}

}  // namespace
}  // namespace onceward::actors::testing
