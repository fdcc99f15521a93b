// Alarms ring in order, once, unless cancelled, and never beyond their bound.
#include <gtest/gtest.h>

#include <future>

#include <onceward/platform/system_clock.hpp>

#include "ingress/http/alarms.hpp"

namespace onceward::ingress {
namespace {

class AlarmsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto clock = platform::SystemClock::open({});
    ASSERT_TRUE(clock.has_value());
    clock_ = std::move(*clock);
  }
  [[nodiscard]] std::int64_t in_ms(std::int64_t ms) const { return clock_->now().boottime_ms + ms; }

  std::unique_ptr<platform::SystemClock> clock_;
};

TEST_F(AlarmsTest, first_alarm_of_an_idle_thread_rings) {
  for (int i = 0; i < 20; ++i) {
    Alarms alarms(*clock_, 10);
    std::promise<void> rang;
    ASSERT_TRUE(alarms.set(in_ms(1), [&] { rang.set_value(); }).has_value());
    ASSERT_EQ(rang.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
  }
}

TEST_F(AlarmsTest, earlier_alarm_set_later_rings_first) {
  Alarms alarms(*clock_, 10);
  std::string order;
  std::promise<void> last;
  (void)alarms.set(in_ms(40), [&] {
    order += "b";
    last.set_value();
  });
  (void)alarms.set(in_ms(5), [&] { order += "a"; });
  ASSERT_EQ(last.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
  EXPECT_EQ(order, "ab");
}

TEST_F(AlarmsTest, cancelled_alarm_is_silent_and_makes_room) {
  Alarms alarms(*clock_, 1);
  bool rang = false;
  const auto id = alarms.set(in_ms(10'000), [&] { rang = true; });
  ASSERT_TRUE(id.has_value());
  EXPECT_FALSE(alarms.set(in_ms(1), [] {}).has_value()) << "beyond the bound";
  alarms.cancel(*id);
  EXPECT_EQ(alarms.size(), 0U);
  std::promise<void> other;
  ASSERT_TRUE(alarms.set(in_ms(1), [&] { other.set_value(); }).has_value());
  ASSERT_EQ(other.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
  alarms.cancel(*id);  // long gone
  EXPECT_FALSE(rang);
}

TEST_F(AlarmsTest, stopped_alarms_ring_no_more) {
  Alarms alarms(*clock_, 10);
  bool rang = false;
  (void)alarms.set(in_ms(30), [&] { rang = true; });
  alarms.stop();
  EXPECT_FALSE(alarms.set(in_ms(1), [&] { rang = true; }).has_value());
  EXPECT_FALSE(rang);
  EXPECT_EQ(alarms.size(), 0U);
}

}  // namespace
}  // namespace onceward::ingress
