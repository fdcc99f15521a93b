// An operator's retry: it re-runs the resume table on whatever status the obligation has, and is
// never a blind send.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class Operator : public Entity {
 protected:
  BillingEntity::Decided confirm() { return answer(handled(decide(bill()))); }
  /// Closed obligations are only told.
  void expect_closed(ObligationStatus closed) {
    ASSERT_EQ(status(), closed);
    const auto before = obligation();
    const auto decided = look_again();
    EXPECT_TRUE(decided.stores_nothing());
    EXPECT_EQ(call_in(decided), nullptr);
    ASSERT_NE(told(decided), nullptr);
    EXPECT_EQ(told(decided)->row.status, closed);
    EXPECT_EQ(obligation(), before);
  }
};

TEST_F(Operator, OfAnUnknownObligationIsToldSo) {
  EXPECT_TRUE(std::holds_alternative<NoSuchObligation>(*look_again().reply));
}

TEST_F(Operator, WhoAndWhyAreJournaled) {
  const auto sent = confirm();
  add(BillingParked{of(), now_.wall, "test"});
  const auto decided = look_again();
  const auto* acted = event_in<OperatorActed>(decided);
  ASSERT_NE(acted, nullptr);
  EXPECT_EQ(acted->who, "ann");
  EXPECT_EQ(acted->why, "card fixed");
  EXPECT_NE(obligation().reason.find("ann"), std::string::npos);
}

TEST_F(Operator, ClosedObligationsStayClosed) {
  (void)answer(handled(confirm()));
  expect_closed(ObligationStatus::completed);
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  auto nothing = bill(0);
  (void)decide(nothing);
  expect_closed(ObligationStatus::waived);
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  (void)decide(bill());
  add(BillingCancelled{of(), now_.wall, "test"});
  expect_closed(ObligationStatus::cancelled);
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  (void)decide(bill());
  add(BillingUncollectible{of(), now_.wall, "test"});
  expect_closed(ObligationStatus::uncollectible);
}

TEST_F(Operator, InProgressWithASendThatMayHaveActedIsLookedUp) {
  (void)confirm();
  const auto decided = look_again();
  EXPECT_EQ(operation_in(decided), Operation::get_intent);
  EXPECT_EQ(told(decided)->row.status, ObligationStatus::in_progress);
}

TEST_F(Operator, InProgressWithoutASendStartsIt) {
  (void)decide(bill(), false);
  EXPECT_EQ(operation_in(look_again()), Operation::create_intent);
}

// A send that certainly did nothing keeps that proof: else a charge would have to be parked when
// its key is old.
TEST_F(Operator, ASendThatCertainlyDidNothingIsSentAgainAtAnyAge) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  (void)answer(observed(sent, Observation::not_sent));
  advance_time(std::chrono::hours{48});
  const auto again = look_again();
  ASSERT_EQ(operation_in(again), Operation::create_charge);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
  EXPECT_FALSE(obligation().request->tainted);
}

TEST_F(Operator, ALookUpThatWasAskedForMeanwhileDoesNotTaintASendThatDidNothing) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  add(OperatorActed{of(), now_.wall, "retry", "ann", "slow", now_.wall});
  EXPECT_TRUE(obligation().look_up_owed);
  (void)answer(observed(sent, Observation::rate_limited));
  EXPECT_FALSE(obligation().look_up_owed);
  EXPECT_EQ(operation_in(wake()), Operation::create_charge);
}

TEST_F(Operator, UnknownIsLookedUp) {
  (void)answer(observed(confirm(), Observation::broken));
  ASSERT_EQ(status(), ObligationStatus::unknown);
  EXPECT_EQ(operation_in(look_again()), Operation::get_intent);
  EXPECT_EQ(status(), ObligationStatus::unknown);
}

TEST_F(Operator, ProcessingAndActionRequiredAreLookedUp) {
  for (const Fate fate : {Fate::processing, Fate::requires_action}) {
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    (void)answer(handled(confirm(), fate));
    const auto pending = status();
    const auto look = look_again();
    EXPECT_EQ(operation_in(look), Operation::get_intent);
    EXPECT_EQ(status(), pending);
    provider_.finish_processing(true);
    (void)answer(handled(look));
    EXPECT_EQ(status(), ObligationStatus::completed);
  }
}

TEST_F(Operator, ParkedWithAnUnresolvedSendIsLookedUpAsUnknown) {
  use_flow(Flow::charges);
  (void)answer(observed(decide(bill()), Observation::broken));
  advance_time(std::chrono::hours{25});
  auto next = answer(handled(resume()));
  ASSERT_EQ(status(), ObligationStatus::parked);
  EXPECT_EQ(obligation().reason, "outcome_unknown");
  const auto look = look_again();
  EXPECT_EQ(status(), ObligationStatus::unknown);
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::parked);  // still no proof
  EXPECT_TRUE(provider_.wire().empty());
}

// By hand, too, the intent is read before it is confirmed again.
TEST_F(Operator, DeclinedStartsTheNextAttemptNow) {
  const auto sent = confirm();
  (void)answer(handled(sent, Fate::declined));
  const auto look = look_again();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto next = answer(handled(look));
  ASSERT_EQ(operation_in(next), Operation::confirm_intent);
  EXPECT_NE(call_in(next)->key, call_in(sent)->key);
  EXPECT_EQ(status(), ObligationStatus::in_progress);
  EXPECT_FALSE(obligation().next_attempt_at.has_value());
}

TEST_F(Operator, DeclinedWithoutAPermitTellsOfNoLaterTry) {
  (void)answer(handled(confirm(), Fate::declined));
  const auto decided = keep(
      entity_.decide(state_, BillingCommand{LookAgain{bill().key, "ann", "now"}}, context(false)));
  EXPECT_TRUE(decided.wants_permit);
  EXPECT_FALSE(told(decided)->row.next_attempt_at.has_value());
  EXPECT_EQ(*told(decided)->row.next_action_at, now_.wall);
}

TEST_F(Operator, CappedIsTriedAgainAndMayBeCappedAgain) {
  const auto create = decide(bill());
  const Refusal refusal =
      CapRefused{bill().key.period, CustomerId{}, Money{100, bill().amount.currency}, 90, 4990};
  (void)keep(entity_.decide_answer(state_, handled(create), context(true, &refusal)));
  ASSERT_EQ(status(), ObligationStatus::capped);
  const auto again = keep(entity_.decide(
      state_, BillingCommand{LookAgain{bill().key, "ann", "raised"}}, context(true, &refusal)));
  EXPECT_EQ(call_in(again), nullptr);
  EXPECT_EQ(told(again)->row.status, ObligationStatus::capped);
  EXPECT_EQ(operation_in(look_again()), Operation::confirm_intent);
}

TEST_F(Operator, RejectedIsSentUnderTheNextGeneration) {
  const auto sent = confirm();
  (void)answer(handled(sent, Fate::invalid));
  ASSERT_EQ(status(), ObligationStatus::rejected);
  const auto again = look_again();
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_NE(call_in(again)->key, call_in(sent)->key);
  EXPECT_EQ(call_in(again)->target, call_in(sent)->target);
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(Operator, ARefusalForWantOfAnotherCardIsTriedAgainByHandUnderANewAttempt) {
  (void)answer(refused_with(confirm(), "expired_card"));
  ASSERT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(operation_in(answer(handled(look_again()))), Operation::confirm_intent);
  EXPECT_EQ(obligation().request->attempt, 2U);
}

// --- metadata of callers ---

TEST_F(Operator, MetadataThatWouldHideOursIsRefused) {
  auto b = bill();
  b.metadata = {{"onceward_period", "2026-07"}};
  EXPECT_TRUE(std::holds_alternative<Refused>(*decide(b).reply));
  b.metadata = {{"plan", "gold"}, {"plan", "iron"}};
  EXPECT_TRUE(std::holds_alternative<Refused>(*decide(b).reply));
  EXPECT_TRUE(state_.obligations.empty());
  b.metadata = {{"plan", "gold"}, {"seat", "1"}};
  EXPECT_EQ(decide(b).events.size(), 2U);
}

}  // namespace
}  // namespace onceward::billing
