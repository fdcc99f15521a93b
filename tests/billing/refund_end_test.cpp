// How refunds end that somebody else made, that take days, or that a person decides.
#include "tests/support/refund_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Fate;
using testing::Refunds;

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

TEST_F(Refunds, WhatOthersGaveBackCountsInWhatIsLeft) {
  complete();
  (void)provider_.refund_elsewhere(obligation().charge_id, 500, now_.wall);
  (void)answer(handled(hint_of_refund("evt_1")));
  EXPECT_EQ(refundable_minor(obligation()), 4490);
  const auto beyond = ask(command("r1", 4491));
  const auto* refused = std::get_if<RefundRefused>(&*beyond.reply);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->kind, RefundRefused::Kind::beyond_remainder);
  EXPECT_EQ(refused->refundable_minor, 4490);
  EXPECT_TRUE(beyond.stores_nothing());
  (void)answer(handled(ask(command("r2"))));
  EXPECT_EQ(refund().status, RefundStatus::succeeded);
  EXPECT_EQ(refund().amount.minor, 4490) << "all that is left";
  EXPECT_EQ(refundable_minor(obligation()), 0);
}

TEST_F(Refunds, ARefusedOneMakesTheRefundsOfOthersBeRead) {
  complete();
  (void)provider_.refund_elsewhere(obligation().charge_id, 500, now_.wall);
  const auto failed = answer(handled(ask(command()), Fate::invalid));
  EXPECT_EQ(refund().status, RefundStatus::failed);
  ASSERT_EQ(operation_in(failed), Operation::list_refunds);
  (void)answer(handled(failed));
  EXPECT_EQ(refundable_minor(obligation()), 4490);
}

// A refund beyond what others had left may be recorded already: that history stays readable.
TEST_F(Refunds, OneThatWasAskedForBeforeOthersWereSeenStaysInTheHistory) {
  complete();
  (void)provider_.refund_elsewhere(obligation().charge_id, 500, now_.wall);
  (void)ask(command());  // all of it
  EXPECT_EQ(refund().amount.minor, 4990);
  (void)answer(handled(hint_of_refund("evt_1")));
  EXPECT_EQ(refundable_minor(obligation()), 0);
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
