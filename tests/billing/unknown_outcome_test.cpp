// How an unknown outcome is resolved: what proves something, what only seems to, and that nobody is
// hammered meanwhile.
#include <array>

#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class Unknown : public Entity {
 protected:
  BillingEntity::Decided confirm() { return answer(handled(decide(bill()))); }
  /// The provider's clock was never seen: no age is trusted, so nothing is ever young.
  void lose_provider_clock() { now_.provider.reset(); }
  std::size_t posts() const { return provider_.wire().size(); }
};

TEST_F(Unknown, AKeyThatNeverMatchesIsNotSentAgain) {
  use_flow(Flow::charges);
  const auto look = answer(observed(decide(bill()), Observation::key_mismatch));
  EXPECT_EQ(status(), ObligationStatus::unknown);
  EXPECT_EQ(operation_in(look), Operation::list_charges);  // at once
  (void)run_for(std::chrono::hours{30}, look, Fate::ok);
  EXPECT_EQ(posts(), 0U);
  EXPECT_EQ(status(), ObligationStatus::parked);  // absence is no proof
}

TEST_F(Unknown, ARefusalBeforeTheKeyIsLookedAtIsNotSentAgainOnceTainted) {
  use_flow(Flow::charges);
  for (const auto refusal : {Observation::invalid_request, Observation::not_found}) {
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    auto refused = observed(decide(bill()), refusal);
    refused.single_wire_send = false;
    const auto look = answer(refused);
    EXPECT_EQ(status(), ObligationStatus::unknown);
    EXPECT_EQ(operation_in(look), Operation::list_charges);
    EXPECT_TRUE(obligation().request->pointless);
  }
}

// A cut body or the error of a hop may be gone the next time: the same key brings the answer.
TEST_F(Unknown, WhatMayGoAwayIsAskedForAgainUnderTheSameKeyAfterAPause) {
  for (const auto passing :
       {Observation::bad_body, Observation::gateway_error, Observation::broken,
        Observation::redirect, Observation::other_client_error, Observation::key_in_use}) {
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    const auto create = decide(bill());
    EXPECT_EQ(call_in(answer(observed(create, passing))), nullptr) << to_text(passing);
    const auto again = wake();
    ASSERT_NE(call_in(again), nullptr) << to_text(passing);
    EXPECT_EQ(call_in(again)->key, call_in(create)->key);
  }
}

TEST_F(Unknown, AProviderThatFailsEveryTimeIsNotHammered) {
  for (const Fate fate : {Fate::failed_500, Fate::lost_before, Fate::lost_after, Fate::in_use,
                          Fate::bad_body, Fate::wrong_amount, Fate::gateway_before}) {
    for (const Flow flow : {Flow::charges, Flow::payment_intents, Flow::payment_intents_one_step}) {
      use_flow(flow);
      state_ = entity_.initial(PersistenceId{"customer/cust_1"});
      provider_ = testing::FakeProvider();
      const int calls = run_for(std::chrono::hours{1}, decide(bill()), fate);
      EXPECT_LT(calls, 60) << "fate " << static_cast<int>(fate);
      EXPECT_LE(provider_.ledger().size(), 1U);
    }
  }
}

TEST_F(Unknown, FailingLookUpsAreSpacedFurtherAndFurther) {
  const auto look = answer(handled(confirm(), Fate::saved_500));
  const int calls = run_for(std::chrono::hours{1}, look, Fate::ok, Fate::failed_500);
  EXPECT_LT(calls, 20);
  EXPECT_EQ(status(), ObligationStatus::unknown);
  EXPECT_GT(obligation().request->failed_look_ups, 5U);
  // The provider is well again: one look settles it.
  (void)answer(handled(wake()));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

// A saved error of a look-up says nothing about the request it looks for.
TEST_F(Unknown, AFailedLookUpNeitherSpendsTheKeyNorProvesQuiet) {
  use_flow(Flow::charges);
  lose_provider_clock();
  const auto sent = decide(bill());
  (void)answer(observed(sent, Observation::broken));
  auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  (void)answer(observed(look, Observation::server_error));
  EXPECT_FALSE(obligation().request->pointless);
  look = wake();
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  (void)answer(handled(look));  // nothing is there
  EXPECT_EQ(status(), ObligationStatus::unknown) << "parked although the send may still run";
}

TEST_F(Unknown, WhatWasReadTooEarlyIsReadAgainOnceNoSendCanRun) {
  lose_provider_clock();
  const auto sent = confirm();
  (void)answer(observed(sent, Observation::broken));
  auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)answer(handled(look));
  EXPECT_EQ(obligation().request->looked_up, LookedUp::too_early);
  EXPECT_EQ(call_in(wake()), nullptr);  // waits
  EXPECT_GE(*obligation().next_action_at,
            obligation().request->last_sent.wall.plus(std::chrono::seconds{80 + 900}));
  // The send was only slow: it is refused after the first look.
  (void)provider_.handle(*call_in(sent), Fate::declined, now_.wall);
  look = wake();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().declines, 1U);
  EXPECT_EQ(posts(), 2U);  // the create and the slow confirm, no blind third
}

TEST_F(Unknown, AnEarlyLookIsRepeatedEvenIfTheWaitWasSpentDown) {
  lose_provider_clock();
  (void)answer(observed(confirm(), Observation::broken));
  (void)answer(handled(wake()));
  EXPECT_EQ(obligation().request->looked_up, LookedUp::too_early);
  advance_time(std::chrono::hours{2});
  EXPECT_EQ(operation_in(resume()), Operation::get_intent);
}

TEST_F(Unknown, AChargeThatWasOnlySlowIsFoundBeforeParking) {
  use_flow(Flow::charges);
  lose_provider_clock();
  const auto sent = decide(bill());
  (void)answer(handled(sent, Fate::late));
  (void)run_for(std::chrono::hours{2}, {}, Fate::ok);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
  EXPECT_EQ(posts(), 1U);
}

// The next generation starts with proof that no earlier send acted, so its refusals are definitive.
TEST_F(Unknown, ARefusalOfTheNextGenerationWaitsForAnOperator) {
  auto next = answer(handled(confirm(), Fate::failed_500));
  next = answer(handled(next));
  ASSERT_EQ(operation_in(next), Operation::confirm_intent);
  EXPECT_EQ(obligation().generation, 1U);
  (void)answer(handled(next, Fate::invalid));
  EXPECT_EQ(status(), ObligationStatus::rejected);
}

TEST_F(Unknown, ADeclineWithoutAChargeIsSeenInTheIntent) {
  const auto look = answer(handled(confirm(), Fate::saved_500));
  auto found = handled(look);
  found.objects[0].status = "requires_payment_method";
  found.objects[0].charge.clear();
  found.objects[0].failure_code = "card_declined";
  found.objects[0].decline_code = "do_not_honor";
  (void)answer(found);
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().decline_code, "do_not_honor");
}

TEST_F(Unknown, ARefusalThatWasRecordedBeforeIsNotCountedTwice) {
  (void)answer(handled(confirm(), Fate::declined));
  ASSERT_EQ(status(), ObligationStatus::declined);
  const auto second = next_try_after_last_look();
  ASSERT_EQ(operation_in(second), Operation::confirm_intent);
  const auto look = answer(handled(second, Fate::failed_500));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto third = answer(handled(look));  // shows the refusal of attempt 1
  EXPECT_EQ(obligation().declines, 1U);
  EXPECT_EQ(obligation().attempt, 2U);
  ASSERT_EQ(operation_in(third), Operation::confirm_intent);
  (void)answer(handled(third));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(Unknown, AFailedChargeOfThisAttemptIsItsDecline) {
  use_flow(Flow::charges);
  const auto sent = decide(bill());
  (void)provider_.handle(*call_in(sent), Fate::declined, now_.wall);
  const auto look = answer(observed(sent, Observation::server_error));
  ASSERT_EQ(operation_in(look), Operation::list_charges);
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().attempt, 2U);
}

TEST_F(Unknown, AFailedChargeOfAnotherAttemptDecidesNothing) {
  use_flow(Flow::charges);
  (void)answer(handled(decide(bill()), Fate::declined));
  const auto second = next_try_after_last_look();
  auto look = answer(observed(second, Observation::server_error));
  auto listed = handled(look);
  ProviderObject first;
  first.object = "charge";
  first.id = "ch_1";
  first.status = "failed";
  first.amount_minor = 4990;
  first.currency = "usd";
  first.metadata = {{"onceward_namespace", "acme-billing"},
                    {"onceward_customer", "cust_1"},
                    {"onceward_period", "2026-08"},
                    {"onceward_purpose", "subscription"},
                    {"onceward_attempt", "1"}};
  listed.objects = {first};
  (void)answer(listed);
  EXPECT_EQ(obligation().declines, 1U);
  EXPECT_EQ(obligation().attempt, 2U);
  EXPECT_EQ(status(), ObligationStatus::parked);
}

TEST_F(Unknown, AProcessingIntentThatEndsUnpaidIsNotAskedUnderTheOldKey) {
  (void)answer(handled(confirm(), Fate::processing));
  ASSERT_EQ(status(), ObligationStatus::processing);
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  auto found = handled(look);
  found.objects[0].status = "requires_payment_method";  // without any refusal to show
  const auto next = answer(found);
  ASSERT_EQ(operation_in(next), Operation::confirm_intent);
  EXPECT_EQ(obligation().generation, 1U);  // the old key would say processing again
  (void)answer(handled(wake()));
}

TEST_F(Unknown, AnIntentCanceledByOthersIsReplacedUnderTheNextGeneration) {
  const auto sent = confirm();
  provider_.cancel_open_intents();
  const auto look = answer(handled(sent));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto create = answer(handled(look));
  ASSERT_EQ(operation_in(create), Operation::create_intent);
  (void)answer(handled(answer(handled(create))));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(Unknown, APatienceThatNobodyWouldNoticeIsCutShort) {
  auto limited = observed(confirm(), Observation::rate_limited);
  limited.retry_after = std::chrono::hours{24 * 365};
  (void)answer(limited);
  EXPECT_LE(*obligation().next_action_at, now_.wall.plus(std::chrono::hours{1}));
  EXPECT_GE(*obligation().next_action_at, now_.wall.plus(std::chrono::minutes{59}));
}

// --- reads that tell what cannot be ---

using Distort = void (*)(ExternalAnswer&);
constexpr Distort wrong_amount = [](ExternalAnswer& found) { found.objects[0].amount_minor = 1; };
constexpr Distort wrong_customer = [](ExternalAnswer& found) {
  found.objects[0].customer = "cus_other";
};
constexpr Distort unknown_word = [](ExternalAnswer& found) {
  found.objects[0].status = "never_seen";
};
constexpr Distort no_such_intent = [](ExternalAnswer& found) {
  found.observation = Observation::not_found;
  found.objects.clear();
};
constexpr std::array oddities = {wrong_amount, wrong_customer, unknown_word, no_such_intent};

TEST_F(Unknown, OneOddReadIsNotBelieved) {
  for (const Distort distort : oddities) {
    use_flow(Flow::payment_intents);
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    const auto look = answer(handled(confirm(), Fate::saved_500));
    auto odd = handled(look);
    distort(odd);
    (void)answer(odd);
    EXPECT_EQ(status(), ObligationStatus::unknown);
    EXPECT_EQ(obligation().request->failed_look_ups, 1U);
    (void)answer(handled(look_again()));
    EXPECT_EQ(status(), ObligationStatus::completed);
    EXPECT_FALSE(obligation().charge_id.empty());
  }
}

TEST_F(Unknown, WhatEveryReadTellsParks) {
  const std::array reasons = {"mismatch", "mismatch", "intent_never_seen", "intent_not_found"};
  for (std::size_t nr = 0; nr < oddities.size(); ++nr) {
    use_flow(Flow::payment_intents);
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    auto look = answer(handled(confirm(), Fate::saved_500));
    for (int reads = 1; reads <= 5; ++reads) {
      EXPECT_EQ(status(), ObligationStatus::unknown) << reads;
      auto odd = handled(look);
      oddities.at(nr)(odd);
      (void)answer(odd);
      if (reads < 5) look = look_again();
    }
    EXPECT_EQ(status(), ObligationStatus::parked);
    EXPECT_EQ(obligation().reason, reasons.at(nr));
  }
}

TEST_F(Unknown, AGetThatAnswersWithAnotherObjectToldNothing) {
  const auto look = answer(handled(confirm(), Fate::saved_500));
  auto found = handled(look);
  found.objects[0].id = "pi_foreign";
  (void)answer(found);
  EXPECT_EQ(status(), ObligationStatus::unknown);
  EXPECT_EQ(obligation().request->failed_look_ups, 1U);
}

TEST_F(Unknown, ASameKeySendStopsBeforeTheProviderForgetsIt) {
  use_flow(Flow::charges);
  (void)answer(observed(decide(bill()), Observation::broken));
  advance_time(std::chrono::hours{23} - std::chrono::seconds{1});
  EXPECT_EQ(operation_in(resume()), Operation::create_charge);
  (void)answer(observed(resume(), Observation::broken));
  advance_time(std::chrono::seconds{10});
  EXPECT_EQ(operation_in(resume()), Operation::list_charges);
}

// --- watchdog, clocks, foreign objects ---

TEST_F(Unknown, ACallThatNeverAnswersIsTakenUpByItsWatchdog) {
  const auto sent = confirm();
  ASSERT_EQ(*obligation().next_action_at, now_.wall.plus(entity_.policy().attempt_deadline));
  const std::vector<IdempotencyKey> in_flight = {call_in(sent)->key};
  auto busy = context();
  busy.calls_in_flight = &in_flight;
  EXPECT_TRUE(entity_.resume(state_, busy).effects.empty());
  const auto again = wake();  // the machine has forgotten the call by then
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
  EXPECT_EQ(obligation().attempt, 1U);
}

// A wall clock that was two days fast at the send must not hide what was made then.
TEST_F(Unknown, TheListReachesBackBeforeTheSendWhicheverClockWasWrong) {
  for (const bool provider_known : {true, false}) {
    use_flow(Flow::charges);
    state_ = entity_.initial(PersistenceId{"customer/cust_1"});
    const Timestamp truth = now_.wall;
    now_.wall = truth.plus(std::chrono::hours{48});
    if (!provider_known) now_.provider.reset();
    (void)answer(observed(decide(bill()), Observation::server_error));
    now_.wall = truth;
    now_.provider = truth;
    advance_time(std::chrono::hours{3});
    const auto look = look_again();
    ASSERT_EQ(operation_in(look), Operation::list_charges);
    const auto from = std::stoll(testing::value_of(call_in(look)->params, "created[gte]"));
    EXPECT_LE(from, truth.ms / 1000 - 300) << provider_known;
    EXPECT_EQ(testing::value_of(call_in(look)->params, "created[lte]"), "");  // up to now
  }
}

TEST_F(Unknown, AnAnswerAboutAnotherCustomerIsUnknown) {
  const auto sent = confirm();
  auto foreign = handled(sent);
  foreign.objects[0].customer = "cus_other";
  (void)answer(foreign);
  EXPECT_EQ(status(), ObligationStatus::unknown);
  EXPECT_EQ(obligation().reason, "mismatch");
  ASSERT_EQ(operation_in(look_again()), Operation::get_intent);
}

TEST_F(Unknown, AConfirmOfAnIntentThatHasSucceededIsSettledByReadingIt) {
  const auto sent = confirm();
  provider_.pay_open_intents();
  const auto look = answer(handled(sent));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

// Its key is spent by the saved refusal: payable again, it is confirmed under the next generation.
TEST_F(Unknown, AnIntentThatIsPayableAgainIsConfirmedUnderANewKey) {
  const auto sent = confirm();
  const auto look = answer(observed(sent, Observation::unexpected_state));
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  (void)run_for(std::chrono::hours{1}, look, Fate::ok);
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_NE(provider_.wire().back().key, call_in(sent)->key.value());
}

// A create that may still run would leave a second intent beside the one that follows it.
TEST_F(Unknown, ALostCreateIsMadeAgainOnlyOnceItCannotRunAnyMore) {
  lose_provider_clock();
  const auto create = decide(bill());
  (void)answer(observed(create, Observation::broken));
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::list_intents);
  EXPECT_EQ(operation_in(answer(handled(look))), std::nullopt);
  (void)run_for(std::chrono::minutes{14}, resume(), Fate::ok);
  EXPECT_EQ(posts(), 0U);
  (void)run_for(std::chrono::hours{1}, resume(), Fate::ok);
  EXPECT_EQ(status(), ObligationStatus::completed);
}

}  // namespace
}  // namespace onceward::billing
