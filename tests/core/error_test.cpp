// The error table: numbers and names are permanent, because they stand in replies and logs.
#include <onceward/core/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using onceward::Error;
using onceward::error_code_label;
using onceward::error_code_name;
using onceward::ErrorCode;

struct Row {
  int number;
  const char* name;
};

// A row is added with a new code and is never changed.
const std::vector<Row> published = {
    {1001, "invalid_argument"},
    {1002, "invalid_config"},
    {1003, "not_found"},
    {1004, "conflict"},
    {1005, "busy"},
    {1006, "not_ready"},
    {1007, "unauthorized"},
    {2001, "store_io"},
    {2002, "store_locked"},
    {2003, "store_mismatch"},
    {2004, "store_schema_newer"},
    {2005, "store_corrupt"},
    {2006, "store_restored"},
    {2007, "store_uncertain"},
    {2008, "store_full"},
    {3001, "unknown_manifest"},
    {3002, "decode_failed"},
    {3003, "impossible_transition"},
    {3004, "quarantined"},
    {4001, "provider_config"},
    {5001, "io"},
    {5002, "unreachable"},
};

TEST(Error, HasThePublishedNumbersAndNamesAndNoOthers) {
  std::vector<Row> found;
  for (int number = 0; number <= std::numeric_limits<std::uint16_t>::max(); ++number) {
    const auto name = error_code_name(static_cast<ErrorCode>(number));
    if (name != "unnamed") found.push_back({number, name.data()});
  }
  ASSERT_EQ(found.size(), published.size());
  for (std::size_t at = 0; at < published.size(); ++at) {
    EXPECT_EQ(found[at].number, published[at].number);
    EXPECT_STREQ(found[at].name, published[at].name);
  }
}

TEST(Error, LabelsCodesWithFourDigits) {
  EXPECT_EQ(error_code_label(ErrorCode::store_locked), "OW2002");
  EXPECT_EQ(error_code_label(ErrorCode::invalid_argument), "OW1001");
  EXPECT_EQ(error_code_label(static_cast<ErrorCode>(7)), "OW0007");
}

TEST(Error, ComparesCodeAndContext) {
  EXPECT_EQ((Error{ErrorCode::busy, "queue"}), (Error{ErrorCode::busy, "queue"}));
  EXPECT_NE((Error{ErrorCode::busy, "queue"}), (Error{ErrorCode::busy, "other"}));
  EXPECT_NE((Error{ErrorCode::busy, "queue"}), (Error{ErrorCode::io, "queue"}));
}

}  // namespace
