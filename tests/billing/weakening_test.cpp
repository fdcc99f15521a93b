// The names of guards, and that no node can run without one.
#include <gtest/gtest.h>

#include <onceward/billing/billing_entity.hpp>

namespace onceward::billing {
namespace {

TEST(Weakening, NamesEveryGuardOnce) {
  for (const Guard guard : all_guards) {
    const auto parsed = parse_guard(to_text(guard));
    ASSERT_TRUE(parsed.has_value()) << to_text(guard);
    EXPECT_EQ(*parsed, guard);
  }
}

TEST(Weakening, AnUnknownGuardIsRefusedWithTheNamesThereAre) {
  const auto parsed = parse_guard("Stable_key");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  for (const Guard guard : all_guards) {
    EXPECT_NE(parsed.error().context.find(to_text(guard)), std::string::npos) << to_text(guard);
  }
}

TEST(Weakening, TakesOutOneGuardAndNoOther) {
  for (const Guard guard : all_guards) {
    const Weakening one = Weakening::without(guard);
    EXPECT_FALSE(one.is_none());
    for (const Guard other : all_guards) EXPECT_EQ(one.lacks(other), other == guard);
  }
  EXPECT_TRUE(Weakening{}.is_none());
}

TEST(WeakeningDeathTest, AnOrdinaryEntityHasAllItsGuards) {
  BillingPolicy policy;
  policy.weakening = Weakening::without(Guard::stable_key);
  EXPECT_DEATH((void)billing_entity_type(policy), "guards are taken out on purpose");
}

}  // namespace
}  // namespace onceward::billing
