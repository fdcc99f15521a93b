// The one-step flow: create and confirm in one request. Its intent, once known, is settled and
// confirmed like any other; as long as it is not, absence is no proof.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;
using testing::Fate;

class OneStep : public Entity {
 protected:
  OneStep() { use_flow(Flow::payment_intents_one_step); }
};

TEST_F(OneStep, ConfirmsWithinTheCreate) {
  const auto sent = decide(bill());
  ASSERT_EQ(operation_in(sent), Operation::create_intent);
  EXPECT_EQ(testing::value_of(call_in(sent)->params, "confirm"), "true");
  EXPECT_EQ(testing::value_of(call_in(sent)->params, "off_session"), "true");
  EXPECT_EQ(reserved(), 4990);
  (void)answer(handled(sent));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(settled(), 4990);
}

TEST_F(OneStep, ADeclineKeepsTheIntentForTheNextAttempt) {
  (void)answer(handled(decide(bill()), Fate::declined));
  ASSERT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().intent, "pi_1");
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::get_intent);
  const auto again = answer(handled(look));
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(call_in(again)->target, "pi_1");
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

// A second intent beside it could be paid as well.
TEST_F(OneStep, ADeclinedIntentThatNoAnswerNamedIsFoundAndConfirmedNotReplaced) {
  const auto sent = decide(bill());
  auto refused = provider_.handle(*call_in(sent), Fate::declined, now_.wall);
  refused.objects.clear();
  (void)answer(refused);
  ASSERT_EQ(status(), ObligationStatus::declined);
  ASSERT_EQ(obligation().intent, "");
  const auto look = wake();
  ASSERT_EQ(operation_in(look), Operation::list_intents);
  const auto again = answer(handled(look));
  ASSERT_EQ(operation_in(again), Operation::confirm_intent);
  EXPECT_EQ(call_in(again)->target, "pi_1");
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

TEST_F(OneStep, ADeclinedIntentOfAnotherAmountThatIsFoundIsForAPerson) {
  const auto sent = decide(bill());
  auto refused = provider_.handle(*call_in(sent), Fate::declined, now_.wall);
  refused.objects.clear();
  (void)answer(refused);
  auto listed = handled(wake());
  ASSERT_EQ(listed.objects.size(), 1U);
  listed.objects[0].amount_minor += 1;
  const auto done = answer(listed);
  EXPECT_EQ(call_in(done), nullptr);
  EXPECT_EQ(status(), ObligationStatus::parked);
}

TEST_F(OneStep, AnUnknownDeclineIsFoundAndCountedNotRetriedAtOnce) {
  const auto sent = decide(bill());
  (void)provider_.handle(*call_in(sent), Fate::declined, now_.wall);
  const auto look = answer(observed(sent, Observation::server_error));
  ASSERT_EQ(operation_in(look), Operation::list_intents);
  const auto done = answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::declined);
  EXPECT_EQ(obligation().intent, "pi_1");
  EXPECT_EQ(call_in(done), nullptr);
  EXPECT_EQ(reserved(), 0);
}

TEST_F(OneStep, AnUnpaidIntentThatWasFoundIsConfirmedItself) {
  const auto sent = decide(bill());
  const auto look = answer(observed(sent, Observation::server_error));
  auto listed = handled(look);
  ProviderObject found;
  found.object = "payment_intent";
  found.id = "pi_9";
  found.status = "requires_confirmation";
  found.amount_minor = 4990;
  found.currency = "usd";
  found.customer = "cus_1";
  found.metadata = obligation_metadata_of();
  listed.objects = {found};
  const auto next = answer(listed);
  ASSERT_EQ(operation_in(next), Operation::confirm_intent);
  EXPECT_EQ(call_in(next)->target, "pi_9");
  EXPECT_EQ(obligation().generation, 1U);
  EXPECT_EQ(reserved(), 4990);
}

TEST_F(OneStep, AnIntentThatWaitsForItsCustomerIsNotConfirmedAgain) {
  const auto sent = decide(bill());
  (void)provider_.handle(*call_in(sent), Fate::requires_action, now_.wall);
  const auto look = answer(observed(sent, Observation::server_error));
  const auto done = answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::action_required);
  EXPECT_EQ(obligation().intent, "pi_1");
  EXPECT_EQ(call_in(done), nullptr);
}

TEST_F(OneStep, NothingFoundParks) {
  const auto look = answer(observed(decide(bill()), Observation::server_error));
  (void)answer(handled(look));
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_EQ(reserved(), 4990);  // kept while it may have acted
}

TEST_F(OneStep, ALostAnswerIsAskedForUnderTheSameKey) {
  const auto sent = decide(bill());
  (void)answer(handled(sent, Fate::lost_after));
  const auto again = wake();
  ASSERT_NE(call_in(again), nullptr);
  EXPECT_EQ(call_in(again)->key, call_in(sent)->key);
  (void)answer(handled(again));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(provider_.ledger().size(), 1U);
}

}  // namespace
}  // namespace onceward::billing
