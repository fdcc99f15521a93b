// ONCEWARD_CHECK: silent while the condition holds, otherwise one line and the end of the process.
#include <onceward/core/check.hpp>

#include <gtest/gtest.h>

namespace {

TEST(CheckDeathTest, AbortsAndNamesConditionMessageAndPlace) {
  const int balance = -1;
  EXPECT_DEATH(
      ONCEWARD_CHECK(balance >= 0, "a balance is not negative"),
      "broken invariant: a balance is not negative \\(balance >= 0\\) at .*check_test.cpp:");
}

TEST(Check, EvaluatesItsConditionOnceAndGoesOn) {
  int evaluations = 0;
  ONCEWARD_CHECK(++evaluations == 1, "evaluated once");
  EXPECT_EQ(evaluations, 1);
}

TEST(Check, IsUsableInConstantExpressions) {
  constexpr auto half = [](int number) {
    ONCEWARD_CHECK(number % 2 == 0, "even");
    return number / 2;
  };
  static_assert(half(4) == 2);
  EXPECT_EQ(half(8), 4);
}

}  // namespace
