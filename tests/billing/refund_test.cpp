// Refunds: each asked for once, numbered, under one key for ever, and never beyond what is left.
#include "tests/support/refund_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Fate;
using testing::Refunds;
using testing::value_of;

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
  const auto asked = ask(command());
  const auto* refused = reply_in<RefundRefused>(asked);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->kind, RefundRefused::Kind::not_charged);
  EXPECT_EQ(refused->refundable_minor, 0);
}

TEST_F(Refunds, MalformedOnesAreRefusedWithAReason) {
  complete();
  for (const std::int64_t minor : {0, -1}) {
    const auto asked = ask(command("r1", minor));
    const auto* refused = reply_in<Refused>(asked);
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
  (void)answer(handled(done));  // whether others gave something back
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

}  // namespace
}  // namespace onceward::billing
