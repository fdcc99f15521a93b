// SystemClock reads the real clocks: only relations that always hold are tested.
#include <onceward/platform/system_clock.hpp>

#include <gtest/gtest.h>

namespace onceward::platform {
namespace {

TEST(SystemClock, ReadsAllClocksOfOneBoot) {
  auto first = SystemClock::open({});
  auto second = SystemClock::open([] { return std::optional<Timestamp>{Timestamp{42}}; });
  ASSERT_TRUE(first.has_value() && second.has_value());
  const Now a = first.value()->now();
  const Now b = second.value()->now();
  EXPECT_EQ(a.boot, b.boot);
  EXPECT_NE(a.boot, 0U);
  EXPECT_LE(a.boottime_ms, b.boottime_ms);
  EXPECT_LE(b.boottime_ms, boottime_ms());
  EXPECT_GT(a.boottime_ms, 0);
  EXPECT_GT(a.wall.ms, parse_iso("2024-01-01T00:00:00Z").value().ms);
  EXPECT_EQ(a.provider, std::nullopt);
  EXPECT_EQ(b.provider, Timestamp{42});
}

}  // namespace
}  // namespace onceward::platform
