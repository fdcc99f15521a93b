// The spend cap's factor: exact, rounded up, and never a surprise at its edges.
#include <gtest/gtest.h>

#include <onceward/billing/cap_factor.hpp>

namespace onceward::billing {
namespace {

std::int64_t limit_of(std::int64_t base, CapFactor factor) {
  return cap_limit(Money{base, Currency{}}, factor).minor;
}

TEST(CapLimitOf, RoundsUpToAWholeMinorUnit) {
  EXPECT_EQ(limit_of(1000, {110, 100}), 1100);
  EXPECT_EQ(limit_of(1001, {110, 100}), 1102);
  EXPECT_EQ(limit_of(1, {110, 100}), 2);
  EXPECT_EQ(limit_of(0, {110, 100}), 0);
  EXPECT_EQ(limit_of(12'345, {1, 1}), 12'345);
}

TEST(CapLimitOf, SaturatesInsteadOfOverflowing) {
  EXPECT_EQ(limit_of(amount_minor_max, {1, 1}), amount_minor_max);
  EXPECT_EQ(limit_of(amount_minor_max, {110, 100}), amount_minor_max);
  EXPECT_EQ(limit_of(amount_minor_max, {1'000'000, 10'000}), amount_minor_max);
  EXPECT_EQ(limit_of(amount_minor_max - 1, {1'000'000, 999'999}), amount_minor_max);
}

}  // namespace
}  // namespace onceward::billing
