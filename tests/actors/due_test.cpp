// Rows as alarm clocks: due ones are woken in batches, those of older epochs at the start.
#include <algorithm>

#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

TEST_F(ActorsTest, AThousandDueCustomersAreWokenWithFewQueries) {
  for (int i = 0; i < 1'000; ++i) {
    store_open("c" + std::to_string(i), "2026-08", clock.now().wall, false);
  }
  start();
  EXPECT_TRUE(eventually([this] { return provider.posts() == 1'000; }));
  EXPECT_LE(journal.replays.load(), 8);
  EXPECT_EQ(journal.histories.load(), 1'000);
  EXPECT_EQ(reply("c999", Settle{"2026-08"}), "settled");
}

TEST_F(ActorsTest, RowsThatAreNotDueAreLeftAlone) {
  store_open("a", "2026-08", clock.now().wall.plus(std::chrono::minutes(1)), false);
  start();
  EXPECT_TRUE(eventually([this] { return journal.due_queries > 3; }));
  EXPECT_EQ(runtime->stats().activations, 0u);
  clock.wall_ms += 60'000;
  EXPECT_TRUE(eventually([this] { return provider.posts() == 1; }));
}

TEST_F(ActorsTest, AStartTakesUpTheOpenRowsOfOlderEpochsThoughTheyAreNotDue) {
  const auto later = clock.now().wall.plus(std::chrono::hours(1));
  for (int i = 0; i < 300; ++i) store_open("c" + std::to_string(i), "2026-08", later, i % 2 == 0);
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  start();
  EXPECT_TRUE(eventually([this] { return runtime->is_recovered(); }));
  EXPECT_TRUE(eventually([this] { return provider.posts() == 300; }));
  EXPECT_GE(provider.look_ups(), 150) << "what may have been sent is looked up first";
}

TEST_F(ActorsTest, AStartDoesNotBringAllOpenRowsIntoMemoryAtOnce) {
  const auto later = clock.now().wall.plus(std::chrono::hours(1));
  for (int i = 0; i < 500; ++i) store_open("c" + std::to_string(i), "2026-08", later, false);
  ASSERT_TRUE(journal.raise_epoch(ShardNr{0}));
  provider.hold();
  auto options = quick();
  options.resident_max = 10;
  start(options);
  EXPECT_TRUE(eventually([this] { return provider.held() == 10; }));
  EXPECT_EQ(runtime->stats().entities, 10u);
  EXPECT_EQ(journal.pages.load(), 1);
  EXPECT_FALSE(runtime->is_recovered());
  provider.let_go();
  std::size_t most = 0;
  EXPECT_TRUE(eventually([&] {
    most = std::max(most, runtime->stats().entities);
    return provider.posts() == 500 && runtime->is_recovered();
  }));
  EXPECT_LE(most, 40u);
}

TEST_F(ActorsTest, AnEmptyStoreIsRecoveredAtOnce) {
  start();
  EXPECT_TRUE(eventually([this] { return runtime->is_recovered(); }));
}

TEST_F(ActorsTest, WakeMakesAnEntityLookAtWhatItOwes) {
  store_open("a", "2026-08", clock.now().wall.plus(std::chrono::hours(1)), false);
  start();
  runtime->wake(counter_id("a"));
  EXPECT_TRUE(eventually([this] { return provider.posts() == 1; }));
}

}  // namespace
}  // namespace onceward::actors::testing
