// Idempotency keys: what is saved, what is not, replay, conflict, expiry.
#include <gtest/gtest.h>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

TEST(SimulatorKeys, ReplaysTheFirstAnswerVerbatim) {
  ApiClient client;
  const Answered first = client.post("/v1/charges", charge_form, "k1");
  const Answered again = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(again.wire.body, first.wire.body);
  EXPECT_EQ(again.status(), 200);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.header("Original-Request"), first.header("Request-Id"));
  EXPECT_NE(again.header("Request-Id"), first.header("Request-Id"));
  EXPECT_EQ(first.header("Idempotent-Replayed"), "");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorKeys, ChargesAgainWithoutAKeyOrUnderAnother) {
  ApiClient client;
  client.post("/v1/charges", charge_form);
  client.post("/v1/charges", charge_form);
  client.post("/v1/charges", charge_form, "k1");
  client.post("/v1/charges", charge_form, "k2");
  EXPECT_EQ(client.provider.ledger().rows().size(), 4U);
}

TEST(SimulatorKeys, IgnoresTheOrderOfParameters) {
  ApiClient client;
  const Answered first = client.post("/v1/charges", "amount=100&currency=usd&source=tok_visa", "k");
  const Answered again = client.post("/v1/charges", "source=tok_visa&currency=usd&amount=100", "k");
  EXPECT_EQ(again.wire.body, first.wire.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
}

TEST(SimulatorKeys, RefusesOtherParametersOrAnotherEndpoint) {
  ApiClient client;
  const Answered intent = client.post("/v1/payment_intents", intent_form, "k1");
  const Answered params = client.post("/v1/payment_intents", intent_form + "&description=x", "k1");
  EXPECT_EQ(params.status(), 400);
  EXPECT_EQ(params.at("error.type"), "idempotency_error");
  const Answered endpoint = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(endpoint.at("error.type"), "idempotency_error");
  const Answered confirm =
      client.post("/v1/payment_intents/" + intent.at("id") + "/confirm", "", "k1");
  EXPECT_EQ(confirm.at("error.type"), "idempotency_error");
  EXPECT_TRUE(client.provider.ledger().rows().empty());
  EXPECT_EQ(client.post("/v1/payment_intents", intent_form, "k1").wire.body, intent.wire.body);
}

TEST(SimulatorKeys, SavesDeclinesAndErrorsRaisedInTheEndpoint) {
  ApiClient client;
  const std::string declining = "amount=100&currency=usd&source=tok_chargeDeclined";
  const Answered declined = client.post("/v1/charges", declining, "k1");
  const Answered again = client.post("/v1/charges", declining, "k1");
  EXPECT_EQ(again.wire.body, declined.wire.body);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  const std::string small = "amount=1&currency=usd&source=tok_visa";
  EXPECT_EQ(client.post("/v1/charges", small, "k2").at("error.code"), "amount_too_small");
  EXPECT_EQ(client.post("/v1/charges", small, "k2").header("Idempotent-Replayed"), "true");
}

TEST(SimulatorKeys, SavesA500WithAndWithoutMoney) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"commit_500","match":{"key":"k1"},"count":1},
                             {"kind":"fail_500","match":{"key":"k2"},"count":1}]})");
  const Answered with = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(with.status(), 500);
  EXPECT_EQ(with.at("error.type"), "api_error");
  EXPECT_EQ(with.header("Stripe-Should-Retry"), "false");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").status(), 500);
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
  for (const char* key : {"k1", "k2"}) {
    const Answered again = client.post("/v1/charges", charge_form, key);
    EXPECT_EQ(again.status(), 500);
    EXPECT_EQ(again.wire.body, with.wire.body);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  }
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorKeys, SavesNeitherValidationNorLimitsNorMissingCredentials) {
  SimulatorSettings settings;
  settings.rate_per_second = 2;
  ApiClient client(settings);
  EXPECT_EQ(client.post("/v1/charges", "amount=x&currency=usd&source=tok_visa", "k1").status(),
            400);
  WireHeaders no_secret = {{"Idempotency-Key", "k1"}};
  EXPECT_EQ(client.ask({"POST", "/v1/charges", "", no_secret, charge_form, 0, 0}).status(), 401);
  const Answered limited = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(limited.status(), 429);
  EXPECT_EQ(limited.at("error.code"), "rate_limit");
  EXPECT_EQ(limited.header("Stripe-Rate-Limited-Reason"), "global-rate");
  client.pass(std::chrono::milliseconds(500));
  const Answered paid = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(paid.status(), 200);
  EXPECT_EQ(paid.header("Idempotent-Replayed"), "");
}

TEST(SimulatorKeys, ValidatesBeforeItLooksAtTheKey) {
  ApiClient client;
  client.post("/v1/charges", charge_form, "k1");
  const Answered invalid = client.post("/v1/charges", "amount=x&currency=usd&source=tok_a", "k1");
  EXPECT_EQ(invalid.at("error.type"), "invalid_request_error");
}

TEST(SimulatorKeys, RefusesKeysThatAreTooLongEmptyOrRepeated) {
  ApiClient client;
  EXPECT_EQ(client.post("/v1/charges", charge_form, std::string(256, 'k')).status(), 400);
  EXPECT_EQ(client.post("/v1/charges", charge_form, std::string(255, 'k')).status(), 200);
  WireHeaders twice = client.headers("k1");
  twice.emplace_back("idempotency-key", "k2");
  EXPECT_EQ(client.ask({"POST", "/v1/charges", "", twice, charge_form, 0, 0}).status(), 400);
  WireHeaders empty = client.headers("");
  empty.emplace_back("Idempotency-Key", "");
  EXPECT_EQ(client.ask({"POST", "/v1/charges", "", empty, charge_form, 0, 0}).status(), 400);
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorKeys, Answers409WhileTheFirstRequestRuns) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"slow","delay_s":90,"commit_at":"end","count":1}]})");
  const RequestNr first = client.begin_post("/v1/charges", charge_form, "k1");
  client.pass(std::chrono::seconds(80));
  const Answered conflict = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(conflict.status(), 409);
  EXPECT_EQ(conflict.at("error.type"), "invalid_request_error");
  EXPECT_EQ(conflict.at("error.code"), "idempotency_key_in_use");
  EXPECT_EQ(client.post("/v1/charges", "amount=1&currency=usd&source=tok_a", "k1").at("error.type"),
            "idempotency_error");
  EXPECT_TRUE(client.provider.ledger().rows().empty());
  client.pass(std::chrono::seconds(10));
  EXPECT_EQ(client.answer(first)->status(), 200);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "true");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorKeys, ForgetsAKeyADayAfterItsFirstReceipt) {
  SimulatorSettings settings;
  settings.frozen_at = Timestamp{1'788'220'800'000};
  ApiClient client(settings);
  client.post("/v1/charges", charge_form, "k1");
  client.provider.advance_clock(std::chrono::hours(24) - std::chrono::milliseconds(1));
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "true");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
  client.provider.advance_clock(std::chrono::milliseconds(1));
  // A new request as far as the provider knows: this is the second charge that clients must avoid.
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "");
  EXPECT_EQ(client.provider.ledger().rows().size(), 2U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "true");
}

TEST(SimulatorKeys, HaveNoEffectOnGet) {
  ApiClient client;
  const Answered made = client.post("/v1/payment_intents", intent_form, "k1");
  const std::string path = "/v1/payment_intents/" + made.at("id");
  const auto read = [&] { return client.ask({"GET", path, "", client.headers("g"), "", 0, 0}); };
  EXPECT_EQ(read().at("status"), "requires_confirmation");
  client.post(path + "/confirm", "", "k2");
  EXPECT_EQ(read().at("status"), "succeeded");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "g").status(), 200);
}

TEST(SimulatorKeys, ReplayADeclineAlsoAfterTheIntentWasPaid) {
  ApiClient client;
  const Answered made = client.post("/v1/payment_intents", intent_form, "k1");
  const std::string confirm = "/v1/payment_intents/" + made.at("id") + "/confirm";
  client.faults(R"({"rules":[{"kind":"decline","code":"do_not_honor","count":1}]})");
  EXPECT_EQ(client.post(confirm, "payment_method=pm_1", "k2").status(), 402);
  EXPECT_EQ(client.post(confirm, "payment_method=pm_1", "k3").status(), 200);
  EXPECT_EQ(client.post(confirm, "payment_method=pm_1", "k2").status(), 402);
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

}  // namespace
}  // namespace onceward::provider::simulator
