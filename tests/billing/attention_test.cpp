// Whoever has to look at an obligation is told why and what to do; nobody else is.
#include <onceward/billing/attention.hpp>

#include <gtest/gtest.h>

namespace onceward::billing {
namespace {

std::optional<Advice> advice(ObligationStatus status, const char* reason = "") {
  ObligationRow row;
  row.status = status;
  row.reason = reason;
  return advice_for(row);
}

TEST(Attention, EveryStatusThatAPersonOwnsHasAdviceWhateverItsReason) {
  for (const ObligationStatus status : all_obligation_statuses) {
    const bool owned = is_operator_owned(status) || status == ObligationStatus::uncollectible ||
                       status == ObligationStatus::action_required ||
                       status == ObligationStatus::processing;
    for (const char* reason : {"", "never seen before"}) {
      const auto found = advice(status, reason);
      EXPECT_EQ(found.has_value(), owned) << to_text(status);
      if (!found) continue;
      EXPECT_FALSE(found->why.empty());
      EXPECT_FALSE(found->next_step.empty());
    }
  }
}

TEST(Attention, ReasonsTellApartWhatToDo) {
  const auto parked = ObligationStatus::parked;
  EXPECT_NE(advice(parked, "outcome_unknown")->next_step, advice(parked, "mismatch")->next_step);
  EXPECT_NE(advice(parked, "intent_requires_capture")->why,
            advice(parked, "intent_not_found")->why);
}

TEST(Attention, AlarmsOfCompletedObligationsAreShown) {
  const auto completed = ObligationStatus::completed;
  EXPECT_TRUE(advice(completed, "duplicate_payment ch_2"));
  EXPECT_TRUE(advice(completed, "money_taken_late"));
  EXPECT_FALSE(advice(completed, "paid_outside: cash"));
  EXPECT_TRUE(advice(ObligationStatus::declined, "payment_method_needed"));
  EXPECT_FALSE(advice(ObligationStatus::declined));
}

}  // namespace
}  // namespace onceward::billing
