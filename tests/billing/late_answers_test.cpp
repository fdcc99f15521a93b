// Answers that come late, twice or for what is already decided: only money changes anything then.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class LateAnswers : public Entity {
 protected:
  BillingEntity::Decided confirm() { return answer(handled(decide(bill()))); }
  void park() { add(BillingParked{of(), now_.wall, "test"}); }
  void hint() { add(LookUpOwed{of(), now_.wall, "webhook", now_.wall}); }
  void complete() {
    (void)answer(handled(confirm()));
    ASSERT_EQ(status(), ObligationStatus::completed);
  }
  void expect_nothing(const BillingEntity::Decided& decided) {
    EXPECT_TRUE(decided.stores_nothing());
    EXPECT_EQ(call_in(decided), nullptr);
    EXPECT_FALSE(decided.quarantine.has_value());
  }
};

// Two incarnations asked the same question; the first answer led on.
TEST_F(LateAnswers, ASecondAnswerToALookUpDoesNotReopenADecline) {
  const auto sent = confirm();
  (void)provider_.handle(*call_in(sent), Fate::declined, now_.wall);
  const auto look = answer(observed(sent, Observation::server_error));
  const auto found = handled(look);
  (void)answer(found);
  ASSERT_EQ(status(), ObligationStatus::declined);
  const auto declined = obligation();
  expect_nothing(answer(found));
  EXPECT_EQ(obligation(), declined);
  expect_nothing(answer(observed(look, Observation::broken)));
  EXPECT_EQ(obligation(), declined);
}

// With charges it would even have looked like a second money-moving request beside an open one.
TEST_F(LateAnswers, ALateListDoesNotReopenADeclinedCharge) {
  use_flow(Flow::charges);
  now_.provider.reset();
  const auto sent = decide(bill());
  (void)answer(observed(sent, Observation::broken));
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  const auto nothing_yet = handled(look);
  (void)answer(handled(sent, Fate::declined));  // the answer of an earlier incarnation's send
  ASSERT_EQ(status(), ObligationStatus::declined);
  expect_nothing(answer(nothing_yet));
  EXPECT_EQ(status(), ObligationStatus::declined);
}

TEST_F(LateAnswers, OfAnOlderKeyActOnlyIfTheySucceeded) {
  const auto first = confirm();
  const auto look = answer(handled(first, Fate::failed_500));
  const auto second = answer(handled(look));
  ASSERT_EQ(obligation().generation, 1U);
  const auto before = obligation();
  for (const auto late : {Observation::declined, Observation::invalid_request, Observation::broken,
                          Observation::server_error, Observation::unexpected_state}) {
    expect_nothing(answer(observed(first, late)));
  }
  EXPECT_EQ(obligation(), before);
  auto paid = handled(second);
  paid.key = call_in(first)->key;
  (void)answer(paid);
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(LateAnswers, OfAParkedObligationActOnlyIfTheySucceeded) {
  const auto sent = confirm();
  park();
  for (const auto late : {Observation::declined, Observation::invalid_request, Observation::broken,
                          Observation::rate_limited, Observation::unexpected_state}) {
    expect_nothing(answer(observed(sent, late)));
    EXPECT_EQ(status(), ObligationStatus::parked);
  }
  (void)answer(handled(sent));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "money_taken_late");
}

TEST_F(LateAnswers, MoneyThatCallersWereToldWouldNotComeRaisesAnAlarm) {
  const auto sent = confirm();
  const auto paid = handled(sent);
  (void)answer(observed(sent, Observation::declined));
  ASSERT_EQ(status(), ObligationStatus::declined);
  (void)answer(paid);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "money_taken_late");
}

TEST_F(LateAnswers, MoneyOfARejectedOrCappedObligationRaisesAnAlarm) {
  for (const bool capped : {false, true}) {
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    provider_ = testing::FakeProvider();
    const auto sent = confirm();
    const auto paid = handled(sent);
    if (capped) {
      add(BillingCapped{of(), now_.wall, 1, 1});
    } else {
      (void)answer(observed(sent, Observation::invalid_request));
      ASSERT_EQ(status(), ObligationStatus::rejected);
    }
    (void)answer(paid);
    EXPECT_EQ(status(), ObligationStatus::completed);
    EXPECT_EQ(obligation().reason, "money_taken_late");
  }
}

TEST_F(LateAnswers, MoneyOfAnotherAttemptCompletesWithAnAlarm) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  auto charge = handled(sent).objects.at(0);
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  (void)answer(observed(decide(bill()), Observation::declined));
  provider_ = testing::FakeProvider();
  const auto again = answer(handled(wake()));
  ASSERT_EQ(operation_in(again), Operation::create_charge);
  const auto look = answer(observed(again, Observation::server_error));
  auto listed = observed(look, Observation::object);
  listed.objects = {charge};  // names attempt 1
  (void)answer(listed);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "charge_of_another_attempt");
}

TEST_F(LateAnswers, SeveralChargesOfOneObligationRaiseAnAlarm) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  const auto charge = handled(sent).objects.at(0);
  const auto look = answer(observed(sent, Observation::server_error));
  auto listed = observed(look, Observation::object);
  listed.objects = {charge, charge};
  listed.objects[0].id = "ch_2";
  const auto done = answer(listed);
  EXPECT_EQ(event_in<BillingCompleted>(done)->alarm, "several_charges_found");
  EXPECT_EQ(obligation().charge_id, "ch_2");
  EXPECT_EQ(obligation().reason, "duplicate_payment " + charge.id);
}

// --- hints: a look-up that is owed although nothing is unresolved ---

TEST_F(LateAnswers, AHintOnAClosedObligationIsLookedUpOnce) {
  complete();
  hint();
  EXPECT_EQ(row_of(CustomerId{"cust_1"}, of(), obligation()).next_action_at, now_.wall);
  const auto look = resume();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto done = answer(handled(look));
  ASSERT_NE(event_in<LookUpAnswered>(done), nullptr);
  EXPECT_EQ(event_in<LookUpAnswered>(done)->found, "succeeded");
  EXPECT_EQ(call_in(done), nullptr);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_FALSE(obligation().next_action_at.has_value());
  expect_nothing(resume());
}

TEST_F(LateAnswers, AHintOnAClosedObligationWhoseLookUpFailsIsRepeatedLater) {
  complete();
  hint();
  const auto failed = answer(observed(resume(), Observation::broken));
  EXPECT_EQ(call_in(failed), nullptr);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(*obligation().next_action_at, now_.wall.plus(std::chrono::minutes{10}));
  expect_nothing(resume());
  EXPECT_EQ(operation_in(wake()), Operation::get_intent);
}

TEST_F(LateAnswers, AHintOnAParkedObligationKeepsItsReasonUnlessMoneyIsFound) {
  const auto sent = confirm();
  park();
  hint();
  const auto done = answer(handled(resume()));
  EXPECT_NE(event_in<LookUpAnswered>(done), nullptr);
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_EQ(obligation().reason, "test");
  EXPECT_FALSE(obligation().next_action_at.has_value());
  (void)handled(sent);
  hint();
  (void)answer(handled(resume()));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(LateAnswers, AHintOnADeclinedObligationLeavesDunningAsPlanned) {
  (void)answer(handled(confirm(), Fate::declined));
  const auto planned = obligation().next_attempt_at;
  hint();
  const auto done = answer(handled(resume()));
  EXPECT_EQ(call_in(done), nullptr);
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().next_action_at, planned);
  EXPECT_EQ(obligation().next_attempt_at, planned);
  EXPECT_EQ(operation_in(wake()), Operation::get_intent);
  EXPECT_EQ(operation_in(answer(handled(resume()))), Operation::confirm_intent);
}

// A hint about a send that has no answer yet does not make it look answered: after a crash it would
// pass for a send that did nothing, and its key would be used at any age.
TEST_F(LateAnswers, AHintDoesNotAnswerARequest) {
  use_flow(Flow::charges);
  (void)decide(bill());
  hint();
  EXPECT_FALSE(obligation().request->answered);
  advance_time(std::chrono::hours{25});
  const auto look = resume();
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  (void)run_for(std::chrono::hours{2}, look, Fate::ok);
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_TRUE(provider_.wire().empty());
}

// --- decisions that the state cannot take ---

// Another namespace makes other keys: nothing of the old requests may be sent under them.
class Renamed : public LateAnswers {
 protected:
  Renamed() {
    use_flow(Flow::charges);
    (void)decide(bill());
    BillingPolicy p = make_policy();
    p.flow = Flow::charges;
    p.ns = Namespace{"another"};
    entity_ = BillingEntity(p);
  }
};

TEST_F(Renamed, ResumeQuarantinesInsteadOfDoingNothing) {
  const auto decided = entity_.resume(state_, context());
  ASSERT_TRUE(decided.quarantine.has_value());
  EXPECT_NE(decided.quarantine->find("second money-moving request"), std::string::npos);
  EXPECT_TRUE(decided.effects.empty());
}

TEST_F(Renamed, ABrokenDecisionIsNotToldAsDone) {
  add(RequestRejected{of(), now_.wall, obligation().request->key, "not_sent", "", "", now_.wall});
  const auto decided =
      entity_.decide(state_, BillingCommand{LookAgain{bill().key, "ann", "again"}}, context());
  EXPECT_TRUE(decided.quarantine.has_value());
  EXPECT_FALSE(decided.reply.has_value());
  EXPECT_TRUE(decided.stores_nothing());
}

}  // namespace
}  // namespace onceward::billing
