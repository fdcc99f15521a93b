// Refunds: each asked for once, numbered, under one key for ever, and never beyond what is left.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;
using testing::value_of;

class Refunds : public Entity {
 protected:
  void complete() {
    (void)answer(handled(answer(handled(Entity::decide(bill())))));
    ASSERT_EQ(status(), ObligationStatus::completed);
  }
  static RefundObligation command(const std::string& id = "r1",
                                  std::optional<std::int64_t> minor = std::nullopt) {
    RefundObligation c;
    c.key = bill().key;
    c.amount_minor = minor;
    c.mark = Mark{"refund", id, minor ? std::to_string(*minor) : "all", std::nullopt};
    c.who = "ann";
    c.why = "double plan";
    return c;
  }
  BillingEntity::Decided ask(const RefundObligation& c, bool permit = true,
                             const Refusal* refusal = nullptr) {
    return keep(entity_.decide(state_, BillingCommand{c}, context(permit, refusal)));
  }
  BillingEntity::Decided hint_of_refund(const std::string& event) {
    ProviderHint hint;
    hint.key = bill().key;
    hint.mark = Mark{"webhook", event, "f", std::nullopt};
    hint.type = "charge.refunded";
    hint.kind = HintedKind::charge;
    hint.object = obligation().charge_id;
    hint.charge = obligation().charge_id;
    return keep(entity_.decide(state_, BillingCommand{hint}, context()));
  }
  const RefundState& refund(std::size_t number = 1) const {
    return obligation().refunds.at(number - 1);
  }
  ObligationRow row() const { return row_of(CustomerId{"cust_1"}, of(), obligation()); }
  /// As the node's alarm clock does: by the row of the obligation.
  BillingEntity::Decided wake_by_row() {
    const auto at = row().next_action_at;
    EXPECT_TRUE(at.has_value()) << "nobody would wake it";
    if (at && now_.wall < *at) advance_time(std::chrono::milliseconds{at->ms - now_.wall.ms});
    return resume();
  }
  template <class R>
  static const R* reply_in(const BillingEntity::Decided& d) {
    return d.reply ? std::get_if<R>(&*d.reply) : nullptr;
  }
  std::int64_t given() const { return provider_.refunded(obligation().charge_id); }
};

TEST_F(Refunds, AFullOneIsSentUnderAKeyOfItsOwn) {
  complete();
  const auto sent = ask(command());
  const auto* request = call_in(sent);
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->operation, Operation::create_refund);
  EXPECT_EQ(request->key, idempotency_key(entity_.policy(), {bill().key, Step::refund, 1, 0}));
  EXPECT_EQ(value_of(request->params, "charge"), obligation().charge_id);
  EXPECT_EQ(value_of(request->params, "amount"), "4990");
  EXPECT_EQ(value_of(request->params, "metadata[onceward_period]"), "2026-08");
  EXPECT_EQ(value_of(request->params, "metadata[onceward_refund]"), "1");
  ASSERT_EQ(sent.marks.size(), 1U);
  EXPECT_EQ(sent.marks[0].key, "r1");
  ASSERT_NE(event_in<RequestStarted>(sent),
            nullptr);  // the mark, the wish and the send: one commit
  ASSERT_NE(event_in<RefundRequested>(sent), nullptr);
  EXPECT_TRUE(sent.wait);

  const auto done = answer(handled(sent));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(refund().refund_id, provider_.refunds().at(0).id);
  EXPECT_EQ(given(), 4990);
  ASSERT_EQ(done.refunds.size(), 1U);
  EXPECT_EQ(done.refunds[0], refund_row_of(bill().key, refund()));
  EXPECT_FALSE(row().next_action_at.has_value());
  const auto told = entity_.answer_waiter(state_, BillingCommand{command()});
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(std::get<RefundTold>(*told).refund.status, RefundStatus::succeeded);
}

TEST_F(Refunds, ARefundedPeriodStaysBilled) {
  complete();
  (void)answer(handled(ask(command())));
  const auto again = Entity::decide(bill());
  EXPECT_EQ(call_in(again), nullptr);
  EXPECT_TRUE(again.events.empty());
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Refunds, PartialOnesAreNumberedUpToWhatIsLeft) {
  complete();
  (void)answer(handled(ask(command("r1", 1000))));
  const auto second = ask(command("r2", 3000));
  EXPECT_NE(call_in(second)->key,
            idempotency_key(entity_.policy(), {bill().key, Step::refund, 1, 0}));
  (void)answer(handled(second));
  const auto beyond = ask(command("r3", 991));
  const auto* refused = reply_in<RefundRefused>(beyond);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->kind, RefundRefused::Kind::beyond_remainder);
  EXPECT_EQ(refused->refundable_minor, 990);
  EXPECT_TRUE(beyond.stores_nothing());
  (void)answer(handled(ask(command("r4"))));  // the rest
  EXPECT_EQ(refund(3).amount.minor, 990);
  EXPECT_EQ(given(), 4990);
  EXPECT_NE(reply_in<RefundRefused>(ask(command("r5"))), nullptr);
}

TEST_F(Refunds, OneWhoseOutcomeIsUnknownCountsAsGiven) {
  complete();
  (void)answer(observed(ask(command("r1", 4000)), Observation::broken));
  EXPECT_EQ(refund().status, RefundStatus::unknown);
  const auto second = ask(command("r2", 1000));
  ASSERT_NE(reply_in<RefundRefused>(second), nullptr);
  EXPECT_EQ(reply_in<RefundRefused>(second)->refundable_minor, 990);
}

TEST_F(Refunds, ARepeatOfTheRequestIdGetsTheSameRefund) {
  complete();
  const auto sent = ask(command());
  auto again = command();
  again.notify = Notify::accepted;
  const auto repeated = ask(again);
  EXPECT_TRUE(repeated.stores_nothing());
  EXPECT_EQ(call_in(repeated), nullptr);
  ASSERT_NE(reply_in<RefundTold>(repeated), nullptr);
  EXPECT_TRUE(reply_in<RefundTold>(repeated)->replayed);
  EXPECT_TRUE(ask(command()).wait);
  (void)answer(handled(sent));
  EXPECT_EQ(reply_in<RefundTold>(ask(command()))->refund.status, RefundStatus::succeeded);
  EXPECT_EQ(provider_.refunds().size(), 1U);
}

TEST_F(Refunds, ARequestIdWithAnotherContentIsRefused) {
  complete();
  (void)answer(handled(ask(command("r1", 100))));
  EXPECT_NE(reply_in<CallerKeyReused>(ask(command("r1", 200))), nullptr);
  EXPECT_NE(reply_in<CallerKeyReused>(ask(command("r1"))), nullptr);
  // Used for something else: the store refuses the mark.
  const Refusal refusal = MarkRefused{Mark{"refund", "r2", "other", std::nullopt}};
  const auto refused = ask(command("r2", 100), true, &refusal);
  EXPECT_NE(reply_in<CallerKeyReused>(refused), nullptr);
  EXPECT_TRUE(refused.stores_nothing());
  EXPECT_EQ(obligation().refunds.size(), 1U);
}

TEST_F(Refunds, OfWhatWasNotChargedAreRefused) {
  EXPECT_NE(reply_in<NoSuchObligation>(ask(command())), nullptr);
  (void)Entity::decide(bill());
  const auto* refused = reply_in<RefundRefused>(ask(command()));
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->kind, RefundRefused::Kind::not_charged);
  EXPECT_EQ(refused->refundable_minor, 0);
}

TEST_F(Refunds, MalformedOnesAreRefusedWithAReason) {
  complete();
  for (const std::int64_t minor : {0, -1}) {
    const auto* refused = reply_in<Refused>(ask(command("r1", minor)));
    ASSERT_NE(refused, nullptr);
    EXPECT_NE(refused->detail.find("above 0"), std::string::npos);
  }
  EXPECT_NE(reply_in<Refused>(ask(command(""))), nullptr);
}

TEST_F(Refunds, WithoutAPermitItIsRecordedAndSentLater) {
  complete();
  const auto asked = ask(command(), false);
  EXPECT_TRUE(asked.wants_permit);
  EXPECT_EQ(call_in(asked), nullptr);
  ASSERT_EQ(obligation().refunds.size(), 1U);
  EXPECT_EQ(operation_in(resume()), Operation::create_refund);
}

// --- lost answers ---

TEST_F(Refunds, ALostAnswerIsAskedForAgainUnderTheSameKey) {
  complete();
  const auto sent = ask(command());
  (void)answer(handled(sent, Fate::lost_after));
  EXPECT_EQ(refund().status, RefundStatus::unknown);
  EXPECT_EQ(row().next_action_at, refund().next_action_at);
  const auto again = wake_by_row();
  ASSERT_EQ(operation_in(again), Operation::create_refund);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
  EXPECT_EQ(call_in(again)->params, call_in(sent)->params);
  (void)answer(handled(again));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(given(), 4990);
}

TEST_F(Refunds, AfterTheKeysLifeItIsLookedUpAndAdopted) {
  complete();
  const auto sent = ask(command("r1", 1000));
  (void)handled(sent);
  advance_time(std::chrono::hours{25});  // the answer was lost with its process
  const auto look = resume();
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  EXPECT_EQ(value_of(call_in(look)->params, "charge"), obligation().charge_id);
  (void)answer(handled(look));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(given(), 1000);
}

TEST_F(Refunds, AfterTheKeysLifeAbsenceIsNoProofAndAPersonDecides) {
  complete();
  (void)ask(command("r1", 1000));  // never arrived
  advance_time(std::chrono::hours{25});
  auto next = resume();
  while (call_in(next) != nullptr || refund().next_action_at) {
    if (call_in(next) == nullptr) {
      next = wake_by_row();
      continue;
    }
    ASSERT_TRUE(is_look_up(call_in(next)->operation));
    next = answer(handled(next));
  }
  EXPECT_EQ(refund().status, RefundStatus::parked);
  EXPECT_EQ(refund().reason, "outcome_unknown");
  EXPECT_EQ(given(), 0);
}

TEST_F(Refunds, ASavedErrorIsLookedUpAtOnce) {
  complete();
  const auto look = answer(handled(ask(command()), Fate::saved_500));
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  (void)answer(handled(look));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
}

TEST_F(Refunds, AnAnswerThatNamesAnotherAmountIsNotBelieved) {
  complete();
  auto sent = ask(command("r1", 1000));
  auto wrong = handled(sent);
  wrong.objects.at(0).amount_minor = 100;
  (void)answer(wrong);
  EXPECT_EQ(refund().status, RefundStatus::unknown);
  EXPECT_EQ(refund().reason, "mismatch");
}

TEST_F(Refunds, ALimitLetsTheSameKeyGoOutAgainUntainted) {
  complete();
  const auto sent = ask(command());
  (void)answer(handled(sent, Fate::limited));
  EXPECT_EQ(refund().status, RefundStatus::in_progress);
  EXPECT_FALSE(refund().request->tainted);
  const auto again = wake_by_row();
  ASSERT_EQ(operation_in(again), Operation::create_refund);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
}

// A read for another reason must not make a refund that certainly was not executed look unknown.
TEST_F(Refunds, AListDoesNotTaintARefundThatWasNotExecuted) {
  complete();
  (void)answer(handled(ask(command()), Fate::limited));
  const auto look = hint_of_refund("evt_1");
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  (void)answer(handled(look));
  EXPECT_EQ(refund().status, RefundStatus::in_progress);
  EXPECT_FALSE(refund().request->tainted);
}

TEST_F(Refunds, OneThatIsRefusedForGoodHasFailedAndFreesItsAmount) {
  complete();
  const auto done = answer(handled(ask(command()), Fate::invalid));
  EXPECT_EQ(refund().status, RefundStatus::failed);
  EXPECT_EQ(refund().reason, "invalid_request");
  EXPECT_EQ(refundable_minor(obligation()), 4990);
  ASSERT_EQ(done.refunds.size(), 1U);
  EXPECT_EQ(done.refunds[0].status, RefundStatus::failed);
  (void)answer(handled(ask(command("r2"))));
  EXPECT_EQ(refund(2).status, RefundStatus::succeeded);
}

// The refusal may answer a later send than the one that was executed.
TEST_F(Refunds, ARefusalAfterALostAnswerIsNoProof) {
  complete();
  (void)answer(handled(ask(command()), Fate::lost_after));
  (void)answer(observed(wake_by_row(), Observation::invalid_request));
  EXPECT_EQ(refund().status, RefundStatus::unknown);
}

// --- given back by somebody else ---

TEST_F(Refunds, GivenBackOutsideIsAdoptedIfItIsTheOnlyOneAlike) {
  complete();
  const auto outside = provider_.refund_elsewhere(obligation().charge_id, 4990, now_.wall);
  const auto look = answer(handled(ask(command())));
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  (void)answer(handled(look));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(refund().refund_id, outside.id);
  EXPECT_EQ(refund().reason, "adopted_from_outside");
  EXPECT_EQ(given(), 4990);
}

TEST_F(Refunds, GivenBackOutsideInPartsIsForAPerson) {
  complete();
  (void)provider_.refund_elsewhere(obligation().charge_id, 2495, now_.wall);
  (void)provider_.refund_elsewhere(obligation().charge_id, 2495, now_.wall);
  (void)answer(handled(answer(handled(ask(command("r1", 2495))))));
  EXPECT_EQ(refund().status, RefundStatus::parked);
  EXPECT_EQ(refund().reason, "already_refunded");
  EXPECT_FALSE(row().next_action_at.has_value());
  EXPECT_EQ(given(), 4990);
}

TEST_F(Refunds, OurOwnEarlierSendIsNotTakenForSomebodyElses) {
  complete();
  const auto sent = ask(command());
  (void)answer(handled(sent, Fate::lost_after));
  auto refused = observed(wake_by_row(), Observation::invalid_request);
  refused.code = "charge_already_refunded";
  const auto look = answer(refused);
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  (void)answer(handled(look));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(refund().reason, "");
}

TEST_F(Refunds, AnOutsideRefundThatAHintTellsOfIsRecorded) {
  complete();
  const auto outside = provider_.refund_elsewhere(obligation().charge_id, 500, now_.wall);
  const auto found = answer(handled(hint_of_refund("evt_1")));
  ASSERT_NE(event_in<OutsideRefundFound>(found), nullptr);
  EXPECT_EQ(event_in<OutsideRefundFound>(found)->refund_id, outside.id);
  const auto twin = answer(handled(hint_of_refund("evt_2")));
  EXPECT_EQ(event_in<OutsideRefundFound>(twin), nullptr);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_FALSE(row().next_action_at.has_value());
}

// --- refunds that take days ---

TEST_F(Refunds, APendingOneIsPolledUntilItEnds) {
  complete();
  (void)answer(handled(ask(command()), Fate::processing));
  EXPECT_EQ(refund().status, RefundStatus::pending);
  EXPECT_EQ(refundable_minor(obligation()), 0);
  const auto look = wake_by_row();
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  (void)answer(handled(look));
  EXPECT_EQ(refund().status, RefundStatus::pending);
  provider_.finish_refunds("succeeded");
  (void)answer(handled(wake_by_row()));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
}

TEST_F(Refunds, OneThatFailsAfterItSucceededFreesItsAmount) {
  complete();
  (void)answer(handled(ask(command()), Fate::processing));
  auto listed = observed(wake_by_row(), Observation::object);
  listed.objects = provider_.refunds();
  listed.objects.at(0).status = "succeeded";
  (void)answer(listed);
  ASSERT_EQ(refund().status, RefundStatus::succeeded);
  provider_.finish_refunds("failed");
  (void)answer(handled(hint_of_refund("evt_1")));
  EXPECT_EQ(refund().status, RefundStatus::failed);
  EXPECT_EQ(refundable_minor(obligation()), 4990);
}

TEST_F(Refunds, AParkedOneEndsWhenItsMoneyIsFound) {
  complete();
  const auto sent = ask(command());
  (void)handled(sent);
  add(RefundParked{of(), now_.wall, 1, "test"});
  (void)answer(handled(hint_of_refund("evt_1")));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
}

TEST_F(Refunds, AReadThatFailsIsRepeatedLater) {
  complete();
  (void)provider_.refund_elsewhere(obligation().charge_id, 500, now_.wall);
  (void)answer(handled(hint_of_refund("evt_1"), Fate::failed_500));
  ASSERT_TRUE(row().next_action_at.has_value());
  EXPECT_EQ(*row().next_action_at, now_.wall.plus(std::chrono::minutes{10}));
  const auto found = answer(handled(wake_by_row()));
  EXPECT_NE(event_in<OutsideRefundFound>(found), nullptr);
}

// --- an operator's steps ---

class ParkedRefund : public Refunds {
 protected:
  void SetUp() override {
    complete();
    (void)ask(command("r1", 1000));
    add(RefundParked{of(), now_.wall, 1, "test"});
  }
  BillingEntity::Decided resolve(ResolveRefund::Verdict verdict, const std::string& refund_id = "",
                                 const Refusal* refusal = nullptr) {
    ResolveRefund c;
    c.key = bill().key;
    c.verdict = verdict;
    c.refund_id = refund_id;
    c.who = "ann";
    c.why = "seen at the bank";
    c.mark = mark_of(c, RequestId{"op-1"});
    return keep(entity_.decide(state_, BillingCommand{c}, context(true, refusal)));
  }
};

TEST_F(ParkedRefund, IsLookedAtAgainOnRequestAndNeverSentBlindly) {
  const auto look = resolve(ResolveRefund::Verdict::look_again);
  ASSERT_EQ(operation_in(look), Operation::list_refunds);
  EXPECT_EQ(look.marks.size(), 1U);
  const auto done = answer(handled(look));
  EXPECT_EQ(call_in(done), nullptr);
  EXPECT_EQ(refund().status, RefundStatus::parked);
}

TEST_F(ParkedRefund, EndsByAPersonsVerdict) {
  (void)resolve(ResolveRefund::Verdict::given, "re_77");
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(refund().refund_id, "re_77");
  EXPECT_EQ(refund().reason, "given by ann: seen at the bank");
  EXPECT_NE(reply_in<NotPossible>(resolve(ResolveRefund::Verdict::not_given)), nullptr);
}

TEST_F(ParkedRefund, ThatWasNotGivenFreesItsAmount) {
  (void)resolve(ResolveRefund::Verdict::not_given);
  EXPECT_EQ(refund().status, RefundStatus::failed);
  EXPECT_EQ(refundable_minor(obligation()), 4990);
}

TEST_F(ParkedRefund, NeedsTheIdOfWhatGaveTheMoneyBack) {
  const auto refused = resolve(ResolveRefund::Verdict::given);
  EXPECT_NE(reply_in<Refused>(refused), nullptr);
  EXPECT_TRUE(refused.stores_nothing());
}

TEST_F(ParkedRefund, ARepeatedVerdictHasNoSecondEffect) {
  ResolveRefund same;
  same.key = bill().key;
  same.verdict = ResolveRefund::Verdict::given;
  same.refund_id = "re_77";
  const Refusal refusal = MarkRefused{mark_of(same, RequestId{"op-1"})};
  const auto again = resolve(ResolveRefund::Verdict::given, "re_77", &refusal);
  EXPECT_TRUE(again.stores_nothing());
  EXPECT_TRUE(reply_in<RefundTold>(again)->replayed);
  const auto other = resolve(ResolveRefund::Verdict::not_given, "", &refusal);
  EXPECT_NE(reply_in<CallerKeyReused>(other), nullptr);
}

TEST_F(Refunds, AVerdictOnOneThatIsStillBeingResolvedIsRefused) {
  complete();
  (void)answer(observed(ask(command()), Observation::broken));
  ResolveRefund c;
  c.key = bill().key;
  c.verdict = ResolveRefund::Verdict::not_given;
  c.who = "ann";
  c.why = "impatient";
  c.mark = mark_of(c, RequestId{"op-1"});
  const auto refused = keep(entity_.decide(state_, BillingCommand{c}, context()));
  EXPECT_NE(reply_in<NotPossible>(refused), nullptr);
  EXPECT_EQ(refund().status, RefundStatus::unknown);
}

}  // namespace
}  // namespace onceward::billing
