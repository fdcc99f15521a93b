// Section J: amount, currency, price.
#include <algorithm>

#include "tests/cases/bodies.hpp"

namespace onceward::cases {

namespace {

std::string param(const testing::SentPost& post, const std::string& name) {
  for (const auto& [key, value] : post.params) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

// Prices in major units, in currencies whose decimals surprise.
void r89_decimals_of_currencies(const CaseSetup& setup) {
  struct Price {
    const char* currency;
    const char* major;
    const char* on_the_wire;
  };
  CaseWorld world(setup.options());
  for (const Price& price : {Price{"jpy", "80", "80"}, Price{"mga", "5000", "5000"},
                             Price{"isk", "5", "500"}, Price{"ugx", "5", "500"}}) {
    const auto currency = *Currency::parse(price.currency);
    const auto amount = parse_major(price.major, currency);
    ASSERT_TRUE(amount.has_value()) << price.currency;
    ASSERT_TRUE(parse_chargeable(amount->minor, currency).has_value()) << price.currency;
    const std::string customer = std::string("cus_j1_") + price.currency;
    auto command = CaseWorld::bill_of(customer, "2026-08");
    command.amount = *amount;
    const auto bill = world.send(command);
    world.run_for(1min);
    EXPECT_EQ(bill->status(), Status::completed) << price.currency;
    const auto rows = world.port().provider().ledger().find(customer, "2026-08");
    ASSERT_EQ(rows.size(), 1U) << price.currency;
    EXPECT_EQ(std::to_string(rows[0].amount), price.on_the_wire) << price.currency;
    const auto& posts = world.port().posts();
    const auto sent = std::find_if(posts.begin(), posts.end(), [&](const auto& post) {
      return param(post, "metadata[onceward_customer]") == customer;
    });
    ASSERT_NE(sent, posts.end());
    EXPECT_EQ(param(*sent, "amount"), price.on_the_wire);
    EXPECT_EQ(param(*sent, "currency"), price.currency);
  }
  const auto kwd = *Currency::parse("kwd");
  const auto fine = parse_major("5.124", kwd);
  ASSERT_TRUE(fine.has_value());
  const auto refused = parse_chargeable(fine->minor, kwd);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R89_DecimalsOfCurrencies) {
  in_both_flows(r89_decimals_of_currencies);
}

// The price changes between recording and sending.
void r91_price_changed_on_the_way(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.port().is_cut_off = true;  // nothing leaves before minute two
  const auto bill = world.bill("cus_j3", "2026-08", 9'900);
  world.run_for(1min);
  const auto changed = world.bill("cus_j3", "2026-08", 4'900, "r2");
  ASSERT_TRUE(changed->is_answered());
  const auto* conflict = std::get_if<Conflict>(&changed->replies.back());
  ASSERT_NE(conflict, nullptr);
  EXPECT_EQ(conflict->kind, Conflict::Kind::amount);
  ASSERT_TRUE(conflict->existing.has_value());
  EXPECT_EQ(conflict->existing->amount.minor, 9'900);
  world.run_for(1min);
  world.port().is_cut_off = false;
  world.run_for(1h);
  EXPECT_EQ(bill->status(), Status::completed);
  const auto next = world.bill("cus_j3", "2026-09", 4'900);
  world.run_for(1min);
  EXPECT_EQ(next->status(), Status::completed);
  const auto& ledger = world.port().provider().ledger();
  ASSERT_EQ(ledger.find("cus_j3", "2026-08").size(), 1U);
  EXPECT_EQ(ledger.find("cus_j3", "2026-08")[0].amount, 9'900);
  ASSERT_EQ(ledger.find("cus_j3", "2026-09").size(), 1U);
  EXPECT_EQ(ledger.find("cus_j3", "2026-09")[0].amount, 4'900);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R91_PriceChangedOnTheWay) {
  in_both_flows(r91_price_changed_on_the_way);
}

// Two obligations with an open intent each; an answer that names another amount is not believed.
void r93_each_obligation_its_intent(const CaseSetup& setup) {
  CaseWorld world(setup.options());
  world.faults({R"("kind":"wrong_amount_200","match":{"path":"*/confirm"},"count":2)"});
  const auto august = world.bill("cus_j5", "2026-08", 5'000);
  const auto september = world.bill("cus_j5", "2026-09", 7'000);
  EXPECT_FALSE(august->is_answered());
  EXPECT_FALSE(september->is_answered());
  world.run_for(1h);
  EXPECT_EQ(august->status(), Status::completed);
  EXPECT_EQ(september->status(), Status::completed);
  EXPECT_GE(world.count_events<OutcomeUnknown>("cus_j5"), 2);
  const auto& ledger = world.port().provider().ledger();
  const auto first = ledger.find("cus_j5", "2026-08");
  const auto second = ledger.find("cus_j5", "2026-09");
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NE(first[0].payment_intent, second[0].payment_intent);
  EXPECT_EQ(first[0].amount, 5'000);
  EXPECT_EQ(second[0].amount, 7'000);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R93_EachObligationItsIntent) {
  in_two_steps(r93_each_obligation_its_intent);
}

}  // namespace onceward::cases
