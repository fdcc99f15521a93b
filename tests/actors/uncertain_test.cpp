// Commits of unknown fate, barriers, fencing: nothing in hand is lost and no call is repeated.
#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

using journal::CommitFate;

TEST_F(ActorsTest, ACommandWhoseCommitIsUnknownIsAnsweredSoAndResolvedByTheBarrier) {
  for (const auto fate : {CommitFate::lost_unanswered, CommitFate::stored_unanswered}) {
    const std::string name = fate == CommitFate::lost_unanswered ? "lost" : "stored";
    if (!runtime) start();
    next_fates({fate});
    EXPECT_EQ(reply(name, Settle{"2026-08"}), "uncertain");
    EXPECT_EQ(reply(name, Settle{"2026-08"}), "settled") << name;
    EXPECT_EQ(provider.charges(counter_key(counter_id(name), "2026-08")), 1);
  }
  EXPECT_EQ(journal.barriers.load(), 2);
  EXPECT_FALSE(runtime->stats().store_uncertain);
  EXPECT_EQ(runtime->stats().store_problem, "");
  EXPECT_EQ(provider.posts(), 2);
}

TEST_F(ActorsTest, AnAnswerInHandIsStoredAfterTheBarrierAndItsCallIsNotRepeated) {
  for (const auto fate : {CommitFate::lost_unanswered, CommitFate::stored_unanswered}) {
    const std::string name = fate == CommitFate::lost_unanswered ? "lost" : "stored";
    if (!runtime) start();
    next_fates({CommitFate::normal, fate});  // the claim, then the provider's answer
    EXPECT_EQ(settle(name)->at(0), "settled") << name;
  }
  EXPECT_EQ(journal.barriers.load(), 2);
  EXPECT_EQ(provider.posts(), 2);
  EXPECT_EQ(provider.look_ups(), 0) << "we held the answer";
}

TEST_F(ActorsTest, WhileTheBarrierFailsTheStoreIsReportedAndCommandsWait) {
  auto options = quick();
  options.recovery_wait_ms = 100;
  start(options);
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  journal.barrier_fails = true;
  next_fates({CommitFate::lost_unanswered});
  EXPECT_EQ(reply("a", Settle{"2026-09"}), "uncertain");
  EXPECT_TRUE(eventually([this] { return runtime->stats().store_uncertain; }));
  EXPECT_NE(runtime->stats().store_problem, "");

  // A new command waits for a while. The epoch of "b" is not affected yet, but it cannot be read.
  EXPECT_EQ(reply("a", Settle{"2026-09"}), "busy");
  EXPECT_EQ(reply("b", Settle{"2026-09"}), "busy");
  EXPECT_EQ(provider.posts(), 1);

  journal.barrier_fails = false;
  EXPECT_TRUE(eventually([this] { return !runtime->stats().store_uncertain; }));
  EXPECT_EQ(reply("a", Settle{"2026-09"}), "settled");
  EXPECT_EQ(reply("b", Settle{"2026-09"}), "settled");
  EXPECT_EQ(runtime->stats().store_problem, "");
}

TEST_F(ActorsTest, ACommandInHandThatWaitsTooLongIsTurnedDownAsUncertain) {
  auto options = quick();
  options.recovery_wait_ms = 100;
  start(options);
  provider.hold();
  const auto waiting = settle("a", "2026-08");  // accepted, waits for the provider
  EXPECT_TRUE(eventually([this] { return provider.held() == 1; }));
  journal.barrier_fails = true;
  next_fates({CommitFate::lost_unanswered});
  EXPECT_EQ(reply("b", Settle{"2026-08"}), "uncertain");
  const auto fenced = settle("a", "2026-09");  // not given to a store that waits for a barrier
  EXPECT_EQ(waiting->at(0), "uncertain");
  EXPECT_EQ(fenced->at(0), "uncertain");
  journal.barrier_fails = false;
  provider.let_go();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(reply("a", Settle{"2026-09"}), "settled");
}

TEST_F(ActorsTest, AUnitThatReachesTheWriterBeforeTheBarrierIsKeptAndNotUncertain) {
  start();
  EXPECT_EQ(reply("a", Look{}), "0");  // in memory
  journal.barrier_fails = true;
  next_fates({CommitFate::lost_unanswered});
  EXPECT_EQ(reply("b", Settle{"2026-08"}), "uncertain");
  const auto asked = settle("a");
  EXPECT_TRUE(eventually([this] { return runtime->stats().recovering == 2; }));
  EXPECT_EQ(asked->size(), 0u);
  journal.barrier_fails = false;
  EXPECT_EQ(asked->at(0), "settled");
  EXPECT_EQ(provider.charges(counter_key(counter_id("a"), "2026-08")), 1);
}

TEST_F(ActorsTest, AFencedEntityKeepsItsCommandAndRecovers) {
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  EXPECT_EQ(reply("a", Settle{"2026-09"}), "settled");
  EXPECT_GE(journal.fenced.load(), 1);
  EXPECT_EQ(provider.posts(), 2);
}

TEST_F(ActorsTest, AnAnswerToAnEarlierIncarnationIsStored) {
  start();
  provider.hold();
  const auto first = settle("a", "2026-08");
  EXPECT_TRUE(eventually([this] { return provider.held() == 1; }));
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  const auto second = settle("a", "2026-09");  // fenced: a new incarnation takes over
  EXPECT_TRUE(eventually([this] { return journal.fenced == 1 && provider.held() >= 2; }));
  provider.let_go();
  EXPECT_EQ(first->at(0), "settled");
  EXPECT_EQ(second->at(0), "settled");
  EXPECT_EQ(provider.posts(), 2);
}

TEST_F(ActorsTest, AHistoryThatCannotBeReadIsReadAgain) {
  journal.replays_fail = 2;
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_GE(journal.replays.load(), 3);
  EXPECT_TRUE(quarantined().empty()) << "a failed read says nothing about the history";
}

}  // namespace
}  // namespace onceward::actors::testing
