// The books of a run: what is covered, what is in the window, what is to be asked and read.
#include <gtest/gtest.h>

#include <onceward/billing/run_progress.hpp>

namespace onceward::billing {
namespace {

using Ordinals = std::vector<std::uint64_t>;

std::vector<RunRow> rows(int n) {
  std::vector<RunRow> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    all[static_cast<std::size_t>(i)].customer = CustomerId{"c" + std::to_string(i + 1)};
  }
  return all;
}

RunProgress loaded(int n, bool complete = true) {
  RunProgress progress;
  progress.take_up({}, {});
  progress.load_started(0);
  progress.rows_arrived(rows(n), complete);
  return progress;
}

TEST(RunProgressRows, ReadsAheadByOneWindowOnly) {
  RunProgress progress = loaded(10, false);
  EXPECT_FALSE(progress.wants_rows(10));
  EXPECT_TRUE(progress.wants_rows(11));
  progress.asked({1, 2}, 5);
  EXPECT_TRUE(progress.wants_rows(10));
  progress.load_started(5);
  EXPECT_FALSE(progress.wants_rows(10));
}

TEST(RunProgressRows, WantsNothingBeforeItIsTakenUpOrAfterTheEnd) {
  EXPECT_FALSE(RunProgress{}.wants_rows(10));
  EXPECT_FALSE(loaded(1).wants_rows(10));
}

TEST(RunProgressWindow, AsksInOrderWhileThereIsRoom) {
  RunProgress progress = loaded(10);
  EXPECT_EQ(progress.to_ask(3), (Ordinals{1, 2, 3}));
  progress.asked({1, 2, 3}, 5);
  EXPECT_TRUE(progress.to_ask(3).empty());
  progress.told(2, Standing::in_progress, std::nullopt);
  EXPECT_TRUE(progress.to_ask(3).empty());
  progress.told(2, Standing::left, std::nullopt);
  EXPECT_EQ(progress.to_ask(3), (Ordinals{4}));
  progress.told(1, Standing::held, std::nullopt);
  progress.ticked(6, 100);
  EXPECT_EQ(progress.to_ask(3), (Ordinals{1, 4})) << "the held one keeps its place";
}

TEST(RunProgressWindow, IgnoresAnswersForRowsOutsideIt) {
  RunProgress progress = loaded(3);
  progress.told(1, Standing::left, RunOutcome::conflict);
  progress.told(9, Standing::left, std::nullopt);
  EXPECT_EQ(progress.covered().ordinal, 0U);
  EXPECT_EQ(progress.window_used(), 0U);
  progress.asked({1}, 5);
  progress.told(1, Standing::left, std::nullopt);
  progress.told(1, Standing::left, std::nullopt);
  EXPECT_EQ(progress.window_used(), 0U);
}

TEST(RunProgressCover, PassesOnlyRowsWithAnOutcome) {
  RunProgress progress = loaded(4);
  progress.asked({1, 2, 3, 4}, 5);
  progress.told(2, Standing::left, std::nullopt);
  progress.told(3, Standing::in_progress, std::nullopt);
  EXPECT_EQ(progress.covered().ordinal, 0U);
  progress.told(1, Standing::held, std::nullopt);
  EXPECT_EQ(progress.covered().ordinal, 0U);
  progress.told(1, Standing::left, RunOutcome::refused);
  EXPECT_EQ(progress.covered().ordinal, 3U);
  EXPECT_EQ(progress.covered().customer.value(), "c3");
  ASSERT_EQ(progress.exceptional().size(), 1U);
  EXPECT_EQ(progress.exceptional()[0].row.customer.value(), "c1");
}

TEST(RunProgressCover, AnOpenRowIsWatchedUntilItLeaves) {
  RunProgress progress = loaded(4);
  progress.asked({1, 2, 3, 4}, 5);
  progress.told(1, Standing::left, std::nullopt);
  for (const std::uint64_t open : {2U, 3U, 4U}) {
    progress.told(open, Standing::in_progress, std::nullopt);
  }
  EXPECT_EQ(progress.covered().ordinal, 4U);
  EXPECT_EQ(progress.watched_from().ordinal, 1U);
  EXPECT_EQ(progress.watched_from().customer.value(), "c1");
  progress.told(2, Standing::left, std::nullopt);
  EXPECT_EQ(progress.watched_from().ordinal, 2U);
  EXPECT_FALSE(progress.is_finished());
  progress.told(4, Standing::left, std::nullopt);
  progress.told(3, Standing::left, std::nullopt);
  EXPECT_EQ(progress.watched_from(), progress.covered());
  EXPECT_TRUE(progress.is_finished());
}

TEST(RunProgressCover, ARowInProgressIsToldByItsObligationFromThenOn) {
  RunProgress progress = loaded(2);
  progress.asked({1, 2}, 5);
  progress.told(2, Standing::in_progress, std::nullopt);
  progress.told(2, Standing::left, RunOutcome::quarantined);
  progress.told(1, Standing::left, std::nullopt);
  EXPECT_TRUE(progress.exceptional().empty());
}

TEST(RunProgressCover, KeepsWhatTheStoredCursorHasNotReached) {
  RunProgress progress = loaded(3);
  progress.asked({1, 2, 3}, 5);
  for (const std::uint64_t row : {1U, 2U, 3U}) {
    progress.told(row, Standing::left, RunOutcome::conflict);
  }
  progress.cursor_moved({2, {}, {}});
  ASSERT_EQ(progress.exceptional().size(), 1U);
  EXPECT_EQ(progress.exceptional()[0].row.ordinal, 3U);
}

TEST(RunProgressTick, MakesTheCursorDueOnlyForProgress) {
  RunProgress progress = loaded(3);
  progress.ticked(1, 100);
  EXPECT_FALSE(progress.is_move_due());
  progress.asked({1}, 1);
  progress.told(1, Standing::left, std::nullopt);
  EXPECT_FALSE(progress.is_move_due()) << "before the tick";
  progress.ticked(2, 100);
  EXPECT_TRUE(progress.is_move_due());
  progress.cursor_moved(progress.covered());
  EXPECT_FALSE(progress.is_move_due());
  progress.ticked(3, 100);
  EXPECT_FALSE(progress.is_move_due());
}

TEST(RunProgressTick, CountsAgeFromTheNewestAskAndShowsItFromTheFirst) {
  RunProgress progress = loaded(1);
  progress.asked({1}, 10);
  progress.ticked(109, 100);
  EXPECT_TRUE(progress.to_ask(1).empty());
  progress.ticked(110, 100);
  EXPECT_EQ(progress.to_ask(1), Ordinals{1});
  progress.asked({1}, 110);
  progress.ticked(209, 100);
  EXPECT_TRUE(progress.to_ask(1).empty());
  EXPECT_EQ(progress.counts().asked, 1U);
  EXPECT_EQ(progress.counts().oldest.value(), "c1");
  EXPECT_EQ(progress.counts().oldest_since_boottime_ms, 10);
}

TEST(RunProgressTakeUp, WatchesOpenRowsBeforeTheCursorAndAsksThoseAfterIt) {
  auto plan = rows(5);
  plan[1].status = ObligationStatus::in_progress;
  plan[2].status = ObligationStatus::completed;
  plan[3].status = ObligationStatus::in_progress;
  RunProgress progress;
  progress.take_up({}, {3, CustomerId{"c3"}, {}});
  progress.load_started(0);
  progress.rows_arrived(plan, true);
  EXPECT_EQ(progress.window_used(), 1U);
  EXPECT_EQ(progress.watched_from().ordinal, 1U);
  EXPECT_EQ(progress.to_ask(8), (Ordinals{2, 4, 5}));
  EXPECT_FALSE(progress.is_finished());
}

}  // namespace
}  // namespace onceward::billing
