// Permits in virtual time: slots, rate, order, pause.
#include "provider/permit_queue.hpp"

#include <gtest/gtest.h>

namespace onceward::provider {
namespace {

/// Runs what is granted at `now` and returns how many that were.
std::size_t grant(PermitQueue& queue, std::int64_t now) {
  auto granted = queue.take_grants(now);
  for (const auto& sink : granted) sink();
  return granted.size();
}

TEST(PermitQueue, GivesNoMoreThanTheSlots) {
  PermitQueue queue({.in_flight_max = 2, .rate_per_second = 0}, 0);
  EXPECT_TRUE(queue.try_take(0));
  EXPECT_TRUE(queue.try_take(0));
  EXPECT_FALSE(queue.try_take(0));
  EXPECT_EQ(queue.in_flight(), 2U);
  queue.end_call(1);
  EXPECT_TRUE(queue.try_take(0));
}

TEST(PermitQueue, GrantsFirstComeFirstServedAndNobodyOvertakes) {
  PermitQueue queue({.in_flight_max = 1, .rate_per_second = 0}, 0);
  std::vector<int> order;
  ASSERT_TRUE(queue.try_take(0));
  for (int i = 0; i < 3; ++i) queue.wait([&order, i] { order.push_back(i); });
  EXPECT_EQ(grant(queue, 0), 0U);
  EXPECT_EQ(queue.next_grant_at_ms(0), std::nullopt) << "time alone does not free a slot";
  queue.end_call(1);
  EXPECT_FALSE(queue.try_take(0)) << "others wait";
  EXPECT_EQ(grant(queue, 0), 1U);
  queue.give_back_unused(0);
  EXPECT_EQ(grant(queue, 0), 1U);
  queue.end_call(1);
  EXPECT_EQ(grant(queue, 0), 1U);
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
}

TEST(PermitQueue, KeepsTheRateOverAnySecond) {
  constexpr std::uint32_t rate = 20;
  PermitQueue queue({.in_flight_max = 1'000, .rate_per_second = rate}, 0);
  std::vector<std::int64_t> granted_at;
  for (int i = 0; i < 200; ++i) queue.wait([] {});
  std::int64_t now = 0;
  while (queue.waiting() > 0) {
    for (std::size_t i = grant(queue, now); i > 0; --i) granted_at.push_back(now);
    const auto next = queue.next_grant_at_ms(now);
    if (queue.waiting() == 0) break;
    ASSERT_TRUE(next.has_value());
    ASSERT_GT(*next, now) << "would spin";
    now = *next;
  }
  for (std::size_t first = 0; first < granted_at.size(); ++first) {
    std::size_t in_second = 0;
    for (const auto at : granted_at) {
      if (at >= granted_at[first] && at < granted_at[first] + 1'000) ++in_second;
    }
    EXPECT_LE(in_second, rate + rate / 10);
  }
  // ... and does not waste it: 200 permits at 20 per second take ten seconds.
  EXPECT_LE(now, 10'000);
  EXPECT_GE(now, 9'800);
}

TEST(PermitQueue, ReachesHighRatesWithTimersOfAMillisecond) {
  PermitQueue queue({.in_flight_max = 100'000, .rate_per_second = 5'000}, 0);
  for (int i = 0; i < 10'000; ++i) queue.wait([] {});
  std::size_t granted = 0;
  for (std::int64_t now = 0; now < 1'000; ++now) granted += grant(queue, now);
  EXPECT_GE(granted, 5'000U);
  EXPECT_LE(granted, 5'500U);
}

TEST(PermitQueue, ALongPauseSavesUpNoMoreThanOneBurst) {
  PermitQueue queue({.in_flight_max = 1'000, .rate_per_second = 20}, 0);
  for (int i = 0; i < 100; ++i) queue.wait([] {});
  (void)grant(queue, 0);
  EXPECT_EQ(grant(queue, std::int64_t{1} << 50), 2U);
}

TEST(PermitQueue, ChargesExtraWireRequestsToTheNext) {
  PermitQueue queue({.in_flight_max = 10, .rate_per_second = 10}, 0);
  ASSERT_TRUE(queue.try_take(0));
  queue.end_call(4);  // three pages more than the permit was for
  queue.wait([] {});
  EXPECT_EQ(grant(queue, 399), 0U);
  EXPECT_EQ(queue.next_grant_at_ms(399), 400);
  EXPECT_EQ(grant(queue, 400), 1U);
}

TEST(PermitQueue, AnUnusedPermitDoesNotCountForTheRate) {
  PermitQueue queue({.in_flight_max = 10, .rate_per_second = 1}, 0);
  ASSERT_TRUE(queue.try_take(0));
  EXPECT_FALSE(queue.try_take(0));
  queue.give_back_unused(0);
  EXPECT_TRUE(queue.try_take(0));
  EXPECT_FALSE(queue.try_take(0));
}

TEST(PermitQueue, AClockThatStandsStillOrGoesBackGrantsNothingExtra) {
  PermitQueue queue({.in_flight_max = 10, .rate_per_second = 1}, 1'000);
  ASSERT_TRUE(queue.try_take(1'000));
  EXPECT_FALSE(queue.try_take(500));
  EXPECT_FALSE(queue.try_take(1'999));
  EXPECT_TRUE(queue.try_take(2'000));
}

TEST(PermitQueue, WhilePausedProbesOneAtATimeAndSlowly) {
  PermitQueue queue({.in_flight_max = 10, .rate_per_second = 0, .probe_interval_ms = 100}, 0);
  for (int i = 0; i < 5; ++i) queue.wait([] {});
  ASSERT_TRUE(grant(queue, 0) == 5U);
  queue.pause("401", 0);
  queue.pause("later reason", 0);
  EXPECT_EQ(queue.paused_reason(), "401");
  for (int i = 0; i < 5; ++i) queue.wait([] {});
  EXPECT_EQ(grant(queue, 1'000), 0U) << "calls are still out";
  for (int i = 0; i < 5; ++i) queue.end_call(1);
  EXPECT_EQ(grant(queue, 99), 0U);
  EXPECT_EQ(queue.next_grant_at_ms(99), 100);
  EXPECT_FALSE(queue.try_take(100));
  EXPECT_EQ(grant(queue, 100), 1U);
  EXPECT_EQ(grant(queue, 500), 0U) << "the probe is out";
  queue.end_call(0);
  EXPECT_EQ(grant(queue, 199), 0U);
  EXPECT_EQ(grant(queue, 200), 1U);
  queue.resume();
  EXPECT_EQ(queue.paused_reason(), "");
  EXPECT_EQ(grant(queue, 200), 3U);
}

TEST(PermitQueue, AnUnusedProbeMayBeMadeAgainAtOnce) {
  PermitQueue queue({.in_flight_max = 10, .rate_per_second = 0, .probe_interval_ms = 100}, 0);
  queue.pause("401", 0);
  ASSERT_TRUE(queue.try_take(100));
  queue.give_back_unused(100);
  EXPECT_TRUE(queue.try_take(100));
}

TEST(PermitQueue, GrantsNothingAfterClose) {
  PermitQueue queue({.in_flight_max = 10, .rate_per_second = 0}, 0);
  queue.wait([] { ADD_FAILURE() << "granted after close"; });
  queue.close();
  queue.wait([] { ADD_FAILURE() << "granted after close"; });
  EXPECT_EQ(grant(queue, 0), 0U);
  EXPECT_FALSE(queue.try_take(0));
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST(PermitQueueDeathTest, APermitThatNobodyHeldAborts) {
  PermitQueue queue({.in_flight_max = 1, .rate_per_second = 0}, 0);
  EXPECT_DEATH(queue.give_back_unused(0), "nobody held");
  EXPECT_DEATH(queue.end_call(1), "held no permit");
}

}  // namespace
}  // namespace onceward::provider
