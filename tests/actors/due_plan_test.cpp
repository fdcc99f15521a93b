// DuePlan: what is chosen from a due query, tick by tick.
#include "actors/due_plan.hpp"

#include <gtest/gtest.h>

#include "tests/actors/counter_entity.hpp"

namespace onceward::actors::testing {
namespace {

constexpr std::size_t plenty = 1'000;

ObligationRow due(const std::string& name, std::int64_t at_ms,
                  const std::string& period = "2026-08") {
  return counter_row(counter_id(name), period, ObligationStatus::in_progress, Timestamp{at_ms});
}

TEST(DuePlan, ChoosesEachEntityOnce) {
  DuePlan plan(10);
  const std::vector rows = {due("a", 1), due("b", 2), due("a", 3, "2026-09")};
  EXPECT_EQ(plan.choose(rows, plenty), (std::vector{counter_id("a"), counter_id("b")}));
}

TEST(DuePlan, LeavesAWokenRowAloneUntilItsTimeChanges) {
  DuePlan plan(10);
  EXPECT_EQ(plan.choose(std::vector{due("a", 1)}, plenty).size(), 1u);
  EXPECT_TRUE(plan.choose(std::vector{due("a", 1)}, plenty).empty());
  EXPECT_EQ(plan.choose(std::vector{due("a", 2)}, plenty).size(), 1u);
}

TEST(DuePlan, WakesAgainAfterItsPatience) {
  DuePlan plan(10);
  EXPECT_EQ(plan.choose(std::vector{due("a", 1)}, plenty).size(), 1u);
  for (std::uint64_t tick = 1; tick < DuePlan::patience; ++tick) {
    EXPECT_TRUE(plan.choose(std::vector{due("a", 1)}, plenty).empty());
  }
  EXPECT_EQ(plan.choose(std::vector{due("a", 1)}, plenty).size(), 1u);
}

TEST(DuePlan, AsksForMoreWhenStuckRowsStandInFront) {
  DuePlan plan(2);
  EXPECT_EQ(plan.query_limit(), 2u);
  const std::vector stuck = {due("a", 1), due("b", 1)};
  EXPECT_EQ(plan.choose(stuck, plenty).size(), 2u);
  EXPECT_TRUE(plan.choose(stuck, plenty).empty());
  EXPECT_EQ(plan.query_limit(), 4u);
  const std::vector rows = {due("a", 1), due("b", 1), due("c", 1), due("d", 1)};
  EXPECT_EQ(plan.choose(rows, plenty), (std::vector{counter_id("c"), counter_id("d")}));
}

TEST(DuePlan, ChoosesNoMoreThanThereIsRoomAndDoesNotForgetTheRest) {
  DuePlan plan(10);
  const std::vector rows = {due("a", 1), due("b", 1), due("c", 1)};
  EXPECT_EQ(plan.choose(rows, 1), (std::vector{counter_id("a")}));
  EXPECT_EQ(plan.choose(rows, 2), (std::vector{counter_id("b"), counter_id("c")}));
}

TEST(DuePlan, TheQueryIsBounded) {
  DuePlan plan(2);
  std::vector<ObligationRow> rows;
  for (int i = 0; i < 100; ++i) {
    rows.push_back(due("c" + std::to_string(i), 1));
    (void)plan.choose(rows, plenty);
  }
  EXPECT_LE(plan.query_limit(), 2 * (DuePlan::skipped_batches_max + 1));
}

}  // namespace
}  // namespace onceward::actors::testing
