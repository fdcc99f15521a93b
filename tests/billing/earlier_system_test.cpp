// Scheme colon: before the first send the charges of an older system are looked for, and nothing is
// ever sent blindly.
#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::billing {
namespace {

using testing::Entity;

class ColonEntity : public Entity {
 protected:
  ColonEntity() {
    BillingPolicy p = make_policy();
    p.scheme = KeyScheme::colon;
    p.flow = Flow::charges;
    entity_ = BillingEntity(p);
  }
  ExternalAnswer listed(const BillingEntity::Decided& d, std::vector<ProviderObject> objects) {
    ExternalAnswer a;
    a.key = call_in(d)->key;
    a.operation = Operation::list_charges;
    a.observation = Observation::object;
    a.objects = std::move(objects);
    return a;
  }
  static ProviderObject older_charge() {
    ProviderObject o;
    o.object = "charge";
    o.id = "ch_old";
    o.status = "succeeded";
    o.amount_minor = 4990;
    o.currency = "usd";
    o.customer = "cus_1";
    return o;
  }
};

TEST_F(ColonEntity, ListsAnOlderSystemsChargesBeforeTheFirstSend) {
  const auto d = decide(bill());
  ASSERT_NE(call_in(d), nullptr);
  EXPECT_EQ(call_in(d)->operation, Operation::list_charges);
  const auto sent = answer(listed(d, {}));
  ASSERT_NE(call_in(sent), nullptr);
  EXPECT_EQ(call_in(sent)->operation, Operation::create_charge);
  (void)answer(handled(sent));
  EXPECT_EQ(status(), ObligationStatus::completed);
}

TEST_F(ColonEntity, ParksWhenAnOlderChargeCouldBeThisOne) {
  const auto sent = answer(listed(decide(bill()), {older_charge()}));
  EXPECT_EQ(call_in(sent), nullptr);
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_TRUE(provider_.wire().empty());
}

TEST_F(ColonEntity, ChargesOfOtherAmountsOrOtherObligationsDoNotPark) {
  auto other_amount = older_charge();
  other_amount.amount_minor = 100;
  auto other_period = older_charge();
  other_period.metadata = {{"onceward_period", "2026-07"}};
  const auto sent = answer(listed(decide(bill()), {other_amount, other_period}));
  EXPECT_NE(call_in(sent), nullptr);
}

TEST_F(ColonEntity, AFailedListIsAskedAgainAndNothingIsSent) {
  auto failed = listed(decide(bill()), {});
  failed.observation = Observation::broken;
  EXPECT_EQ(call_in(answer(failed)), nullptr);
  EXPECT_EQ(status(), ObligationStatus::in_progress);
  advance_time(std::chrono::minutes{2});
  EXPECT_EQ(call_in(resume())->operation, Operation::list_charges);
}

// An operator who asks for another look has not said that the older charge was another's.
TEST_F(ColonEntity, AnOperatorsRetryListsAgainAndNeverSendsBlindly) {
  (void)answer(listed(decide(bill()), {older_charge()}));
  ASSERT_EQ(status(), ObligationStatus::parked);
  const auto again = look_again();
  ASSERT_EQ(operation_in(again), Operation::list_charges);
  (void)answer(listed(again, {older_charge()}));
  EXPECT_EQ(status(), ObligationStatus::parked);
  EXPECT_EQ(obligation().reason, "possible_earlier_charge");
  EXPECT_TRUE(provider_.wire().empty());
  EXPECT_EQ(operation_in(answer(listed(look_again(), {}))), Operation::create_charge);
}

TEST_F(ColonEntity, ASecondAnswerToTheListDecidesNothing) {
  const auto list = decide(bill(), true);
  (void)answer(listed(list, {older_charge()}));
  EXPECT_TRUE(answer(listed(list, {})).stores_nothing());
  EXPECT_EQ(status(), ObligationStatus::parked);
}

TEST_F(ColonEntity, AChargeOfOursIsAdoptedOnlyIfItsMoneyIsOurs) {
  auto ours = older_charge();
  ours.metadata = obligation_metadata_of();
  auto wrong = ours;
  wrong.amount_minor = 1;
  (void)answer(listed(decide(bill()), {wrong}));
  EXPECT_EQ(status(), ObligationStatus::parked);
  (void)answer(listed(look_again(), {ours}));
  EXPECT_EQ(status(), ObligationStatus::completed);
  EXPECT_EQ(obligation().reason, "charge_of_an_earlier_store");
}

TEST_F(ColonEntity, APendingOlderChargeParks) {
  auto pending = older_charge();
  pending.status = "pending";
  (void)answer(listed(decide(bill()), {pending}));
  EXPECT_EQ(status(), ObligationStatus::parked);
  auto failed = older_charge();
  failed.status = "failed";
  EXPECT_EQ(operation_in(answer(listed(look_again(), {failed}))), Operation::create_charge);
}

}  // namespace
}  // namespace onceward::billing
