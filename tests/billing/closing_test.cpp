// Calling an obligation off, and an operator's verdict: nothing payable outlives it, nothing is
// closed over an unresolved request, and money that comes nevertheless wins and is alarmed.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class CallOff : public Entity {
 protected:
  BillingEntity::Decided confirm() { return answer(handled(decide(bill()))); }
  BillingEntity::Decided cancel() { return decide_any(cancellation()); }
  BillingEntity::Decided resolve(Resolution resolution, std::string reference = "") {
    return decide_any(verdict(resolution, std::move(reference)));
  }
  void ask_before_rebilling() {
    BillingPolicy p = make_policy();
    p.flow = entity_.policy().flow;
    p.rebill_after_unknown = RebillAfterUnknown::ask;
    entity_ = BillingEntity(p);
  }
  /// A charge whose outcome no read can tell.
  void park_a_charge() {
    use_flow(Flow::charges);
    (void)answer(observed(decide(bill()), Observation::broken));
    advance_time(std::chrono::hours{25});
    (void)answer(handled(resume()));
    ASSERT_EQ(status(), ObligationStatus::parked);
    ASSERT_EQ(obligation().reason, "outcome_unknown");
  }
  void expect_called_off() {
    EXPECT_EQ(status(), ObligationStatus::cancelled);
    EXPECT_EQ(provider_.open_intents(), 0);
    EXPECT_TRUE(provider_.ledger().empty());
    EXPECT_EQ(reserved(), 0);
    EXPECT_TRUE(resume().stores_nothing());
  }
};

TEST_F(CallOff, OfAnUnknownObligationIsToldSo) {
  EXPECT_TRUE(std::holds_alternative<NoSuchObligation>(*cancel().reply));
  EXPECT_TRUE(std::holds_alternative<NoSuchObligation>(*resolve(Resolution::written_off).reply));
}

TEST_F(CallOff, BeforeAnythingWasSentClosesAtOnce) {
  (void)decide(bill(), false);
  const auto done = cancel();
  ASSERT_NE(told(done), nullptr);
  EXPECT_EQ(told(done)->row.status, ObligationStatus::cancelled);
  EXPECT_EQ(event_in<CancelRequested>(done)->who, "ann");
  ASSERT_EQ(done.marks.size(), 1U);
  expect_called_off();
}

TEST_F(CallOff, ACancelledObligationIsNeverBilled) {
  (void)decide(bill(), false);
  (void)cancel();
  auto again = bill();
  again.request_id = RequestId{"r2"};
  const auto d = decide(again);
  EXPECT_EQ(call_in(d), nullptr);
  EXPECT_EQ(told(d)->row.status, ObligationStatus::cancelled);
  EXPECT_EQ(call_in(look_again()), nullptr);
  expect_called_off();
}

// The wish is kept while the create runs; its intent is cancelled as soon as it is known.
TEST_F(CallOff, WhileTheCreateRunsCancelsItsIntentAfterwards) {
  const auto create = decide(bill());
  const auto wish = cancel();
  EXPECT_FALSE(wish.reply.has_value());
  EXPECT_TRUE(wish.wait);
  EXPECT_TRUE(is_open(status()));
  const auto off = answer(handled(create));
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  EXPECT_EQ(call_in(off)->target, obligation().intent);
  (void)answer(handled(off));
  expect_called_off();
}

TEST_F(CallOff, WhileTheConfirmIsUnresolvedIsRefusedButKept) {
  const auto sent = confirm();
  (void)cancel();
  EXPECT_TRUE(is_open(status()));
  EXPECT_TRUE(obligation().closing.has_value());
  const auto lost = answer(observed(sent, Observation::broken));
  EXPECT_EQ(status(), ObligationStatus::unknown);
  EXPECT_EQ(reserved(), 4990);
  // It may still run: read, wait until it cannot, read again; then cancel. Never sent again.
  const auto posts = provider_.wire().size();
  (void)run_for(std::chrono::hours{2}, lost, Fate::ok);
  expect_called_off();
  ASSERT_EQ(provider_.wire().size(), posts + 1);
  EXPECT_EQ(provider_.wire().back().operation, Operation::cancel_intent);
}

TEST_F(CallOff, MoneyTakenBeforeItCouldBeCalledOffWinsWithAnAlarm) {
  const auto sent = confirm();
  (void)cancel();
  (void)answer(handled(sent));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "charged_before_it_was_called_off");
  EXPECT_EQ(settled(), 4990);
}

TEST_F(CallOff, ALostSuccessIsFoundByReadingTheIntent) {
  const auto sent = confirm();
  (void)cancel();
  (void)run_for(std::chrono::hours{2}, answer(handled(sent, Fate::lost_after)), Fate::ok);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(CallOff, ADeclinedObligationIsCalledOffWithItsIntent) {
  (void)answer(handled(confirm(), Fate::declined));
  const auto off = cancel();
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  expect_called_off();
}

TEST_F(CallOff, ADeclineMeanwhileStartsNoDunning) {
  const auto sent = confirm();
  (void)cancel();
  const auto off = answer(handled(sent, Fate::declined));
  EXPECT_EQ(event_in<DunningPlanned>(off), nullptr);
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  expect_called_off();
}

TEST_F(CallOff, AnIntentThatWaitsForItsCustomerIsCancelled) {
  (void)answer(handled(confirm(), Fate::requires_action));
  const auto look = cancel();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto off = answer(handled(look));
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  expect_called_off();
}

TEST_F(CallOff, WhatTheProviderIsWorkingOnIsAwaited) {
  (void)answer(handled(confirm(), Fate::processing));
  const auto waiting = answer(handled(cancel()));
  EXPECT_EQ(status(), ObligationStatus::processing);
  EXPECT_EQ(call_in(waiting), nullptr);
  provider_.finish_processing(false);
  (void)run_for(std::chrono::hours{3}, resume(), Fate::ok);
  expect_called_off();
}

// Somebody paid the intent at the same moment: the provider refuses to cancel it.
TEST_F(CallOff, AnIntentThatWasPaidMeanwhileCompletesIt) {
  (void)answer(handled(confirm(), Fate::declined));
  const auto off = cancel();
  provider_.pay_open_intents();
  const auto look = answer(handled(off));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_FALSE(obligation().reason.empty());
}

TEST_F(CallOff, ALostCancelIsSentAgainAndASavedErrorUnderTheNextGeneration) {
  (void)answer(handled(confirm(), Fate::declined));
  const auto off = cancel();
  (void)answer(handled(off, Fate::lost_before));
  const auto again = wake();
  ASSERT_EQ(operation_in(again), Operation::cancel_intent);
  EXPECT_EQ(call_in(again)->key, call_in(off)->key);
  const auto look = answer(handled(again, Fate::failed_500));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)answer(handled(look));
  const auto next = wake();
  ASSERT_EQ(operation_in(next), Operation::cancel_intent);
  EXPECT_NE(call_in(next)->key, call_in(off)->key);
  (void)answer(handled(next));
  expect_called_off();
}

TEST_F(CallOff, ARejectedRequestLeavesNothingToWaitFor) {
  const auto sent = confirm();
  (void)cancel();
  const auto off = answer(handled(sent, Fate::invalid));
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  expect_called_off();
}

TEST_F(CallOff, AChargeWhoseOutcomeNobodyKnowsIsNotCalledOffByAWish) {
  park_a_charge();
  (void)answer(handled(cancel()));
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_EQ(reserved(), 4990);
}

TEST_F(CallOff, AClosedObligationIsTold) {
  (void)answer(handled(confirm()));
  const auto refused = cancel();
  EXPECT_TRUE(refused.stores_nothing());
  const auto* reply = std::get_if<NotPossible>(&*refused.reply);
  ASSERT_NE(reply, nullptr);
  EXPECT_NE(reply->detail.find("refund"), std::string::npos);
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  (void)decide(bill(), false);
  (void)cancel();
  const auto again = cancel();
  EXPECT_EQ(told(again)->row.status, ObligationStatus::cancelled);
  EXPECT_EQ(again.marks.size(), 1U);  // so that another payload under it is refused
}

TEST_F(CallOff, ARepeatIsAnsweredFromTheStateAndAnotherPayloadRefused) {
  (void)decide(bill(), false);
  (void)cancel();
  const auto c = cancellation();
  const Refusal same = MarkRefused{c.mark};
  const auto repeat = decide_any(c, true, &same);
  EXPECT_TRUE(repeat.stores_nothing());
  EXPECT_TRUE(told(repeat)->replayed);
  EXPECT_EQ(told(repeat)->row.status, ObligationStatus::cancelled);
  auto other = c.mark;
  other.fingerprint = "another";
  const Refusal clash = MarkRefused{other};
  EXPECT_TRUE(std::holds_alternative<CallerKeyReused>(*decide_any(c, true, &clash).reply));
  const auto v = verdict(Resolution::written_off);
  const Refusal other_verdict = MarkRefused{other};
  EXPECT_TRUE(std::holds_alternative<CallerKeyReused>(*decide_any(v, true, &other_verdict).reply));
}

TEST_F(CallOff, ARepeatWaitsForTheEndUnlessItAsksForWhatIsDurable) {
  (void)decide(bill());
  auto c = cancellation();
  (void)decide_any(c);
  const Refusal same = MarkRefused{c.mark};
  const auto waits = decide_any(c, true, &same);
  EXPECT_TRUE(waits.wait);
  EXPECT_FALSE(waits.reply.has_value());
  c.notify = Notify::accepted;
  const auto now = decide_any(c, true, &same);
  EXPECT_FALSE(now.wait);
  EXPECT_TRUE(is_open(told(now)->row.status));
}

TEST_F(CallOff, MarksTellPayloadsApart) {
  auto another = cancellation();
  another.key.purpose = Purpose{"addon"};
  const RequestId id{"one"};
  EXPECT_EQ(mark_of(cancellation(), id), mark_of(cancellation(), id));
  EXPECT_NE(mark_of(cancellation(), id).fingerprint, mark_of(another, id).fingerprint);
  EXPECT_NE(mark_of(verdict(Resolution::paid_outside, "a"), id).fingerprint,
            mark_of(verdict(Resolution::paid_outside, "b"), id).fingerprint);
  EXPECT_NE(mark_of(verdict(Resolution::paid_outside, "a"), id).fingerprint,
            mark_of(verdict(Resolution::paid_by_charge, "a"), id).fingerprint);
  EXPECT_NE(mark_of(new_method("pm_1"), id).fingerprint,
            mark_of(new_method("pm_2"), id).fingerprint);
}

// --- verdicts ---

TEST_F(CallOff, AVerdictClosesAChargeThatNoReadCanTell) {
  park_a_charge();
  const auto look = resolve(Resolution::written_off);
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::cancelled);
  EXPECT_EQ(reserved(), 4990);  // a word is no proof for the cap
}

TEST_F(CallOff, AVerdictIsOverruledByMoneyThatIsFound) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  (void)answer(observed(sent, Observation::broken));
  advance_time(std::chrono::hours{25});
  (void)answer(handled(resume()));
  ASSERT_EQ(status(), ObligationStatus::parked);
  (void)provider_.handle(*call_in(sent), Fate::ok, now_.wall);
  (void)answer(handled(resolve(Resolution::written_off)));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_FALSE(obligation().reason.empty());
}

TEST_F(CallOff, PaidByAChargeCompletesWithItOncePaymentByTheIntentIsRuledOut) {
  (void)answer(handled(confirm(), Fate::declined));
  const auto off = resolve(Resolution::paid_by_charge, "ch_77");
  ASSERT_EQ(operation_in(off), Operation::cancel_intent);
  (void)answer(handled(off));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().charge_id, "ch_77");
  EXPECT_EQ(provider_.open_intents(), 0);
  EXPECT_EQ(settled(), 4990);
}

TEST_F(CallOff, PaidOutsideCompletesWithoutACharge) {
  const Refusal refusal =
      CapRefused{bill().key.period, CustomerId{}, Money{100, bill().amount.currency}, 90, 4990};
  use_flow(Flow::charges);
  (void)decide_any(bill(), true, &refusal);
  ASSERT_EQ(status(), ObligationStatus::capped);
  const auto done = resolve(Resolution::paid_outside, "bank transfer 7");
  EXPECT_EQ(told(done)->row.status, ObligationStatus::completed);
  EXPECT_EQ(told(done)->row.charge_id, "");
  EXPECT_EQ(told(done)->row.reason, "paid_outside: bank transfer 7");
  EXPECT_EQ(event_in<OperatorResolved>(done)->who, "ann");
  EXPECT_EQ(settled(), 0);
}

TEST_F(CallOff, APaymentOfAnUncollectibleOrCancelledObligationIsRecorded) {
  for (const bool cancelled : {false, true}) {
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    (void)decide(bill(), false);
    if (cancelled) {
      (void)cancel();
    } else {
      add(BillingUncollectible{of(), now_.wall, "test"});
    }
    const auto no = resolve(Resolution::written_off);
    EXPECT_TRUE(std::holds_alternative<NotPossible>(*no.reply));
    const auto done = cancelled ? resolve(Resolution::paid_outside, "cash")
                                : resolve(Resolution::paid_by_charge, "ch_5");
    EXPECT_EQ(told(done)->row.status, ObligationStatus::completed);
    EXPECT_EQ(told(done)->row.charge_id, cancelled ? "" : "ch_5");
  }
}

TEST_F(CallOff, AVerdictThatStateOrPolicyForbidStoresNothing) {
  (void)answer(handled(confirm()));
  for (const auto r : {Resolution::paid_by_charge, Resolution::paid_outside,
                       Resolution::written_off, Resolution::not_charged}) {
    const auto no = resolve(r, "ref");
    EXPECT_TRUE(no.stores_nothing());
    EXPECT_TRUE(std::holds_alternative<NotPossible>(*no.reply)) << to_text(r);
  }
  state_ = entity_.initial(PersistenceId{"customer/cust_1"});
  (void)decide(bill(), false);
  EXPECT_TRUE(std::holds_alternative<NotPossible>(*resolve(Resolution::paid_outside).reply));
  EXPECT_TRUE(std::holds_alternative<NotPossible>(*resolve(Resolution::not_charged).reply));
}

// The provider does not know the intent: what an operator says about it stands.
TEST_F(CallOff, AnIntentThatCannotBeCancelledIsClosedByAVerdictOnly) {
  (void)answer(handled(confirm(), Fate::declined));
  (void)answer(observed(cancel(), Observation::not_found));
  ASSERT_EQ(status(), ObligationStatus::rejected);
  const auto done = resolve(Resolution::written_off);
  EXPECT_EQ(told(done)->row.status, ObligationStatus::cancelled);
}

TEST_F(CallOff, AMismatchIsClosedByAVerdict) {
  auto found = handled(answer(handled(confirm(), Fate::saved_500)));
  found.objects[0].amount_minor = 1;
  (void)answer(found);
  for (int reads = 2; reads <= 5; ++reads) {
    found.key = call_in(look_again())->key;
    (void)answer(found);
  }
  ASSERT_EQ(status(), ObligationStatus::parked);
  const auto again = resolve(Resolution::written_off);
  ASSERT_EQ(operation_in(again), Operation::get_intent);
  auto same = found;
  same.key = call_in(again)->key;
  (void)answer(same);
  EXPECT_EQ(status(), ObligationStatus::cancelled);
}

// --- billing again after an unknown ---

TEST_F(CallOff, AnUnknownChargeIsMadeAgainOnlyIfThePolicyAsksAndAnOperatorVouches) {
  park_a_charge();
  const auto no = resolve(Resolution::not_charged);
  ASSERT_TRUE(std::holds_alternative<NotPossible>(*no.reply));
  EXPECT_TRUE(no.stores_nothing());
  ask_before_rebilling();
  EXPECT_EQ(call_in(resume()), nullptr);  // never by itself
  const auto old_key = obligation().request->key;
  const auto look = resolve(Resolution::not_charged);
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  const auto again = answer(handled(look));
  ASSERT_EQ(operation_in(again), Operation::create_charge);
  EXPECT_NE(call_in(again)->key, old_key);
  EXPECT_EQ(obligation().generation, 1U);
  EXPECT_EQ(obligation().attempt, 1U);
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(CallOff, AChargeThatIsFoundAfterAllIsNotMadeAgain) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  (void)answer(observed(sent, Observation::broken));
  advance_time(std::chrono::hours{25});
  (void)answer(handled(resume()));
  ask_before_rebilling();
  (void)provider_.handle(*call_in(sent), Fate::ok, now_.wall);
  (void)answer(handled(resolve(Resolution::not_charged)));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(CallOff, OneWordAllowsOneChargeOnly) {
  park_a_charge();
  ask_before_rebilling();
  const auto again = answer(handled(resolve(Resolution::not_charged)));
  (void)answer(observed(again, Observation::broken));
  advance_time(std::chrono::hours{25});
  (void)run_for(std::chrono::hours{2}, resume(), Fate::ok);
  EXPECT_EQ(status(), ObligationStatus::parked);
}

// --- money that should not be there ---

TEST_F(CallOff, ASecondChargeOfACompletedObligationIsRecordedAndShown) {
  const auto sent = confirm();
  const auto paid = handled(sent);
  (void)answer(paid);
  auto second = paid;
  second.key = IdempotencyKey{"of-another-life"};
  second.objects[0].id = "pi_other";
  second.objects[0].charge = "ch_other";
  const auto alarmed = answer(second);
  const auto* found = event_in<UnexpectedPaymentFound>(alarmed);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->charge_id, "ch_other");
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(alarmed.rows.at(0).row.reason, "duplicate_payment ch_other");
  EXPECT_EQ(alarmed.rows.at(0).row.charge_id, paid.objects[0].charge);
  EXPECT_TRUE(answer(second).stores_nothing());  // once
  EXPECT_TRUE(answer(paid).stores_nothing());    // the first one is no second one
}

TEST_F(CallOff, MoneyForACancelledObligationCompletesItWithAnAlarm) {
  const auto sent = confirm();
  const auto paid = handled(sent);
  add(BillingCancelled{of(), now_.wall, "test"});
  (void)answer(paid);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "money_taken_late");
}

TEST_F(CallOff, MoneyBesideAPaymentOutsideIsASecondCharge) {
  const auto sent = confirm();
  const auto paid = handled(sent);
  add(OperatorResolved{of(), now_.wall, "paid_outside", "cash", "ann", "test", now_.wall});
  add(BillingPaidOutside{of(), now_.wall, "cash"});
  const auto alarmed = answer(paid);
  EXPECT_NE(event_in<UnexpectedPaymentFound>(alarmed), nullptr);
}

}  // namespace
}  // namespace onceward::billing
