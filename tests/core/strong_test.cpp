// Strong<Tag, T>: what it lets through and, above all, what it does not.
#include <onceward/core/strong.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <unordered_set>

namespace {

using Apple = onceward::Strong<struct AppleTag, std::string>;
using Pear = onceward::Strong<struct PearTag, std::string>;

static_assert(!std::is_convertible_v<std::string, Apple>, "construction is explicit");
static_assert(!std::is_convertible_v<Apple, std::string>, "the value is asked for");
static_assert(!std::is_constructible_v<Apple, Pear>, "one id never becomes another");
static_assert(!std::is_assignable_v<Apple&, Pear>);
static_assert(std::is_nothrow_move_constructible_v<Apple>);

TEST(Strong, ComparesByValue) {
  EXPECT_EQ(Apple("a"), Apple("a"));
  EXPECT_NE(Apple("a"), Apple("A"));
  EXPECT_LT(Apple("a"), Apple("b"));
  EXPECT_EQ(Apple(), Apple(""));
}

TEST(Strong, KeepsTheValue) {
  EXPECT_EQ(Apple("golden").value(), "golden");
}

TEST(Strong, IsAKeyOfHashTables) {
  const std::unordered_set<Apple> apples = {Apple("a"), Apple("b"), Apple("a")};
  EXPECT_EQ(apples.size(), 2U);
  EXPECT_TRUE(apples.contains(Apple("b")));
}

}  // namespace
