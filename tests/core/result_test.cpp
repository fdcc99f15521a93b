// Result<T>: which alternative is held, what passes through a chain, and that misuse ends the
// process instead of reading what is not there.
#include <onceward/core/result.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace {

using onceward::Error;
using onceward::ErrorCode;
using onceward::fail;
using onceward::ok;
using onceward::Result;
using onceward::Unexpected;
using onceward::Unit;

Result<int> parse_even(int number) {
  if (number % 2 != 0) return fail(ErrorCode::invalid_argument, "odd");
  return number;
}

TEST(Result, HoldsTheValue) {
  const auto result = parse_even(4);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result.value(), 4);
  EXPECT_EQ(*result, 4);
  EXPECT_EQ(result.value_or(9), 4);
}

TEST(Result, HoldsTheError) {
  const auto result = parse_even(3);
  ASSERT_FALSE(result.has_value());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error(), (Error{ErrorCode::invalid_argument, "odd"}));
  EXPECT_EQ(result.value_or(9), 9);
}

TEST(Result, TellsAnErrorFromAValueOfTheSameType) {
  const Result<Error> value = Error{ErrorCode::busy, "a value"};
  const Result<Error> error = Unexpected{Error{ErrorCode::busy, "an error"}};
  EXPECT_TRUE(value.has_value());
  EXPECT_FALSE(error.has_value());
}

TEST(Result, CarriesTypesThatOnlyMove) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(Result, GivesAccessThroughTheArrow) {
  Result<std::string> result = std::string("abc");
  result->push_back('d');
  EXPECT_EQ(result->size(), 4U);
}

TEST(Result, AndThenRunsOnAValueOnly) {
  int calls = 0;
  const auto half = [&calls](int number) {
    ++calls;
    return parse_even(number / 2);
  };
  EXPECT_EQ(parse_even(8).and_then(half).value(), 4);
  EXPECT_EQ(parse_even(6).and_then(half).error().context, "odd");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(parse_even(5).and_then(half).error().context, "odd");
  EXPECT_EQ(calls, 2);
}

TEST(Result, TransformChangesTheValueAndItsType) {
  const auto to_text = [](int number) { return std::to_string(number); };
  EXPECT_EQ(parse_even(8).transform(to_text).value(), "8");
  EXPECT_EQ(parse_even(7).transform(to_text).error().code, ErrorCode::invalid_argument);
}

TEST(Result, OrElseRunsOnAnErrorOnly) {
  const auto zero = [](const Error&) { return Result<int>(0); };
  EXPECT_EQ(parse_even(7).or_else(zero).value(), 0);
  EXPECT_EQ(parse_even(8).or_else(zero).value(), 8);
}

TEST(Result, SuccessWithoutValueIsAUnit) {
  const Result<Unit> result = ok();
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(result.value(), Unit{});
}

TEST(ResultDeathTest, AbortsOnReadingTheAbsentAlternative) {
  Result<int> error = parse_even(3);
  Result<int> value = parse_even(4);
  EXPECT_DEATH((void)error.value(), "holds an error");
  EXPECT_DEATH((void)*error, "holds an error");
  EXPECT_DEATH((void)std::move(error).value(), "holds an error");
  EXPECT_DEATH((void)value.error(), "holds a value");
  EXPECT_DEATH((void)std::move(value).error(), "holds a value");
}

}  // namespace
