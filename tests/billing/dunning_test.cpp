// After a decline: when the card is tried again, what waits for another one, what is given up, and
// that nobody is charged for what has been paid meanwhile.
#include <onceward/billing/dunning.hpp>

#include <set>

#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using provider::DeclineBucket;
using testing::Entity;
using testing::Fate;

constexpr std::chrono::milliseconds day = std::chrono::hours{24};

TEST(NextTry, SpreadsTheTriesAndNeverPassesTheEnd) {
  const BillingPolicy policy;
  const Timestamp first{1'000'000'000'000};
  Timestamp now = first;
  int tries = 1;
  for (std::uint32_t declines = 1;; ++declines) {
    const auto step = next_try(policy, DeclineBucket::later, declines, first, now);
    const auto* again = std::get_if<TryAgain>(&step);
    if (again == nullptr) {
      EXPECT_EQ(std::get<GiveUp>(step).reason, "dunning_exhausted");
      break;
    }
    EXPECT_GE(again->at, now.plus(day));
    EXPECT_LE(again->at, first.plus(policy.dunning_spread));
    now = again->at;
    ++tries;
  }
  EXPECT_EQ(tries, 8);
  EXPECT_EQ(now, first.plus(policy.dunning_spread));
}

TEST(NextTry, BucketsDifferAndLateDeclinesGetNoTryAfterTheEnd) {
  const BillingPolicy policy;
  const Timestamp first{1'000'000'000'000};
  const auto never = next_try(policy, DeclineBucket::never, 1, first, first);
  EXPECT_EQ(std::get<GiveUp>(never).reason, "card_refused_for_good");
  const auto action = next_try(policy, DeclineBucket::customer_action, 1, first, first);
  EXPECT_EQ(std::get<WaitForMethod>(action).until, first.plus(policy.dunning_spread));
  const auto late =
      next_try(policy, DeclineBucket::later, 2, first, first.plus(day * 13 + day / 2));
  EXPECT_TRUE(std::holds_alternative<GiveUp>(late));
}

class Dunning : public Entity {
 protected:
  BillingEntity::Decided confirm() { return answer(handled(decide(bill()))); }
  BillingEntity::Decided decline(const char* code = "insufficient_funds") {
    return answer(refused_with(confirm(), code));
  }
  const DunningPlanned* plan_of(const BillingEntity::Decided& d) {
    return event_in<DunningPlanned>(d);
  }
};

TEST_F(Dunning, TriesAtMostEightTimesInFourteenDaysNeverTwiceADayAndGivesUp) {
  std::vector<Timestamp> tries;
  auto d = decline();
  tries.push_back(now_.wall);
  const Timestamp first = now_.wall;
  while (status() == ObligationStatus::declined) {
    const auto again = next_try_after_last_look();
    ASSERT_EQ(operation_in(again), Operation::confirm_intent);
    EXPECT_GE(now_.wall, tries.back().plus(day));
    tries.push_back(now_.wall);
    d = answer(handled(again, Fate::declined));
  }
  EXPECT_EQ(tries.size(), 8U);
  EXPECT_LE(now_.wall, first.plus(day * 14));
  EXPECT_EQ(obligation().attempt, 9U);  // eight journaled declines, nothing else counts
  ASSERT_EQ(operation_in(d), Operation::cancel_intent);
  (void)answer(handled(d));
  EXPECT_EQ(status(), ObligationStatus::uncollectible);
  EXPECT_EQ(obligation().reason, "dunning_exhausted");
  EXPECT_EQ(provider_.open_intents(), 0);
  EXPECT_TRUE(provider_.ledger().empty());
  std::set<std::string> keys;
  for (const auto& row : provider_.wire()) keys.insert(row.key);
  EXPECT_EQ(keys.size(), provider_.wire().size());
}

TEST_F(Dunning, ACardRefusedForGoodStopsAtOnce) {
  const auto off = decline("stolen_card");
  EXPECT_EQ(plan_of(off)->plan, DunningPlan::give_up);
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  EXPECT_EQ(status(), ObligationStatus::uncollectible);
  EXPECT_EQ(obligation().reason, "card_refused_for_good");
  EXPECT_FALSE(obligation().next_action_at.has_value());
}

TEST_F(Dunning, WithoutAnIntentItIsClosedInTheSameCommit) {
  use_flow(Flow::charges);
  (void)answer(refused_with(decide(bill()), "stolen_card"));
  EXPECT_EQ(status(), ObligationStatus::uncollectible);
}

TEST_F(Dunning, ACodeNeverSeenBeforeIsTriedAgainAndShown) {
  const auto d = decline("moon_in_the_wrong_house");
  EXPECT_EQ(plan_of(d)->plan, DunningPlan::try_again);
  EXPECT_EQ(d.rows.at(0).row.reason, "unlisted_decline_code");
  EXPECT_EQ(d.rows.at(0).row.decline_code, "moon_in_the_wrong_house");
  EXPECT_TRUE(obligation().next_attempt_at.has_value());
}

TEST_F(Dunning, AKnownCodeNeedsNoExplanation) {
  EXPECT_EQ(decline().rows.at(0).row.reason, "");
}

TEST_F(Dunning, WhatNeedsAnotherCardWaitsForItAndIsGivenUpAtTheEnd) {
  const auto d = decline("expired_card");
  EXPECT_EQ(plan_of(d)->plan, DunningPlan::wait_for_method);
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_FALSE(obligation().next_attempt_at.has_value());
  EXPECT_EQ(obligation().next_action_at, now_.wall.plus(day * 14));
  const auto posts = provider_.wire().size();
  advance_time(day * 13);
  EXPECT_TRUE(resume().stores_nothing());
  EXPECT_EQ(provider_.wire().size(), posts);
  const auto off = wake();
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  EXPECT_EQ(status(), ObligationStatus::uncollectible);
  EXPECT_EQ(obligation().reason, "payment_method_needed");
}

TEST_F(Dunning, AnotherCardMakesItDueUnderANewKey) {
  const auto first = confirm();
  (void)answer(refused_with(first, "expired_card"));
  const auto set = decide_any(new_method("pm_2"));
  const auto* reply = std::get_if<PaymentMethodSet>(&*set.reply);
  ASSERT_NE(reply, nullptr);
  ASSERT_EQ(reply->obligations.size(), 1U);
  EXPECT_EQ(event_in<PaymentMethodChanged>(set)->who, "ann");
  EXPECT_TRUE(set.wants_permit);
  const auto again = next_try_after_last_look();
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(testing::value_of(call_in(again)->params, "payment_method"), "pm_2");
  EXPECT_NE(call_in(again)->key, call_in(first)->key);
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

// The same card again is not another card: its day is kept.
TEST_F(Dunning, TheSameCardSetAgainIsNotTriedTwiceADay) {
  (void)decline("expired_card");
  const Timestamp declined = now_.wall;
  (void)decide_any(new_method("pm_1"));
  const auto spared = resume();
  EXPECT_EQ(call_in(spared), nullptr);
  EXPECT_EQ(obligation().next_attempt_at, declined.plus(day));
  EXPECT_EQ(obligation().reason, "card_tried_today");
}

TEST_F(Dunning, ARequestUnderWayKeepsItsCard) {
  const auto sent = confirm();
  (void)answer(observed(sent, Observation::broken));
  (void)decide_any(new_method("pm_2"));
  EXPECT_EQ(status(), ObligationStatus::unknown);
  const auto again = wake();
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
  EXPECT_EQ(testing::value_of(call_in(again)->params, "payment_method"), "pm_1");
}

TEST_F(Dunning, AnotherCardMendsARejectedRequest) {
  (void)answer(handled(confirm(), Fate::invalid));
  ASSERT_EQ(status(), ObligationStatus::rejected);
  (void)decide_any(new_method("pm_2"));
  const auto again = resume();
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(testing::value_of(call_in(again)->params, "payment_method"), "pm_2");
}

TEST_F(Dunning, ACardForNobodyIsOnlyMarked) {
  const auto set = decide_any(new_method("pm_2"));
  EXPECT_TRUE(set.events.empty());
  EXPECT_EQ(set.marks.size(), 1U);
  EXPECT_TRUE(std::get<PaymentMethodSet>(*set.reply).obligations.empty());
  EXPECT_TRUE(std::holds_alternative<Refused>(*decide_any(new_method("")).reply));
}

TEST_F(Dunning, ARepeatedCardIsAnsweredFromTheStateAndAnotherPayloadRefused) {
  (void)decline("expired_card");
  (void)decide_any(new_method("pm_2"));
  const Refusal same = MarkRefused{new_method("pm_2").mark};
  const auto repeat = decide_any(new_method("pm_2"), true, &same);
  EXPECT_TRUE(repeat.stores_nothing());
  EXPECT_TRUE(std::get<PaymentMethodSet>(*repeat.reply).replayed);
  EXPECT_EQ(std::get<PaymentMethodSet>(*repeat.reply).obligations.size(), 1U);
  const auto clash = decide_any(new_method("pm_3"), true, &same);
  EXPECT_TRUE(std::holds_alternative<CallerKeyReused>(*clash.reply));
}

// --- the last look ---

TEST_F(Dunning, WhatWasPaidElsewhereMeanwhileIsNotChargedAgain) {
  (void)decline();
  provider_.pay_open_intents();
  const auto posts = provider_.wire().size();
  (void)next_try_after_last_look();
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "money_taken_late");
  EXPECT_EQ(provider_.wire().size(), posts);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Dunning, AChargeIsListedBeforeItIsTriedAgain) {
  use_flow(Flow::charges);
  (void)answer(handled(decide(bill()), Fate::declined));
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  const auto again = answer(handled(look));
  EXPECT_EQ(operation_in(again), Operation::create_charge);
  EXPECT_EQ(event_in<FoundStillOwed>(again)->found, "absent");
}

TEST_F(Dunning, ALookThatToldNothingPutsTheTryOff) {
  (void)decline();
  const auto off = answer(observed(wake(), Observation::broken));
  EXPECT_EQ(call_in(off), nullptr);
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_GT(*obligation().next_action_at, now_.wall);
  const auto again = next_try_after_last_look();
  EXPECT_EQ(operation_in(again), Operation::confirm_intent);
}

// No permit at that moment: the look is journaled and used, unless it has become old.
TEST_F(Dunning, ALookIsUsedWhileItIsFresh) {
  (void)decline();
  const auto found = handled(wake());
  const auto blocked = answer(found, false);
  EXPECT_TRUE(blocked.wants_permit);
  ASSERT_NE(event_in<FoundStillOwed>(blocked), nullptr);
  const auto kept = state_;
  advance_time(std::chrono::seconds{90});
  EXPECT_EQ(operation_in(resume()), Operation::confirm_intent);
  state_ = kept;
  advance_time(std::chrono::seconds{90});
  EXPECT_EQ(operation_in(resume()), Operation::get_intent);
}

TEST_F(Dunning, AnIntentCanceledByOthersIsReplacedAtTheNextTry) {
  (void)decline();
  provider_.cancel_open_intents();
  const auto create = next_try_after_last_look();
  ASSERT_EQ(operation_in(create), Operation::create_intent);
  const auto again = answer(handled(create));
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(obligation().request->attempt, 2U);
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(Dunning, ACancelSeenBeforeTheNextTryLeavesItsTime) {
  (void)decline();
  const auto planned = obligation().next_attempt_at;
  provider_.cancel_open_intents();
  add(LookUpOwed{of(), now_.wall, "webhook", now_.wall});
  const auto d = answer(handled(resume()));
  EXPECT_EQ(call_in(d), nullptr);
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().next_attempt_at, planned);
}

// The refusal that was recorded without its charge is not counted for the next attempt.
TEST_F(Dunning, ARefusalShownBeforeTheTryIsNeverItsOwn) {
  auto bare = handled(confirm(), Fate::declined);
  bare.objects.clear();
  (void)answer(bare);
  const auto again = next_try_after_last_look();
  const auto look = answer(handled(again, Fate::failed_500));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)answer(handled(look));
  EXPECT_EQ(obligation().declines, 1U);
  EXPECT_EQ(obligation().request->attempt, 2U);
}

// --- one card, several obligations ---

TEST_F(Dunning, OneCardIsNotTriedTwiceADayForTwoPeriods) {
  (void)decline();
  auto july = bill();
  july.key.period = *BillingPeriod::parse("2026-07");
  advance_time(day * 2 - std::chrono::hours{1});
  // Its first attempt is declined an hour before the other's next try.
  (void)answer(handled(answer(handled(decide(july))), Fate::declined));
  const Timestamp declined = now_.wall;
  const PeriodPurpose august = of();
  advance_time(std::chrono::hours{1});
  const auto spared = resume();
  EXPECT_EQ(call_in(spared), nullptr);
  const auto& ob = state_.obligations.at(august);
  EXPECT_EQ(ob.next_attempt_at, declined.plus(day));
  EXPECT_EQ(ob.reason, "card_tried_today");
}

// --- pending for days ---

TEST_F(Dunning, ProcessingForDaysIsReadAgainAndAgainAndThenDunnedAsAnyDecline) {
  (void)answer(handled(confirm(), Fate::processing));
  (void)run_for(day * 5, resume(), Fate::ok);
  ASSERT_EQ(status(), ObligationStatus::processing);
  provider_.finish_processing(false);
  const auto d = answer(handled(wake()));
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(plan_of(d)->plan, DunningPlan::try_again);
  EXPECT_EQ(obligation().next_attempt_at, now_.wall.plus(day * 2));
}

TEST_F(Dunning, ACustomerWhoActsCompletesItWithoutASecondIntent) {
  (void)answer(handled(confirm(), Fate::requires_action));
  ASSERT_EQ(status(), ObligationStatus::action_required);
  provider_.finish_processing(true);
  (void)answer(handled(wake()));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.wire().size(), 2U);
}

}  // namespace
}  // namespace onceward::billing
