// Golden vectors pin every byte of the key derivation: a changed key is a second charge.
#include <onceward/billing/idempotency_key.hpp>

#include <gtest/gtest.h>

#include <set>

namespace onceward::billing {
namespace {

BillingPolicy policy() {
  BillingPolicy p;
  p.ns = Namespace{"acme-billing"};
  p.account = AccountLabel{"default"};
  return p;
}

KeyInputs inputs(Step step, std::uint32_t attempt = 1, std::uint32_t generation = 0) {
  return {{CustomerId{"cust_123"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}},
          step,
          attempt,
          generation};
}

TEST(IdempotencyKey, MatchesTheGoldenVectorsOfSchemeV1) {
  EXPECT_EQ(idempotency_key(policy(), inputs(Step::charge)).value(),
            "44f4c7945f842fdf35a59c5c8eebd996");
  EXPECT_EQ(idempotency_key(policy(), inputs(Step::create)).value(),
            "6a7863a8ee9c6029c2ddcab4c4791dd9");
  EXPECT_EQ(idempotency_key(policy(), inputs(Step::confirm, 2, 3)).value(),
            "bbf2895dbd9e4e657dcdca8fe9a40d5a");
}

TEST(IdempotencyKey, MatchesTheOlderSystemUnderSchemeColon) {
  BillingPolicy p = policy();
  p.scheme = KeyScheme::colon;
  p.flow = Flow::charges;
  p.ns = Namespace{"akka-billing"};
  EXPECT_EQ(idempotency_key(p, inputs(Step::charge)).value(), "0f3fe6c7ee131571ac54c216d9553542");
}

TEST(IdempotencyKey, SchemeColonIsOnlyForTheFirstSubscriptionCharge) {
  BillingPolicy p = policy();
  p.scheme = KeyScheme::colon;
  p.flow = Flow::charges;
  BillingPolicy v1 = policy();
  EXPECT_EQ(idempotency_key(p, inputs(Step::charge, 2)),
            idempotency_key(v1, inputs(Step::charge, 2)));
  EXPECT_EQ(idempotency_key(p, inputs(Step::charge, 1, 1)),
            idempotency_key(v1, inputs(Step::charge, 1, 1)));
  KeyInputs seats = inputs(Step::charge);
  seats.obligation.purpose = Purpose{"seats"};
  EXPECT_EQ(idempotency_key(p, seats), idempotency_key(v1, seats));
}

TEST(IdempotencyKey, DiffersInEveryInput) {
  std::set<std::string> keys;
  const auto add = [&keys](const BillingPolicy& p, const KeyInputs& i) {
    EXPECT_TRUE(keys.insert(idempotency_key(p, i).value()).second);
  };
  add(policy(), inputs(Step::charge));
  for (const Step step :
       {Step::create, Step::create_confirm, Step::confirm, Step::cancel, Step::refund}) {
    add(policy(), inputs(step));
  }
  add(policy(), inputs(Step::charge, 2));
  add(policy(), inputs(Step::charge, 1, 1));
  BillingPolicy p = policy();
  p.account = AccountLabel{"other"};
  add(p, inputs(Step::charge));
  p = policy();
  p.mode = Mode::live;
  add(p, inputs(Step::charge));
  p = policy();
  p.ns = Namespace{"acme-billing2"};
  add(p, inputs(Step::charge));
  KeyInputs other = inputs(Step::charge);
  other.obligation.customer = CustomerId{"cust_124"};
  add(policy(), other);
  other = inputs(Step::charge);
  other.obligation.period = *BillingPeriod::parse("2026-09");
  add(policy(), other);
  other = inputs(Step::charge);
  other.obligation.purpose = Purpose{"seats"};
  add(policy(), other);
}

TEST(IdempotencyKey, CannotBeMovedAcrossFieldBorders) {
  BillingPolicy left = policy();
  left.ns = Namespace{"a"};
  BillingPolicy right = policy();
  right.ns = Namespace{"a8"};
  KeyInputs one = inputs(Step::charge);
  one.obligation.customer = CustomerId{"8:cust"};
  KeyInputs two = inputs(Step::charge);
  two.obligation.customer = CustomerId{":cust"};
  EXPECT_NE(idempotency_key(left, one), idempotency_key(right, two));
}

}  // namespace
}  // namespace onceward::billing
