// Conformance of a payment provider's API: what our client relies on, asked from outside only. Runs
// against the simulator, in process and behind a socket, and against any server whose base URL is
// in ONCEWARD_CONFORMANCE_URL (its secret key in ONCEWARD_CONFORMANCE_KEY).
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "tests/provider/conformance/target.hpp"

namespace onceward::test {
namespace {

class ProviderConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    target = make_conformance_target(GetParam());
    ASSERT_NE(target, nullptr);
  }
  /// A key that no earlier run against the same server has used.
  static std::string new_key() {
    static std::random_device device;
    static std::uint64_t count = 0;
    return "conformance-" + std::to_string(device()) + "-" + std::to_string(++count);
  }
  ConformanceReply post(const std::string& path, const std::string& form,
                        const std::string& key = new_key()) {
    return target->ask({"POST", path, form, key, true});
  }
  ConformanceReply get(const std::string& path) { return target->ask({"GET", path, "", "", true}); }

  static std::string intent_form(const std::string& method = "pm_card_visa") {
    return "amount=4990&currency=usd&payment_method_types[0]=card&payment_method=" + method +
           "&metadata[period]=2026-08";
  }
  std::string new_intent() {
    const auto made = post("/v1/payment_intents", intent_form());
    EXPECT_EQ(made.status, 200);
    return "/v1/payment_intents/" + made.at("id");
  }

  std::unique_ptr<ConformanceTarget> target;
};

TEST_P(ProviderConformance, CreatesAndReadsACustomer) {
  const auto made = post("/v1/customers", "name=Ann&metadata[a]=b");
  ASSERT_EQ(made.status, 200);
  EXPECT_EQ(made.at("object"), "customer");
  const auto read = get("/v1/customers/" + made.at("id"));
  EXPECT_EQ(read.at("name"), "Ann");
  EXPECT_EQ(read.at("metadata.a"), "b");
}

TEST_P(ProviderConformance, AnUnconfirmedIntentTakesNoMoney) {
  const auto made = post("/v1/payment_intents", intent_form());
  ASSERT_EQ(made.status, 200);
  EXPECT_EQ(made.at("status"), "requires_confirmation");
  EXPECT_EQ(made.at("amount"), "4990");
  EXPECT_EQ(made.at("amount_received"), "0");
  EXPECT_EQ(made.at("latest_charge"), "");
  EXPECT_EQ(made.at("metadata.period"), "2026-08");
}

TEST_P(ProviderConformance, AnIntentSucceedsOnce) {
  const std::string intent = new_intent();
  const auto paid = post(intent + "/confirm", "off_session=true");
  ASSERT_EQ(paid.status, 200);
  EXPECT_EQ(paid.at("status"), "succeeded");
  EXPECT_EQ(paid.at("amount_received"), "4990");
  EXPECT_NE(paid.at("latest_charge"), "");
  const auto again = post(intent + "/confirm", "off_session=true");
  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(again.at("error.code"), "payment_intent_unexpected_state");
  EXPECT_EQ(get(intent).at("latest_charge"), paid.at("latest_charge"));
}

TEST_P(ProviderConformance, ReplaysUnderTheSameKey) {
  const std::string key = new_key();
  const auto first = post("/v1/payment_intents", intent_form(), key);
  const auto again = post("/v1/payment_intents", intent_form(), key);
  ASSERT_EQ(first.status, 200);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(first.header("idempotent-replayed"), "");
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_NE(again.header("request-id"), first.header("request-id"));
}

TEST_P(ProviderConformance, ComparesParametersWithoutRegardToTheirOrder) {
  const std::string key = new_key();
  const auto first = post("/v1/customers", "name=Ann&email=a%40b.c", key);
  const auto again = post("/v1/customers", "email=a%40b.c&name=Ann", key);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.at("id"), first.at("id"));
}

TEST_P(ProviderConformance, RefusesAKeyWithOtherParametersOrAnotherEndpoint) {
  const std::string key = new_key();
  ASSERT_EQ(post("/v1/payment_intents", intent_form(), key).status, 200);
  const auto params = post("/v1/payment_intents", intent_form() + "&description=x", key);
  EXPECT_EQ(params.status, 400);
  EXPECT_EQ(params.at("error.type"), "idempotency_error");
  const auto endpoint = post(new_intent() + "/confirm", "off_session=true", key);
  EXPECT_EQ(endpoint.status, 400);
  EXPECT_EQ(endpoint.at("error.type"), "idempotency_error");
}

TEST_P(ProviderConformance, DoesNotSaveWhatFailedValidation) {
  const std::string key = new_key();
  const auto bad = post("/v1/payment_intents", "amount=x&currency=usd", key);
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.at("error.type"), "invalid_request_error");
  EXPECT_EQ(post("/v1/payment_intents", intent_form(), key).status, 200);
}

TEST_P(ProviderConformance, SavesADeclineAndLeavesTheIntentPayable) {
  const auto made = post("/v1/payment_intents", intent_form("pm_card_visa_chargeDeclined"));
  const std::string intent = "/v1/payment_intents/" + made.at("id");
  const std::string key = new_key();
  const auto declined = post(intent + "/confirm", "off_session=true", key);
  EXPECT_EQ(declined.status, 402);
  EXPECT_EQ(declined.at("error.type"), "card_error");
  EXPECT_EQ(declined.at("error.code"), "card_declined");
  EXPECT_NE(declined.at("error.decline_code"), "");
  EXPECT_EQ(declined.at("error.payment_intent.status"), "requires_payment_method");
  const auto replayed = post(intent + "/confirm", "off_session=true", key);
  EXPECT_EQ(replayed.status, 402);
  EXPECT_EQ(replayed.header("idempotent-replayed"), "true");
  EXPECT_EQ(post(intent + "/confirm", "off_session=true&payment_method=pm_card_visa").at("status"),
            "succeeded");
}

TEST_P(ProviderConformance, AsksForAuthenticationOffSessionBy402) {
  const auto made = post("/v1/payment_intents", intent_form("pm_card_authenticationRequired"));
  const std::string path = "/v1/payment_intents/" + made.at("id") + "/confirm";
  const auto refused = post(path, "off_session=true");
  EXPECT_EQ(refused.status, 402);
  EXPECT_EQ(refused.at("error.code"), "authentication_required");
}

TEST_P(ProviderConformance, CancelsAnIntentForGood) {
  const std::string intent = new_intent();
  const auto canceled = post(intent + "/cancel", "cancellation_reason=abandoned");
  EXPECT_EQ(canceled.at("status"), "canceled");
  EXPECT_EQ(post(intent + "/confirm", "off_session=true").at("error.code"),
            "payment_intent_unexpected_state");
}

TEST_P(ProviderConformance, RefusesLongKeysMissingKeysAndUnknownThings) {
  EXPECT_EQ(post("/v1/customers", "name=a", std::string(256, 'k')).status, 400);
  EXPECT_EQ(target->ask({"GET", "/v1/customers", "", "", false}).status, 401);
  const auto unknown = get("/v1/payment_intents/pi_1");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.at("error.code"), "resource_missing");
  EXPECT_EQ(post("/v1/payment_intents", intent_form() + "&colour=red").at("error.code"),
            "parameter_unknown");
  EXPECT_EQ(post("/v1/payment_intents", "currency=usd").at("error.code"), "parameter_missing");
}

TEST_P(ProviderConformance, ListsNewestFirstInPages) {
  const std::string customer = post("/v1/customers", "name=Ann").at("id");
  std::vector<std::string> ids;
  for (int nr = 0; nr < 3; ++nr) {
    ids.push_back(post("/v1/payment_intents", intent_form() + "&customer=" + customer).at("id"));
  }
  const std::string list = "/v1/payment_intents?customer=" + customer + "&limit=2";
  const auto first = get(list);
  ASSERT_EQ(first.status, 200);
  EXPECT_EQ(first.at("data.0.id"), ids[2]);
  EXPECT_EQ(first.at("data.1.id"), ids[1]);
  EXPECT_EQ(first.at("has_more"), "true");
  const auto second = get(list + "&starting_after=" + ids[1]);
  EXPECT_EQ(second.at("data.0.id"), ids[0]);
  EXPECT_EQ(second.at("has_more"), "false");
  EXPECT_EQ(get(list + "&created%5Blt%5D=1000").at("data.0.id"), "");
}

TEST_P(ProviderConformance, ChargesInOneCallAndReadsBack) {
  const auto paid = post("/v1/charges", "amount=700&currency=usd&source=tok_visa");
  ASSERT_EQ(paid.status, 200);
  EXPECT_EQ(paid.at("object"), "charge");
  EXPECT_EQ(paid.at("status"), "succeeded");
  EXPECT_EQ(get("/v1/charges/" + paid.at("id")).at("amount"), "700");
  const auto declined =
      post("/v1/charges", "amount=700&currency=usd&source=tok_chargeDeclinedInsufficientFunds");
  EXPECT_EQ(declined.status, 402);
  EXPECT_EQ(declined.at("error.decline_code"), "insufficient_funds");
}

TEST_P(ProviderConformance, RefundsNoMoreThanWasTaken) {
  const std::string intent = new_intent();
  const auto paid = post(intent + "/confirm", "off_session=true");
  const std::string form = "charge=" + paid.at("latest_charge");
  const auto part = post("/v1/refunds", form + "&amount=1000");
  ASSERT_EQ(part.status, 200);
  EXPECT_EQ(part.at("object"), "refund");
  EXPECT_EQ(part.at("amount"), "1000");
  EXPECT_EQ(post("/v1/refunds", form + "&amount=3991").status, 400);
  EXPECT_EQ(post("/v1/refunds", form).at("amount"), "3990");
  EXPECT_EQ(post("/v1/refunds", form).at("error.code"), "charge_already_refunded");
  EXPECT_EQ(get("/v1/charges/" + paid.at("latest_charge")).at("refunded"), "true");
  EXPECT_EQ(get("/v1/refunds?" + form).at("data.1.id"), part.at("id"));
}

TEST_P(ProviderConformance, NamesTheKeyInTheEvent) {
  const std::string key = new_key();
  const auto made = post("/v1/payment_intents", intent_form(), key);
  const auto events = get("/v1/events?type=payment_intent.created&limit=100");
  if (events.status == 404) GTEST_SKIP() << "skipped: this server has no list of events";
  for (int nr = 0; nr < 100; ++nr) {
    const std::string at = "data." + std::to_string(nr) + ".";
    if (events.at(at + "data.object.id") != made.at("id")) continue;
    EXPECT_EQ(events.at(at + "request.idempotency_key"), key);
    return;
  }
  FAIL() << "no event about " << made.at("id");
}

TEST_P(ProviderConformance, TellsItsTimeWithEveryAnswer) {
  for (const auto& reply : {get("/v1/customers?limit=1"), get("/v1/payment_intents/pi_1")}) {
    std::tm parsed{};
    EXPECT_NE(::strptime(reply.header("date").c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parsed),
              nullptr)
        << reply.header("date");
    EXPECT_NE(reply.header("request-id"), "");
  }
}

INSTANTIATE_TEST_SUITE_P(, ProviderConformance, ::testing::ValuesIn(conformance_target_names()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace onceward::test
