// The fixed names of the statuses, and the sets of open and operator-owned ones, spelled out.
#include <onceward/core/obligation.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace onceward {
namespace {

// Stored in every row and shown to users: a name may never change.
constexpr std::array<std::string_view, 12> names = {
    "in_progress", "processing", "action_required", "unknown", "parked",    "rejected",
    "declined",    "capped",     "completed",       "waived",  "cancelled", "uncollectible"};

TEST(ObligationStatus, HasItsFixedNameAndReadsItBack) {
  for (std::size_t at = 0; at < names.size(); ++at) {
    EXPECT_EQ(to_text(all_obligation_statuses.at(at)), names.at(at));
    const auto parsed = parse_obligation_status(names.at(at));
    ASSERT_TRUE(parsed.has_value()) << names.at(at);
    EXPECT_EQ(parsed.value(), all_obligation_statuses.at(at));
  }
}

TEST(ObligationStatus, RefusesEveryOtherTextAndSaysWhatIsAllowed) {
  for (const std::string_view text : {"", "Completed", "completed ", "canceled", "failed"}) {
    const auto parsed = parse_obligation_status(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(parsed.error().context.find("in_progress, processing"), std::string::npos);
  }
}

TEST(ObligationStatus, OnlyFourAreClosed) {
  std::set<std::string_view> closed;
  for (const ObligationStatus status : all_obligation_statuses) {
    if (!is_open(status)) closed.insert(to_text(status));
  }
  EXPECT_EQ(closed,
            (std::set<std::string_view>{"completed", "waived", "cancelled", "uncollectible"}));
}

TEST(ObligationStatus, OperatorsOwnOnlyOpenOnes) {
  std::set<std::string_view> owned;
  for (const ObligationStatus status : all_obligation_statuses) {
    if (!is_operator_owned(status)) continue;
    owned.insert(to_text(status));
    EXPECT_TRUE(is_open(status)) << to_text(status);
  }
  EXPECT_EQ(owned, (std::set<std::string_view>{"parked", "rejected", "capped"}));
}

TEST(ObligationKey, IsShownAsCustomerPeriodPurpose) {
  const ObligationKey key{CustomerId("cust_1"), BillingPeriod::parse("2026-08").value(),
                          Purpose("subscription")};
  EXPECT_EQ(to_display(key), "cust_1/2026-08/subscription");
}

}  // namespace
}  // namespace onceward
