// Single decisions of a customer's entity: guards, freezing, conflicts, caps, declines, waivers.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;

TEST_F(Entity, InitiatesAndStartsTheFirstRequestInOneCommit) {
  const auto d = decide(bill());
  ASSERT_EQ(d.events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<BillingInitiated>(d.events[0]));
  EXPECT_TRUE(std::holds_alternative<RequestStarted>(d.events[1]));
  ASSERT_EQ(d.rows.size(), 1U);
  EXPECT_EQ(d.rows[0].kind, RowWrite::Kind::claim);
  EXPECT_TRUE(d.rows[0].row.next_action_at.has_value());
  EXPECT_NE(call_in(d), nullptr);
  EXPECT_FALSE(d.reply.has_value());
  EXPECT_TRUE(d.wait);
}

TEST_F(Entity, WithoutPermitOnlyTheIntentionIsRecorded) {
  const auto d = decide(bill(), false);
  ASSERT_EQ(d.events.size(), 1U);
  EXPECT_EQ(call_in(d), nullptr);
  EXPECT_TRUE(d.wants_permit);
  const auto granted = resume();
  EXPECT_NE(call_in(granted), nullptr);
}

TEST_F(Entity, RefusesASecondBillWhileOneIsInProgress) {
  (void)decide(bill());
  auto again = bill();
  again.request_id = RequestId{"r2"};
  again.notify = Notify::accepted;
  const auto d = decide(again);
  EXPECT_TRUE(d.events.empty());
  EXPECT_EQ(call_in(d), nullptr);
  ASSERT_TRUE(d.reply.has_value());
  const auto& told = std::get<Told>(*d.reply);
  EXPECT_EQ(told.row.status, ObligationStatus::in_progress);
  EXPECT_TRUE(told.deduplicated);
}

TEST_F(Entity, AnswersABilledPeriodForEver) {
  const auto confirm = answer(handled(decide(bill())));
  (void)answer(handled(confirm));
  ASSERT_EQ(status(), ObligationStatus::completed);
  advance_time(std::chrono::hours{24 * 365});
  const auto d = decide(bill());
  EXPECT_TRUE(d.stores_nothing());
  EXPECT_EQ(std::get<Told>(*d.reply).row.status, ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Entity, CreateAndChargeCarryTheMetadataAndConfirmCarriesNone) {
  const auto create = decide(bill());
  const auto& params = call_in(create)->params;
  EXPECT_EQ(testing::value_of(params, "metadata[onceward_namespace]"), "acme-billing");
  EXPECT_EQ(testing::value_of(params, "metadata[onceward_customer]"), "cust_1");
  EXPECT_EQ(testing::value_of(params, "metadata[onceward_period]"), "2026-08");
  EXPECT_EQ(testing::value_of(params, "metadata[onceward_purpose]"), "subscription");
  EXPECT_EQ(testing::value_of(params, "off_session"), "");
  const auto confirm = answer(handled(create));
  ASSERT_NE(call_in(confirm), nullptr);
  EXPECT_EQ(call_in(confirm)->operation, Operation::confirm_intent);
  EXPECT_EQ(testing::value_of(call_in(confirm)->params, "off_session"), "true");
  for (const auto& [name, value] : call_in(confirm)->params) {
    EXPECT_EQ(name.find("metadata"), std::string::npos);
  }
  EXPECT_NE(call_in(confirm)->key, call_in(create)->key);
}

TEST_F(Entity, TheIntentIdIsCommittedTogetherWithTheConfirm) {
  const auto confirm = answer(handled(decide(bill())));
  ASSERT_EQ(confirm.events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<PaymentIntentCreated>(confirm.events[0]));
  EXPECT_EQ(std::get<RequestStarted>(confirm.events[1]).step, Step::confirm);
  ASSERT_EQ(confirm.caps.size(), 1U);
  EXPECT_EQ(confirm.caps[0].kind, CapOp::Kind::reserve);
}

TEST_F(Entity, AnotherAmountOrCurrencyIsAConflictWithTheFrozenValues) {
  (void)decide(bill());
  const auto d = decide(bill(5000));
  EXPECT_TRUE(d.stores_nothing());
  const auto& conflict = std::get<Conflict>(*d.reply);
  EXPECT_EQ(conflict.kind, Conflict::Kind::amount);
  EXPECT_EQ(conflict.existing->amount.minor, 4990);
  auto euros = bill();
  euros.amount.currency = *Currency::parse("eur");
  EXPECT_EQ(std::get<Conflict>(*decide(euros).reply).kind, Conflict::Kind::amount);
}

TEST_F(Entity, AnotherProviderCustomerGranularityOrFutureIsAConflict) {
  (void)decide(bill());
  auto other = bill();
  other.key.period = *BillingPeriod::parse("2026-07");
  other.provider_customer = ProviderCustomer{"cus_2"};
  const auto reply = decide(other).reply;
  EXPECT_EQ(std::get<Conflict>(*reply).kind, Conflict::Kind::provider_customer);
  EXPECT_FALSE(std::get<Conflict>(*reply).existing) << "nothing is recorded for July";
  auto quarter = bill();
  quarter.key.period = *BillingPeriod::parse("2026-Q3");
  EXPECT_EQ(std::get<Conflict>(*decide(quarter).reply).kind, Conflict::Kind::granularity);
  auto future = bill();
  future.key.period = *BillingPeriod::parse("2026-10");
  EXPECT_EQ(std::get<Conflict>(*decide(future).reply).kind, Conflict::Kind::period_not_begun);
  EXPECT_EQ(state_.obligations.size(), 1U);
}

TEST_F(Entity, AConflictNeverHidesWhatIsRecordedForTheSameObligation) {
  (void)decide(bill());
  auto other = bill();
  other.provider_customer = ProviderCustomer{"cus_2"};
  const auto reply = decide(other).reply;
  const auto& conflict = std::get<Conflict>(*reply);
  EXPECT_EQ(conflict.kind, Conflict::Kind::provider_customer);
  ASSERT_TRUE(conflict.existing);
  EXPECT_EQ(conflict.existing->key, bill().key);
}

TEST_F(Entity, NoPaymentMethodIsRefusedBeforeAnythingIsRecorded) {
  auto b = bill();
  b.payment_method = PaymentMethod{""};
  const auto d = decide(b);
  EXPECT_TRUE(d.stores_nothing());
  EXPECT_TRUE(std::holds_alternative<Refused>(*d.reply));
  EXPECT_TRUE(state_.obligations.empty());
}

TEST_F(Entity, AmountZeroIsWaivedWithoutProvider) {
  auto b = bill(0);
  b.payment_method = PaymentMethod{""};
  const auto d = decide(b);
  EXPECT_EQ(call_in(d), nullptr);
  const auto& row = std::get<Told>(*d.reply).row;
  EXPECT_EQ(row.status, ObligationStatus::waived);
  EXPECT_EQ(row.reason, "no_charge_due");
  EXPECT_FALSE(row.next_action_at.has_value());
}

TEST_F(Entity, ADeclineGrowsTheAttemptAndReconfirmsTheSameIntentUnderANewKey) {
  const auto confirm = answer(handled(decide(bill())));
  const auto first_key = call_in(confirm)->key;
  const auto declined = answer(handled(confirm, testing::Fate::declined));
  EXPECT_EQ(status(), ObligationStatus::declined);
  ASSERT_EQ(declined.caps.size(), 1U);
  EXPECT_EQ(declined.caps[0].kind, CapOp::Kind::release);
  EXPECT_TRUE(declined.rows[0].row.next_attempt_at.has_value());
  EXPECT_TRUE(resume().stores_nothing());  // not before its time
  advance_time(std::chrono::hours{49});
  const auto look = resume();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto again = answer(handled(look));
  ASSERT_NE(call_in(again), nullptr);
  EXPECT_EQ(call_in(again)->operation, Operation::confirm_intent);
  EXPECT_EQ(call_in(again)->target, call_in(confirm)->target);
  EXPECT_NE(call_in(again)->key, first_key);
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Entity, AnUnknownOutcomeKeepsAttemptKeyAndReservation) {
  const auto confirm = answer(handled(decide(bill())));
  const auto lost = answer(handled(confirm, testing::Fate::lost_after));
  EXPECT_EQ(status(), ObligationStatus::unknown);
  EXPECT_TRUE(lost.caps.empty());
  advance_time(std::chrono::seconds{2});
  const auto again = resume();
  ASSERT_NE(call_in(again), nullptr);
  EXPECT_EQ(*call_in(again), [&] {
    auto same = *call_in(confirm);
    same.not_after_boottime_ms = call_in(again)->not_after_boottime_ms;
    return same;
  }());
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Entity, ASuccessWithWrongMoneyOrForeignMetadataIsUnknown) {
  const auto confirm = answer(handled(decide(bill())));
  auto wrong = handled(confirm);
  wrong.objects[0].amount_minor += 1;
  (void)answer(wrong);
  EXPECT_EQ(status(), ObligationStatus::unknown);
}

TEST_F(Entity, AnUnknownStatusWordIsNeverASuccess) {
  const auto confirm = answer(handled(decide(bill())));
  auto odd = handled(confirm);
  odd.objects[0].status = "succeeded_maybe";
  (void)answer(odd);
  EXPECT_EQ(status(), ObligationStatus::unknown);
}

TEST_F(Entity, ACapRefusalRecordsTheIntentAndStopsBeforeMoneyMoves) {
  const auto create = decide(bill());
  const Refusal refusal = CapRefused{*BillingPeriod::parse("2026-08"), CustomerId{""},
                                     Money{100, *Currency::parse("usd")}, 90, 4990};
  const auto answer_to_create = handled(create);
  const auto d = keep(entity_.decide_answer(state_, answer_to_create, context(true, &refusal)));
  ASSERT_EQ(d.events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<PaymentIntentCreated>(d.events[0]));
  EXPECT_TRUE(std::holds_alternative<BillingCapped>(d.events[1]));
  EXPECT_EQ(call_in(d), nullptr);
  EXPECT_EQ(status(), ObligationStatus::capped);
}

TEST_F(Entity, ALateSuccessOfAParkedObligationCompletesWithAnAlarm) {
  const auto confirm = answer(handled(decide(bill())));
  const auto late = handled(confirm);
  (void)keep([&] {
    BillingEntity::Decided parked;
    parked.events.push_back(BillingParked{
        {*BillingPeriod::parse("2026-08"), Purpose{"subscription"}}, now_.wall, "test"});
    return parked;
  }());
  const auto d = answer(late);
  EXPECT_EQ(status(), ObligationStatus::completed);
  ASSERT_EQ(d.caps.size(), 1U);
  EXPECT_EQ(d.caps[0].kind, CapOp::Kind::settle);
  EXPECT_EQ(d.rows[0].row.reason, "money_taken_late");
}

TEST_F(Entity, AStrangeAnswerDecidesNothing) {
  (void)decide(bill());
  ExternalAnswer odd;
  odd.key = IdempotencyKey{"somebody-elses"};
  odd.observation = Observation::declined;
  EXPECT_TRUE(answer(odd).stores_nothing());
}

TEST_F(Entity, ARowWithoutEventsQuarantinesAndAnswersFromTheRowIfClosed) {
  ObligationRow row;
  row.key = bill().key;
  row.status = ObligationStatus::completed;
  row.charge_id = "ch_1";
  const Refusal refusal = ClaimRefused{row};
  const auto d = entity_.decide(state_, BillingCommand{bill()}, context(true, &refusal));
  EXPECT_TRUE(d.quarantine.has_value());
  EXPECT_EQ(std::get<Told>(*d.reply).row.charge_id, "ch_1");
}

TEST_F(Entity, ACallersKeyIsStoredWithTheCommandAndTellsRepeatsFromClashes) {
  auto b = bill();
  b.caller_mark = Mark{"caller/anonymous", "k1", "fp1", std::nullopt};
  const auto d = decide(b);
  ASSERT_EQ(d.marks.size(), 1U);
  const Refusal same = MarkRefused{*b.caller_mark};
  const auto repeat = entity_.decide(state_, BillingCommand{b}, context(true, &same));
  EXPECT_TRUE(std::get<Told>(*repeat.reply).replayed);
  auto other = *b.caller_mark;
  other.fingerprint = "fp2";
  const Refusal clash = MarkRefused{other};
  const auto reused = entity_.decide(state_, BillingCommand{b}, context(true, &clash));
  EXPECT_TRUE(std::holds_alternative<CallerKeyReused>(*reused.reply));
}

TEST_F(Entity, AnUntaintedRejectionWaitsForAnOperatorAndARetryUsesTheNextGeneration) {
  const auto create = decide(bill());
  ExternalAnswer rejected;
  rejected.key = call_in(create)->key;
  rejected.operation = Operation::create_intent;
  rejected.observation = Observation::invalid_request;
  rejected.code = "parameter_invalid";
  rejected.single_wire_send = true;
  (void)answer(rejected);
  EXPECT_EQ(status(), ObligationStatus::rejected);
  EXPECT_TRUE(resume().stores_nothing());
  const auto retry = keep(entity_.decide(
      state_, BillingCommand{LookAgain{bill().key, "ann", "card fixed"}}, context()));
  ASSERT_NE(call_in(retry), nullptr);
  EXPECT_NE(call_in(retry)->key, call_in(create)->key);
}

TEST_F(Entity, ATaintedRejectionIsUnknown) {
  const auto create = decide(bill());
  ExternalAnswer rejected;
  rejected.key = call_in(create)->key;
  rejected.operation = Operation::create_intent;
  rejected.observation = Observation::invalid_request;
  rejected.single_wire_send = false;
  (void)answer(rejected);
  EXPECT_EQ(status(), ObligationStatus::unknown);
}

TEST_F(Entity, ASavedErrorOnConfirmIsSettledByReadingTheIntent) {
  const auto confirm = answer(handled(decide(bill())));
  const auto look = answer(handled(confirm, testing::Fate::saved_500));
  EXPECT_EQ(status(), ObligationStatus::unknown);
  const auto* call = call_in(look);
  const auto owed = call == nullptr ? resume() : look;
  ASSERT_NE(call_in(owed), nullptr);
  EXPECT_EQ(call_in(owed)->operation, Operation::get_intent);
  (void)answer(handled(owed));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Entity, ASavedErrorWithoutMoneyConfirmsTheSameIntentUnderTheNextGeneration) {
  const auto confirm = answer(handled(decide(bill())));
  auto next = answer(handled(confirm, testing::Fate::failed_500));
  if (call_in(next) == nullptr) next = resume();
  ASSERT_EQ(call_in(next)->operation, Operation::get_intent);
  next = answer(handled(next));
  if (call_in(next) == nullptr) next = resume();
  ASSERT_NE(call_in(next), nullptr);
  EXPECT_EQ(call_in(next)->operation, Operation::confirm_intent);
  EXPECT_EQ(call_in(next)->target, call_in(confirm)->target);
  EXPECT_NE(call_in(next)->key, call_in(confirm)->key);
  (void)answer(handled(next));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

}  // namespace
}  // namespace onceward::billing
