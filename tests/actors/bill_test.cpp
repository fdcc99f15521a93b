// From command to reply: one call, duplicates, waiting callers, broken answers.
#include <set>

#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

TEST_F(ActorsTest, SettlesByOneCallAndReplies) {
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.charges(counter_key(counter_id("a"), "2026-08")), 1);
  EXPECT_EQ(provider.posts(), 1);
}

TEST_F(ActorsTest, RepeatsOfASettledCommandGetTheSameAnswerWithoutACall) {
  start();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.posts(), 1);
}

TEST_F(ActorsTest, RepeatsWhileTheCallIsInFlightAllWaitForItsAnswer) {
  start();
  provider.hold();
  const auto first = settle("a");
  const auto second = settle("a");
  EXPECT_EQ(reply("a", Settle{"2026-08", false}), "in_progress");
  EXPECT_EQ(first->size() + second->size(), 0u) << "nobody is answered before the fact";
  provider.let_go();
  EXPECT_EQ(first->at(0), "settled");
  EXPECT_EQ(second->at(0), "settled");
  EXPECT_EQ(provider.posts(), 1);
}

TEST_F(ActorsTest, ACommandThatAsksToBeToldTwiceIs) {
  start();
  provider.hold();
  const auto asked = ask(counter_id("a"), Settle{"2026-08", true, true});
  EXPECT_EQ(asked->at(0), "accepted");
  EXPECT_EQ(runtime->stats().commands_in_flight, 1u);
  provider.let_go();
  EXPECT_EQ(asked->at(1), "settled");
  EXPECT_TRUE(eventually([this] { return runtime->stats().commands_in_flight == 0; }));
}

TEST_F(ActorsTest, ACommandThatItsEntityIgnoresIsStillAnswered) {
  start();
  EXPECT_EQ(reply("a", Ignore{}), "uncertain");
}

TEST_F(ActorsTest, AnEntityWorksOnSeveralPeriodsInTurn) {
  start();
  const auto august = settle("a", "2026-08");
  const auto september = settle("a", "2026-09");
  EXPECT_EQ(august->at(0), "settled");
  EXPECT_EQ(september->at(0), "settled");
  EXPECT_EQ(provider.posts(), 2);
}

TEST_F(ActorsTest, EntitiesShareOnePermit) {
  HeldProvider narrow(1);
  auto started = Runtime::start(quick(), journal, narrow, clock,
                                {{"customer/", counter_type(switches), {}, {}}});
  ASSERT_TRUE(started);
  std::vector<Asked> all;
  for (int i = 0; i < 50; ++i) {
    auto replies = std::make_shared<Replies>();
    (*started)->ask(counter_id(std::to_string(i)), std::any(CounterCommand{Settle{"2026-08"}}),
                    [replies](std::any reply) { replies->add(std::move(reply)); });
    all.push_back(replies);
  }
  for (const auto& asked : all) EXPECT_EQ(asked->at(0), "settled");
  EXPECT_EQ(narrow.posts(), 50);
  (*started)->drain(0);
  EXPECT_TRUE(narrow.settles()) << narrow.books();
  EXPECT_TRUE(narrow.is_balanced()) << narrow.books();
}

TEST_F(ActorsTest, ABrokenAnswerIsResolvedByALookUpWhenItsRowIsDue) {
  start();
  provider.break_answers(1);
  const auto asked = settle("a");
  EXPECT_TRUE(eventually([this] { return provider.posts() == 1 && provider.held() == 0; }));
  clock.wall_ms += 1'000;
  EXPECT_EQ(asked->at(0), "settled");
  EXPECT_EQ(provider.posts(), 1) << "an unknown outcome is looked up, not sent again";
  EXPECT_EQ(provider.look_ups(), 1);
}

TEST_F(ActorsTest, EachIncarnationWritesUnderAWriterIdOfItsOwn) {
  start();
  EXPECT_EQ(reply("a", Settle{"2026-08"}), "settled");
  EXPECT_EQ(reply("b", Settle{"2026-08"}), "settled");
  stop();
  std::set<std::string> writers;
  for (const char* name : {"a", "b"}) {
    const auto end = journal.reader().value()->replay(
        counter_id(name), SequenceNr{}, [&](const PersistenceId&, StoredEvent&& event) {
          writers.insert(event.writer.value());
          return true;
        });
    EXPECT_TRUE(end);
  }
  EXPECT_EQ(writers.size(), 2u);
}

}  // namespace
}  // namespace onceward::actors::testing
