// Hints: never believed, stored with their mark, and never the only road. What they name is read.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class Hints : public Entity {
 protected:
  BillingEntity::Decided created() { return answer(handled(Entity::decide(bill()))); }
  void complete() {
    (void)answer(handled(created()));
    ASSERT_EQ(status(), ObligationStatus::completed);
  }
  static ProviderHint hint_of(const std::string& event, const std::string& type,
                              const std::string& intent) {
    ProviderHint hint;
    hint.key = bill().key;
    hint.mark = Mark{"webhook", event, "f", std::nullopt};
    hint.type = type;
    hint.object = intent;
    hint.intent = intent;
    return hint;
  }
  BillingEntity::Decided take(const ProviderHint& hint, bool permit = true,
                              const Refusal* refusal = nullptr) {
    return keep(entity_.decide(state_, BillingCommand{hint}, context(permit, refusal)));
  }
  BillingEntity::Decided hint_of_own(const std::string& event = "evt_1") {
    return take(hint_of(event, "payment_intent.succeeded", obligation().intent));
  }
  /// Somebody else takes the money and the provider tells.
  ProviderObject paid_elsewhere(std::int64_t minor = 4990) {
    return provider_.pay_elsewhere(obligation_metadata_of(), minor, now_.wall);
  }
  BillingEntity::Decided hint_of_other(const ProviderObject& intent,
                                       const std::string& event = "evt_9", bool permit = true) {
    return take(hint_of(event, "payment_intent.succeeded", intent.id), permit);
  }
  ObligationRow row() const { return row_of(CustomerId{"cust_1"}, of(), obligation()); }
  int sends(Operation operation) const {
    int count = 0;
    for (const auto& sent : provider_.wire()) count += sent.operation == operation ? 1 : 0;
    return count;
  }
  void expect_nothing(const BillingEntity::Decided& d) {
    EXPECT_TRUE(d.events.empty());
    EXPECT_EQ(call_in(d), nullptr);
  }
};

TEST_F(Hints, MarkAndWhatItMakesOwedAreOneDecision) {
  (void)answer(handled(created(), Fate::processing));
  const auto taken = hint_of_own();
  ASSERT_EQ(taken.marks.size(), 1U);
  EXPECT_EQ(taken.marks[0].key, "evt_1");
  ASSERT_NE(event_in<LookUpOwed>(taken), nullptr);
  EXPECT_EQ(event_in<LookUpOwed>(taken)->next_action_at, now_.wall);
  EXPECT_EQ(event_in<LookUpOwed>(taken)->cause, "webhook payment_intent.succeeded evt_1");
  ASSERT_EQ(taken.rows.size(), 1U);
  EXPECT_EQ(taken.rows[0].row.next_action_at, now_.wall);
  EXPECT_EQ(operation_in(taken), Operation::get_intent);
  ASSERT_TRUE(taken.reply.has_value());
  EXPECT_FALSE(std::get<HintTaken>(*taken.reply).duplicate);
  // It said "succeeded" and that was not true yet: nothing is believed.
  (void)answer(handled(taken));
  EXPECT_EQ(status(), ObligationStatus::processing);
  provider_.finish_processing(true);
  (void)answer(handled(hint_of_own("evt_2")));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(Hints, TheSameMarkAgainStoresNothing) {
  (void)created();
  const Refusal refusal = MarkRefused{Mark{"webhook", "evt_1", "f", std::nullopt}};
  const auto again =
      take(hint_of("evt_1", "payment_intent.succeeded", obligation().intent), true, &refusal);
  EXPECT_TRUE(again.stores_nothing());
  EXPECT_EQ(call_in(again), nullptr);
  EXPECT_TRUE(std::get<HintTaken>(*again.reply).duplicate);
}

TEST_F(Hints, ATwinUnderAnotherIdHasNoSecondEffect) {
  (void)answer(handled(created(), Fate::processing));
  provider_.finish_processing(true);
  const auto first = hint_of_own("evt_1");
  (void)hint_of_own("evt_2");
  (void)answer(handled(first));
  ASSERT_EQ(status(), ObligationStatus::completed);
  const auto before = obligation();
  expect_nothing(hint_of_own("evt_3"));
  expect_nothing(resume());
  EXPECT_EQ(obligation(), before);
}

TEST_F(Hints, OfNoObligationStoreNothing) {
  const auto taken = take(hint_of("evt_1", "payment_intent.succeeded", "pi_9"));
  EXPECT_TRUE(taken.stores_nothing());  // not the mark either: the inbox stores it
  EXPECT_TRUE(std::holds_alternative<NoSuchObligation>(*taken.reply));
}

TEST_F(Hints, MalformedOnesAreRefused) {
  (void)created();
  for (auto change : std::vector<void (*)(ProviderHint&)>{
           [](ProviderHint& h) { h.mark.key.clear(); }, [](ProviderHint& h) { h.type.clear(); },
           [](ProviderHint& h) { h.type = "a b"; }, [](ProviderHint& h) { h.object.clear(); },
           [](ProviderHint& h) { h.object.assign(129, 'x'); },
           [](ProviderHint& h) { h.charge = "ch\n"; }}) {
    auto hint = hint_of("evt_1", "payment_intent.succeeded", "pi_9");
    change(hint);
    const auto taken = take(hint);
    EXPECT_TRUE(taken.stores_nothing());
    EXPECT_TRUE(std::holds_alternative<Refused>(*taken.reply));
  }
}

// A late "failed" must not undo a success, whatever the order of arrival.
TEST_F(Hints, NeverMoveATerminalStateBack) {
  complete();
  const auto before = row();
  for (const char* type : {"payment_intent.payment_failed", "payment_intent.processing",
                           "payment_intent.canceled", "payment_intent.created"}) {
    const auto taken = take(hint_of(std::string("evt_") + type, type, obligation().intent));
    EXPECT_EQ(taken.marks.size(), 1U);
    expect_nothing(taken);
  }
  EXPECT_EQ(row(), before);
}

TEST_F(Hints, ASuccessForAClosedObligationCompletesItWithAnAlarm) {
  (void)Entity::decide(bill(0));
  ASSERT_EQ(status(), ObligationStatus::waived);
  const auto other = paid_elsewhere(0);
  const auto taken = hint_of_other(other);
  ASSERT_EQ(operation_in(taken), Operation::get_intent);
  EXPECT_EQ(call_in(taken)->target, other.id);
  (void)answer(handled(taken));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().charge_id, other.charge);
  EXPECT_EQ(row().reason, "money_taken_late");
}

TEST_F(Hints, ThatTheCustomerActedCompletesOnTheSameIntent) {
  (void)answer(handled(created(), Fate::requires_action));
  ASSERT_EQ(status(), ObligationStatus::action_required);
  advance_time(std::chrono::hours{2});
  provider_.finish_processing(true);
  (void)answer(handled(hint_of_own()));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(sends(Operation::create_intent), 1);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Hints, ThatItFailedAfterDaysIsADeclineLikeAnyOther) {
  (void)answer(handled(created(), Fate::processing));
  advance_time(std::chrono::hours{48});
  provider_.finish_processing(false);
  (void)answer(handled(hint_of_own()));
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_TRUE(row().next_attempt_at.has_value());
}

// --- money by another road ---

TEST_F(Hints, PaidElsewhereBeforeTheFirstSendIsAdoptedAndNothingIsSent) {
  (void)Entity::decide(bill(), false);  // recorded, no permit yet
  const auto other = paid_elsewhere();
  const auto taken = hint_of_other(other);
  EXPECT_EQ(operation_in(taken), Operation::get_intent);
  const auto done = answer(handled(taken));
  EXPECT_EQ(call_in(done), nullptr);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().charge_id, other.charge);
  EXPECT_EQ(row().reason, "paid_by_another_road");
  EXPECT_TRUE(provider_.wire().empty());
}

TEST_F(Hints, NothingIsSentWhileAHintedPaymentIsStillToBeRead) {
  (void)Entity::decide(bill(), false);
  const auto other = paid_elsewhere();
  (void)hint_of_other(other, "evt_9", false);
  const auto first = resume();
  ASSERT_EQ(operation_in(first), Operation::get_intent);
  EXPECT_EQ(call_in(first)->target, other.id);
  (void)answer(observed(first, Observation::broken));
  expect_nothing(resume());  // the read is owed again later; no send overtakes it
  EXPECT_TRUE(provider_.wire().empty());
}

TEST_F(Hints, PaidElsewhereBeforeTheConfirmIsAdopted) {
  (void)answer(handled(Entity::decide(bill())), false);  // the intent exists, no permit for more
  const auto other = paid_elsewhere();
  (void)answer(handled(hint_of_other(other)));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(row().reason, "paid_by_another_road");
  EXPECT_EQ(sends(Operation::confirm_intent), 0);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Hints, PaidElsewhereWhileOursMayHaveMovedRaisesTheAlarmAndIsChecked) {
  const auto confirm = created();
  (void)answer(observed(confirm, Observation::broken));
  const auto other = paid_elsewhere();
  (void)answer(handled(hint_of_other(other)));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(row().reason, "duplicate_payment_possible");
  ASSERT_TRUE(row().next_action_at.has_value());
  // Ours arrived after all; the check sees it, and a person is told which one is too much.
  (void)handled(confirm);
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  EXPECT_NE(call_in(look)->target, other.id);
  const auto found = answer(handled(look));
  ASSERT_NE(event_in<UnexpectedPaymentFound>(found), nullptr);
  EXPECT_EQ(row().reason, "duplicate_payment " + provider_.ledger().at(1).charge);
  EXPECT_EQ(obligation().charge_id, other.charge);
  EXPECT_FALSE(row().next_action_at.has_value());
}

TEST_F(Hints, OursThatDidNotMoveIsCheckedAndNotSentAgain) {
  const auto confirm = created();
  (void)answer(observed(confirm, Observation::broken));
  (void)answer(handled(hint_of_other(paid_elsewhere())));
  (void)answer(handled(wake()));
  EXPECT_FALSE(row().next_action_at.has_value());
  EXPECT_EQ(sends(Operation::confirm_intent), 0);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Hints, ALateAnswerOfOursAfterAnotherPaymentIsADuplicate) {
  const auto confirm = created();
  const auto paid = handled(confirm);
  (void)answer(handled(hint_of_other(paid_elsewhere())));
  const auto late = answer(paid);
  ASSERT_NE(event_in<UnexpectedPaymentFound>(late), nullptr);
  expect_nothing(answer(paid));  // once
}

// The webhook overtakes the answer of the very request that made the object.
TEST_F(Hints, OfTheChargeThatOurRequestIsMakingRaiseNoAlarm) {
  use_flow(Flow::payment_intents_one_step);
  const auto sent = Entity::decide(bill());
  const auto reply = handled(sent);
  ASSERT_EQ(reply.objects.size(), 1U);
  auto read = observed(hint_of_other(reply.objects[0]), Observation::object);
  read.objects = reply.objects;
  (void)answer(read);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(row().reason, "");
  expect_nothing(answer(reply));
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Hints, ASecondPaymentOfACompletedObligationIsADuplicateOnce) {
  complete();
  const std::string charge = obligation().charge_id;
  const auto other = paid_elsewhere();
  const auto found = answer(handled(hint_of_other(other)));
  ASSERT_NE(event_in<UnexpectedPaymentFound>(found), nullptr);
  EXPECT_EQ(event_in<UnexpectedPaymentFound>(found)->charge_id, other.charge);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().charge_id, charge);
  EXPECT_EQ(row().reason, "duplicate_payment " + other.charge);
  const auto twin = answer(handled(hint_of_other(other, "evt_10")));
  EXPECT_EQ(event_in<UnexpectedPaymentFound>(twin), nullptr);
  EXPECT_FALSE(row().next_action_at.has_value());
}

TEST_F(Hints, APaymentOfAnotherAmountIsForAPerson) {
  (void)Entity::decide(bill(), false);
  auto odd = handled(hint_of_other(paid_elsewhere(1)));
  // One read may be wrong: it takes five.
  for (int reads = 1; reads <= 5; ++reads) {
    EXPECT_NE(status(), ObligationStatus::parked) << reads;
    const auto next = answer(odd);
    if (reads == 5) break;
    EXPECT_EQ(event_in<UnexpectedPaymentFound>(next), nullptr);
    advance_time(std::chrono::minutes{10});
    odd = handled(resume());
  }
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_EQ(row().reason, "mismatch");
}

TEST_F(Hints, AnUnpaidObjectBesideOursChangesNothing) {
  const auto confirm = created();
  auto other = paid_elsewhere();
  for (const char* unpaid : {"requires_payment_method", "requires_confirmation", "canceled",
                             "processing", "a_new_word"}) {
    auto read = observed(hint_of_other(other, unpaid), Observation::object);
    other.status = unpaid;
    read.objects = {other};
    const auto done = answer(read, false);
    EXPECT_NE(event_in<HintedObjectRead>(done), nullptr);
    EXPECT_EQ(done.events.size(), 1U);
    EXPECT_EQ(status(), ObligationStatus::in_progress);
  }
  EXPECT_EQ(sends(Operation::confirm_intent), 0);  // a hint starts no money
  (void)answer(handled(confirm));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(row().reason, "");
}

TEST_F(Hints, OfAnObjectThatIsNotOursChangeNothing) {
  (void)created();
  auto other = paid_elsewhere();
  auto read = observed(hint_of_other(other), Observation::object);
  other.metadata.clear();
  read.objects = {other};
  const auto done = answer(read);
  ASSERT_NE(event_in<HintedObjectRead>(done), nullptr);
  EXPECT_EQ(event_in<HintedObjectRead>(done)->found, "not_ours");
  EXPECT_EQ(status(), ObligationStatus::in_progress);
}

// The create's answer is lost, a webhook names its intent, the same key brings the same intent.
TEST_F(Hints, OfAnIntentWhoseCreationWasLostLeaveOneIntent) {
  const auto create = Entity::decide(bill());
  const auto made = handled(create, Fate::ok);
  (void)answer(observed(create, Observation::broken));
  const auto taken = take(hint_of("evt_1", "payment_intent.created", made.objects.at(0).id));
  (void)answer(handled(taken));
  const auto again = wake();
  ASSERT_EQ(operation_in(again), Operation::create_intent);
  const auto confirm = answer(handled(again));
  EXPECT_EQ(obligation().intent, made.objects.at(0).id);
  (void)answer(handled(confirm));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Hints, AnObjectThatCannotBeReadHoldsNothingBackForEver) {
  (void)Entity::decide(bill(), false);
  auto next = hint_of_other(paid_elsewhere());
  int reads = 0;
  while (operation_in(next) != Operation::create_intent && reads < 20) {
    if (call_in(next) == nullptr) {
      const auto at = row().next_action_at;
      ASSERT_TRUE(at.has_value());
      if (now_.wall < *at) advance_time(std::chrono::milliseconds{at->ms - now_.wall.ms});
      next = resume();
      // The row of an obligation that a hint holds back is due at once; the hint's time counts.
      if (call_in(next) == nullptr) advance_time(std::chrono::minutes{1});
      continue;
    }
    ++reads;
    next = answer(observed(next, Observation::server_error));
  }
  EXPECT_EQ(reads, 3);
  EXPECT_EQ(operation_in(next), Operation::create_intent);
  EXPECT_EQ(obligation().hinted.size(), 1U);  // still owed
}

TEST_F(Hints, AnObjectThatDoesNotExistIsForgotten) {
  (void)created();
  const auto done = answer(handled(take(hint_of("evt_1", "payment_intent.succeeded", "pi_99"))));
  ASSERT_NE(event_in<HintedObjectRead>(done), nullptr);
  EXPECT_EQ(event_in<HintedObjectRead>(done)->found, "not_found");
  EXPECT_TRUE(obligation().hinted.empty());
}

TEST_F(Hints, OfADisputeAreRecordedAndShownAndNothingIsDone) {
  complete();
  ProviderHint hint = hint_of("evt_1", "charge.dispute.created", "");
  hint.kind = HintedKind::dispute;
  hint.object = "dp_1";
  hint.charge = obligation().charge_id;
  const auto taken = take(hint);
  ASSERT_NE(event_in<DisputeRecorded>(taken), nullptr);
  EXPECT_EQ(call_in(taken), nullptr);
  EXPECT_EQ(taken.marks.size(), 1U);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(row().reason, "disputed dp_1 (charge.dispute.created)");
  EXPECT_EQ(taken.rows.at(0).row.reason, row().reason);
  hint.mark.key = "evt_2";
  hint.type = "charge.dispute.closed";
  (void)take(hint);
  EXPECT_EQ(row().reason, "disputed dp_1 (charge.dispute.closed)");
}

TEST_F(Hints, AnAlarmStaysUntilAPersonHasDealtWithIt) {
  complete();
  (void)answer(handled(hint_of_other(paid_elsewhere())));
  AcknowledgeAlarm seen;
  seen.key = bill().key;
  seen.who = "ann";
  seen.mark = mark_of(seen, RequestId{"op-1"});
  const auto acknowledge = [&] {
    return keep(entity_.decide(state_, BillingCommand{seen}, context()));
  };
  EXPECT_TRUE(std::holds_alternative<Refused>(*acknowledge().reply));  // no reason given
  seen.why = "paid back by hand";
  const auto done = acknowledge();
  EXPECT_EQ(done.marks.size(), 1U);
  EXPECT_EQ(row().reason, "");
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_TRUE(std::holds_alternative<NotPossible>(*acknowledge().reply));
}

}  // namespace
}  // namespace onceward::billing
