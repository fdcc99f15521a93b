// The spend cap's factor: exact, rounded up, and never a surprise at its edges.
#include <gtest/gtest.h>

#include <onceward/billing/cap_factor.hpp>

namespace onceward::billing {
namespace {

std::int64_t limit_of(std::int64_t base, CapFactor factor) {
  return cap_limit(Money{base, Currency{}}, factor).minor;
}

TEST(CapFactorText, ReadsPlainDecimals) {
  EXPECT_EQ(parse_cap_factor("1.10").value(), (CapFactor{110, 100}));
  EXPECT_EQ(parse_cap_factor("1").value(), (CapFactor{1, 1}));
  EXPECT_EQ(parse_cap_factor("2.0001").value(), (CapFactor{20'001, 10'000}));
  EXPECT_EQ(parse_cap_factor("100").value(), (CapFactor{100, 1}));
}

TEST(CapFactorText, RefusesEverythingElse) {
  for (const char* text : {"", ".", "1.", ".5", "0.99", "0", "-1", "+1", "1e1", "1,1", "100.0001",
                           "1.00001", "1.1.1", " 1", "nan", "9999"}) {
    EXPECT_FALSE(parse_cap_factor(text)) << text;
  }
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
