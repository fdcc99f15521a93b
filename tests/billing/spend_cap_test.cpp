// The spend cap along every path: reserved before money can move, kept while unknown, released with
// proof, settled with success; and a refusal never hides what may have happened.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class SpendCap : public Entity {
 protected:
  BillingEntity::Decided confirm() { return answer(handled(decide(bill()))); }
  Refusal refusal() const {
    return CapRefused{bill().key.period, CustomerId{}, Money{100, bill().amount.currency}, 90,
                      bill().amount.minor};
  }
};

TEST_F(SpendCap, IsReservedByTheRequestThatCanMoveMoneyAndByNoOther) {
  const auto create = decide(bill());
  EXPECT_EQ(reserved(), 0);
  const auto sent = answer(handled(create));
  EXPECT_EQ(reserved(), 4990);
  (void)answer(handled(sent));
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(settled(), 4990);
}

TEST_F(SpendCap, EveryModeReservesAndOnlyEnforceRefuses) {
  for (const CapMode mode : {CapMode::enforce, CapMode::observe, CapMode::off}) {
    BillingPolicy p = make_policy();
    p.flow = Flow::charges;
    p.cap_mode = mode;
    const auto decided = BillingEntity(p).decide(state_, BillingCommand{bill()}, context());
    ASSERT_EQ(decided.caps.size(), 1U);
    EXPECT_EQ(decided.caps[0].kind, CapOp::Kind::reserve);
    EXPECT_EQ(decided.caps[0].enforce, mode == CapMode::enforce);
    EXPECT_EQ(decided.caps[0].attempt, 1U);
    EXPECT_EQ(decided.caps[0].amount, bill().amount);
  }
}

TEST_F(SpendCap, IsKeptWhileUnknownAndWhileProcessing) {
  const auto sent = confirm();
  (void)answer(handled(sent, Fate::lost_before));
  EXPECT_EQ(reserved(), 4990);
  (void)answer(handled(wake(), Fate::processing));
  EXPECT_EQ(status(), ObligationStatus::processing);
  EXPECT_EQ(reserved(), 4990);
  provider_.finish_processing(false);
  (void)answer(handled(wake()));
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(reserved(), 0);
}

TEST_F(SpendCap, IsReleasedByADeclineAndReservedByTheNextAttempt) {
  (void)answer(handled(confirm(), Fate::declined));
  EXPECT_EQ(reserved(), 0);
  const auto again = next_try_after_last_look();
  EXPECT_EQ(reserved(), 4990);
  (void)answer(handled(again));
  EXPECT_EQ(reserved(), 0);
  EXPECT_EQ(settled(), 4990);
}

TEST_F(SpendCap, IsReleasedByARejectionAndReservedByTheRetry) {
  (void)answer(handled(confirm(), Fate::invalid));
  EXPECT_EQ(reserved(), 0);
  (void)look_again();
  EXPECT_EQ(reserved(), 4990);
}

TEST_F(SpendCap, IsKeptByASendThatDidNothingAndIsRepeated) {
  (void)answer(handled(confirm(), Fate::limited));
  EXPECT_EQ(reserved(), 4990);
  const auto again = wake();
  EXPECT_EQ(reserved(), 4990);
  (void)answer(handled(again));
  EXPECT_EQ(settled(), 4990);
}

// The canceled intent is journaled proof that nothing was paid by it.
TEST_F(SpendCap, IsReleasedWithACanceledIntent) {
  const auto sent = confirm();
  provider_.cancel_open_intents();
  (void)answer(handled(answer(handled(sent))));
  EXPECT_TRUE(obligation().intent.empty());
  EXPECT_EQ(reserved(), 0);
}

TEST_F(SpendCap, IsReleasedWithAnIntentWhoseConfirmAnswersThatItIsCanceled) {
  auto canceled = handled(confirm());
  canceled.objects[0].status = "canceled";
  (void)answer(canceled);
  EXPECT_TRUE(obligation().intent.empty());
  EXPECT_EQ(reserved(), 0);
}

TEST_F(SpendCap, BelowTheProvidersMinimumIsWaivedAndReleased) {
  use_flow(Flow::charges);
  auto small = observed(decide(bill()), Observation::invalid_request);
  small.code = "amount_too_small";
  (void)answer(small);
  EXPECT_EQ(status(), ObligationStatus::waived);
  EXPECT_EQ(obligation().reason, "below_minimum");
  EXPECT_EQ(reserved(), 0);
}

TEST_F(SpendCap, BelowTheMinimumIsNotWaivedBesideAPayableIntentOrWhenTainted) {
  auto small = observed(confirm(), Observation::invalid_request);
  small.code = "amount_too_small";
  (void)answer(small);
  EXPECT_EQ(status(), ObligationStatus::rejected);
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  small = observed(decide(bill()), Observation::invalid_request);
  small.code = "amount_too_small";
  small.single_wire_send = false;
  (void)answer(small);
  EXPECT_EQ(status(), ObligationStatus::unknown);
}

TEST_F(SpendCap, BelowTheMinimumIsHeldIfThePolicySaysSo) {
  BillingPolicy p = make_policy();
  p.below_minimum = BelowMinimum::hold;
  entity_ = BillingEntity(p);
  auto small = observed(decide(bill()), Observation::invalid_request);
  small.code = "amount_too_small";
  (void)answer(small);
  EXPECT_EQ(status(), ObligationStatus::rejected);
}

TEST_F(SpendCap, ARefusalOfTheFirstChargeIsRecordedWithTheInitiation) {
  use_flow(Flow::charges);
  const Refusal capped = refusal();
  const auto d = keep(entity_.decide(state_, BillingCommand{bill()}, context(true, &capped)));
  ASSERT_EQ(d.events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<BillingCapped>(d.events[1]));
  EXPECT_EQ(std::get<Told>(*d.reply).row.status, ObligationStatus::capped);
  EXPECT_EQ(call_in(d), nullptr);
  EXPECT_EQ(reserved(), 0);
}

// Its reservation is held; "capped" would say that nothing was charged.
TEST_F(SpendCap, ARefusalDoesNotHideASendThatMayHaveActed) {
  const auto sent = confirm();
  (void)answer(handled(sent, Fate::lost_after));
  advance_time(std::chrono::minutes{1});
  const Refusal capped = refusal();
  const auto again = keep(entity_.resume(state_, context(true, &capped)));
  EXPECT_EQ(event_in<BillingCapped>(again), nullptr);
  ASSERT_NE(call_in(again), nullptr);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
}

TEST_F(SpendCap, ARefusalOfAnotherObligationIsNotThisOnes) {
  const auto create = decide(bill());
  for (CapRefused other :
       {CapRefused{*BillingPeriod::parse("2026-07"), CustomerId{},
                   Money{100, bill().amount.currency}, 90, 4990},
        CapRefused{bill().key.period, CustomerId{}, Money{100, *Currency::parse("eur")}, 90, 4990},
        CapRefused{bill().key.period, CustomerId{}, Money{100, bill().amount.currency}, 90, 100}}) {
    const Refusal capped = other;
    const auto d = entity_.decide_answer(state_, handled(create), context(true, &capped));
    EXPECT_EQ(event_in<BillingCapped>(d), nullptr);
    EXPECT_EQ(operation_in(d), Operation::confirm_intent);
  }
}

}  // namespace
}  // namespace onceward::billing
