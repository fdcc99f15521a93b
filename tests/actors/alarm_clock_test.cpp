// AlarmClock: rings once per setting, the earlier setting wins, and never after stop().
#include "actors/alarm_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

TEST(AlarmClock, RingsTheAlarmThatWasSet) {
  std::atomic<int> barriers{0}, others{0};
  AlarmClock alarm([&](Alarm which) { ++(which == Alarm::barrier ? barriers : others); });
  alarm.set(Alarm::barrier, 1);
  EXPECT_TRUE(eventually([&] { return barriers == 1; }));
  EXPECT_EQ(others, 0);
}

TEST(AlarmClock, TheEarlierSettingWins) {
  std::atomic<int> rings{0};
  AlarmClock alarm([&](Alarm) { ++rings; });
  alarm.set(Alarm::tick, 60'000);
  alarm.set(Alarm::tick, 1);
  alarm.set(Alarm::tick, 60'000);
  EXPECT_TRUE(eventually([&] { return rings == 1; }));
}

TEST(AlarmClock, MayBeSetFromWithinARing) {
  std::atomic<int> rings{0};
  AlarmClock* clock = nullptr;
  AlarmClock alarm([&](Alarm which) {
    if (++rings < 5) clock->set(which, 0);
  });
  clock = &alarm;
  alarm.set(Alarm::tick, 0);
  EXPECT_TRUE(eventually([&] { return rings == 5; }));
}

TEST(AlarmClock, DoesNotRingAfterStop) {
  std::atomic<int> rings{0};
  AlarmClock alarm([&](Alarm) { ++rings; });
  alarm.set(Alarm::tick, 60'000);
  alarm.stop();
  alarm.set(Alarm::tick, 0);
  alarm.stop();
  EXPECT_EQ(rings, 0);
}

}  // namespace
}  // namespace onceward::actors::testing
