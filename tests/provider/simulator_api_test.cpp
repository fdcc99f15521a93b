// The provider's API as a client sees it: both flows, their states, errors, validation, lists.
#include <gtest/gtest.h>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

TEST(SimulatorApi, ChargesInOneCall) {
  ApiClient client;
  const Answered charge = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(charge.status(), 200);
  EXPECT_EQ(charge.at("object"), "charge");
  EXPECT_EQ(charge.at("status"), "succeeded");
  EXPECT_EQ(charge.at("amount"), "4990");
  EXPECT_EQ(charge.at("currency"), "usd");
  EXPECT_EQ(charge.at("customer"), "cus_9");
  EXPECT_EQ(charge.at("metadata.onceward_period"), "2026-08");
  EXPECT_EQ(charge.at("created"), "1788220800");
  EXPECT_EQ(charge.header("Idempotency-Key"), "k1");
  EXPECT_EQ(charge.header("Date"), "Tue, 01 Sep 2026 00:00:00 GMT");
  EXPECT_EQ(charge.header("Request-Id").substr(0, 4), "req_");
  EXPECT_EQ(client.get("/v1/charges/" + charge.at("id")).json(), charge.json());

  ASSERT_EQ(client.provider.ledger().rows().size(), 1U);
  const LedgerRow& row = client.provider.ledger().rows()[0];
  const LedgerRow expected{1,           {1'788'220'800'000},
                           "acme",      "cust_123",
                           "2026-08",   "subscription",
                           "",          charge.at("id"),
                           4990,        "usd",
                           "k1",        charge.header("Request-Id"),
                           "succeeded", ""};
  EXPECT_EQ(row, expected);
}

TEST(SimulatorApi, MovesNoMoneyBeforeAnIntentIsConfirmed) {
  ApiClient client;
  const Answered created = client.post("/v1/payment_intents", intent_form, "k1");
  EXPECT_EQ(created.status(), 200);
  EXPECT_EQ(created.at("status"), "requires_confirmation");
  EXPECT_EQ(created.at("latest_charge"), "");
  EXPECT_TRUE(client.provider.ledger().rows().empty());

  const std::string path = "/v1/payment_intents/" + created.at("id");
  const Answered confirmed = client.post(path + "/confirm", "off_session=true", "k2");
  EXPECT_EQ(confirmed.at("status"), "succeeded");
  EXPECT_EQ(confirmed.at("amount_received"), "4990");
  ASSERT_EQ(client.provider.ledger().rows().size(), 1U);
  const LedgerRow& row = client.provider.ledger().rows()[0];
  EXPECT_EQ(row.payment_intent, created.at("id"));
  EXPECT_EQ(row.charge, confirmed.at("latest_charge"));
  EXPECT_EQ(row.customer, "cust_123");
  EXPECT_EQ(row.key, "k2");
  EXPECT_EQ(client.get(path).at("status"), "succeeded");
  EXPECT_EQ(client.get(path, "expand[]=latest_charge").at("latest_charge.status"), "succeeded");
}

TEST(SimulatorApi, ConfirmsInOneStep) {
  ApiClient client;
  const Answered made =
      client.post("/v1/payment_intents", intent_form + "&confirm=true&off_session=true", "k1");
  EXPECT_EQ(made.at("status"), "succeeded");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorApi, NeverChargesASucceededIntentAgain) {
  ApiClient client;
  const Answered made = client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
  const std::string path = "/v1/payment_intents/" + made.at("id");
  for (const char* key : {"k2", "k3"}) {
    const Answered again = client.post(path + "/confirm", "payment_method=pm_card_visa", key);
    EXPECT_EQ(again.status(), 400);
    EXPECT_EQ(again.at("error.type"), "invalid_request_error");
    EXPECT_EQ(again.at("error.code"), "payment_intent_unexpected_state");
    EXPECT_EQ(again.at("error.payment_intent.status"), "succeeded");
  }
  EXPECT_EQ(client.post(path + "/cancel", "", "k4").at("error.code"),
            "payment_intent_unexpected_state");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorApi, DeclinesByTestPaymentMethodAndKeepsTheIntentPayable) {
  ApiClient client;
  const Answered created = client.post("/v1/payment_intents", intent_form, "k1");
  const std::string path = "/v1/payment_intents/" + created.at("id");
  const Answered declined =
      client.post(path + "/confirm",
                  "off_session=true&payment_method=pm_card_chargeDeclinedInsufficientFunds", "k2");
  EXPECT_EQ(declined.status(), 402);
  EXPECT_EQ(declined.at("error.type"), "card_error");
  EXPECT_EQ(declined.at("error.code"), "card_declined");
  EXPECT_EQ(declined.at("error.decline_code"), "insufficient_funds");
  EXPECT_EQ(declined.at("error.payment_intent.status"), "requires_payment_method");
  EXPECT_EQ(client.get("/v1/charges/" + declined.at("error.charge")).at("status"), "failed");
  const Answered seen = client.get(path);
  EXPECT_EQ(seen.at("last_payment_error.charge"), declined.at("error.charge"));
  EXPECT_EQ(seen.at("payment_method"), "");
  EXPECT_TRUE(client.provider.ledger().rows().empty());

  EXPECT_EQ(client.post(path + "/confirm", "", "k3").at("error.code"),
            "payment_intent_unexpected_state");
  const Answered paid = client.post(path + "/confirm", "payment_method=pm_card_visa", "k4");
  EXPECT_EQ(paid.at("status"), "succeeded");
  EXPECT_EQ(paid.at("last_payment_error"), "");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

TEST(SimulatorApi, DeclinesChargesBySource) {
  ApiClient client;
  const Answered declined = client.post(
      "/v1/charges", "amount=100&currency=usd&source=tok_visa_chargeDeclinedExpiredCard", "k1");
  EXPECT_EQ(declined.status(), 402);
  EXPECT_EQ(declined.at("error.code"), "expired_card");
  EXPECT_TRUE(client.provider.ledger().rows().empty());
}

TEST(SimulatorApi, AsksForAuthenticationByWhetherThePayerIsThere) {
  ApiClient client;
  const std::string secure = "amount=500&currency=usd&payment_method=pm_card_threeDSecureRequired";
  const Answered absent =
      client.post("/v1/payment_intents", secure + "&confirm=true&off_session=true", "k1");
  EXPECT_EQ(absent.status(), 402);
  EXPECT_EQ(absent.at("error.code"), "authentication_required");
  EXPECT_EQ(absent.at("error.decline_code"), "authentication_required");
  const Answered present = client.post("/v1/payment_intents", secure + "&confirm=true", "k2");
  EXPECT_EQ(present.status(), 200);
  EXPECT_EQ(present.at("status"), "requires_action");
  EXPECT_TRUE(client.provider.ledger().rows().empty());
}

TEST(SimulatorApi, RemembersTheTokenOfAPaymentMethod) {
  ApiClient client;
  const Answered method =
      client.post("/v1/payment_methods", "type=card&card[number]=4000000000000341", "k1");
  EXPECT_EQ(method.status(), 200);
  EXPECT_EQ(client.post("/v1/payment_methods/" + method.at("id") + "/attach", "customer=cus_1")
                .at("customer"),
            "cus_1");
  const Answered declined =
      client.post("/v1/payment_intents",
                  "amount=500&currency=usd&confirm=true&payment_method=" + method.at("id"), "k2");
  EXPECT_EQ(declined.status(), 402);
}

TEST(SimulatorApi, CancelsAnUnpaidIntentForGood) {
  ApiClient client;
  const Answered created = client.post("/v1/payment_intents", intent_form, "k1");
  const std::string path = "/v1/payment_intents/" + created.at("id");
  const Answered canceled = client.post(path + "/cancel", "cancellation_reason=abandoned", "k2");
  EXPECT_EQ(canceled.at("status"), "canceled");
  EXPECT_EQ(client.post(path + "/confirm", "", "k3").at("error.code"),
            "payment_intent_unexpected_state");
  EXPECT_TRUE(client.provider.ledger().rows().empty());
}

TEST(SimulatorApi, UpdatesAnIntentUntilItIsPaid) {
  ApiClient client;
  const Answered created = client.post("/v1/payment_intents", "amount=500&currency=usd", "k1");
  EXPECT_EQ(created.at("status"), "requires_payment_method");
  const std::string path = "/v1/payment_intents/" + created.at("id");
  const Answered updated =
      client.post(path, "amount=700&payment_method=pm_1&metadata[a]=1&metadata[b]=2", "k2");
  EXPECT_EQ(updated.at("amount"), "700");
  EXPECT_EQ(updated.at("status"), "requires_confirmation");
  EXPECT_EQ(client.post(path, "metadata[a]=", "k3").at("metadata.a"), "");
  EXPECT_EQ(client.get(path).at("metadata.b"), "2");
  EXPECT_EQ(client.post(path + "/confirm", "", "k4").at("amount_received"), "700");
  EXPECT_EQ(client.post(path, "amount=900", "k5").at("error.code"),
            "payment_intent_unexpected_state");
}

TEST(SimulatorApi, KeepsCustomers) {
  ApiClient client;
  const Answered made = client.post("/v1/customers", "email=a@b.c&metadata[x]=y", "k1");
  EXPECT_EQ(made.at("object"), "customer");
  EXPECT_EQ(client.get("/v1/customers/" + made.at("id")).at("metadata.x"), "y");
  EXPECT_EQ(client.post("/v1/customers/" + made.at("id"), "name=N").at("name"), "N");
  EXPECT_EQ(client.get("/v1/customers", "email=a@b.c").at("data.0.id"), made.at("id"));
  EXPECT_EQ(client.get("/v1/customers/cus_no").status(), 404);
  EXPECT_EQ(client.get("/v1/account").at("object"), "account");
}

TEST(SimulatorApi, RefusesUnknownCustomersOnlyWhenTold) {
  ApiClient lenient;
  EXPECT_EQ(lenient.post("/v1/charges", charge_form, "k1").status(), 200);
  SimulatorSettings settings;
  settings.strict_customers = true;
  ApiClient strict(settings);
  const Answered refused = strict.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(refused.status(), 400);
  EXPECT_EQ(refused.at("error.code"), "resource_missing");
  EXPECT_EQ(strict.post("/v1/payment_intents", intent_form, "k2").status(), 400);
  EXPECT_TRUE(strict.provider.ledger().rows().empty());
}

struct Invalid {
  const char* form;
  const char* code;
  const char* param;
};

TEST(SimulatorApi, ValidatesCharges) {
  const Invalid cases[] = {
      {"currency=usd&source=tok_visa", "parameter_missing", "amount"},
      {"amount=100&source=tok_visa", "parameter_missing", "currency"},
      {"amount=100&currency=usd", "parameter_missing", "source"},
      {"amount=x&currency=usd&source=tok_visa", "parameter_invalid_integer", "amount"},
      {"amount=1.5&currency=usd&source=tok_visa", "parameter_invalid_integer", "amount"},
      {"amount=0&currency=usd&source=tok_visa", "parameter_invalid_integer", "amount"},
      {"amount=-5&currency=usd&source=tok_visa", "parameter_invalid_integer", "amount"},
      {"amount=&currency=usd&source=tok_visa", "parameter_invalid_empty", "amount"},
      {"amount=100000000&currency=usd&source=tok_visa", "amount_too_large", "amount"},
      {"amount=100&currency=USD&source=tok_visa", "", "currency"},
      {"amount=100&currency=xyz&source=tok_visa", "", "currency"},
      {"amount=1001&currency=isk&source=tok_visa", "invalid_amount", "amount"},
      {"amount=1050&currency=ugx&source=tok_visa", "invalid_amount", "amount"},
      {"amount=5124&currency=kwd&source=tok_visa", "invalid_amount", "amount"},
      {"amount=100&currency=usd&source=visa", "", "source"},
      {"amount=100&currency=usd&source=tok_visa&payment_method=pm_1", "parameter_unknown",
       "payment_method"},
      {"amount=100&currency=usd&source=tok_visa&capture=yes", "", "capture"},
      {"amount[a]=100&currency=usd&source=tok_visa", "", "amount[a]"},
      {"amount=100&currency=usd&source=tok_visa&metadata=x", "", "metadata"},
      {"amount=100&currency=usd&source=tok_visa&metadata[a][b]=x", "", "metadata[a][b]"},
      {"amount=100&currency=usd&amount=100&source=tok_visa", "", ""},
  };
  ApiClient client;
  for (const Invalid& invalid : cases) {
    const Answered refused = client.post("/v1/charges", invalid.form, "k1");
    EXPECT_EQ(refused.status(), 400) << invalid.form;
    EXPECT_EQ(refused.at("error.type"), "invalid_request_error") << invalid.form;
    EXPECT_EQ(refused.at("error.code"), invalid.code) << invalid.form;
    EXPECT_EQ(refused.at("error.param"), invalid.param) << invalid.form;
  }
  EXPECT_TRUE(client.provider.ledger().rows().empty());
  // None of these was saved: the key is still free.
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
}

TEST(SimulatorApi, BoundsMetadata) {
  ApiClient client;
  const std::string base = "amount=100&currency=usd&source=tok_visa";
  const auto status = [&](const std::string& more) {
    return client.post("/v1/charges", base + more).status();
  };
  EXPECT_EQ(status("&metadata[" + std::string(40, 'k') + "]=1"), 200);
  EXPECT_EQ(status("&metadata[" + std::string(41, 'k') + "]=1"), 400);
  EXPECT_EQ(status("&metadata[k]=" + std::string(500, 'v')), 200);
  EXPECT_EQ(status("&metadata[k]=" + std::string(501, 'v')), 400);
  std::string fifty;
  for (int nr = 0; nr < 50; ++nr) fifty += "&metadata[k" + std::to_string(nr) + "]=1";
  EXPECT_EQ(status(fifty), 200);
  EXPECT_EQ(status(fifty + "&metadata[more]=1"), 400);
}

TEST(SimulatorApi, TakesAmountsOfEveryExponent) {
  ApiClient client;
  for (const char* money :
       {"amount=80&currency=jpy", "amount=5120&currency=kwd", "amount=500&currency=isk",
        "amount=5000&currency=mga", "amount=99999999&currency=usd", "amount=50&currency=usd"}) {
    const std::string form = std::string(money) + "&source=tok_visa";
    EXPECT_EQ(client.post("/v1/charges", form).status(), 200) << money;
  }
}

TEST(SimulatorApi, RefusesAmountsBelowTheMinimum) {
  ApiClient client;
  const std::string form = "amount=49&currency=usd&source=tok_visa&payment_method=pm_1";
  EXPECT_EQ(
      client.post("/v1/charges", "amount=49&currency=usd&source=tok_visa", "k1").at("error.code"),
      "amount_too_small");
  EXPECT_EQ(client.post("/v1/payment_intents", "amount=49&currency=usd", "k2").at("error.code"),
            "amount_too_small");
}

TEST(SimulatorApi, TakesOffSessionOnlyWithConfirm) {
  ApiClient client;
  const Answered refused =
      client.post("/v1/payment_intents", intent_form + "&off_session=true", "k1");
  EXPECT_EQ(refused.status(), 400);
  EXPECT_EQ(refused.at("error.param"), "off_session");
}

TEST(SimulatorApi, WantsATestKey) {
  ApiClient client;
  const auto status = [&](const WireHeaders& headers) {
    return client.ask({"GET", "/v1/account", "", headers, "", 0, 0}).status();
  };
  EXPECT_EQ(status({}), 401);
  EXPECT_EQ(status({{"authorization", "Bearer sk_test_x"}}), 200);
  EXPECT_EQ(status({{"Authorization", "bearer rk_test_x"}}), 200);
  EXPECT_EQ(status({{"Authorization", "Basic c2tfdGVzdF94Og=="}}), 200);  // sk_test_x:
  EXPECT_EQ(status({{"Authorization", "Bearer sk_live_x"}}), 401);
  EXPECT_EQ(status({{"Authorization", "Bearer nonsense"}}), 401);
  EXPECT_EQ(status({{"Authorization", "sk_test_x"}}), 401);
}

TEST(SimulatorApi, RefusesUnknownPathsMethodsAndBodies) {
  ApiClient client;
  EXPECT_EQ(client.get("/v1/nothing").status(), 404);
  EXPECT_EQ(client.get("/v2/charges").status(), 404);
  EXPECT_EQ(client.get("/v1/charges/ch_no").status(), 404);
  EXPECT_EQ(client.post("/v1/payment_intents/pi_no/confirm", "", "k").status(), 404);
  EXPECT_EQ(client.ask({"DELETE", "/v1/charges", "", client.headers(""), "", 0, 0}).status(), 405);
  WireHeaders json = {{"Authorization", "Bearer sk_test_1"}, {"Content-Type", "application/json"}};
  EXPECT_EQ(client.ask({"POST", "/v1/charges", "", json, "{}", 0, 0}).status(), 400);
}

TEST(SimulatorApi, ListsNewestFirstInPages) {
  ApiClient client;
  std::vector<std::string> ids;
  for (int nr = 0; nr < 5; ++nr) {
    ids.push_back(client.post("/v1/payment_intents", intent_form).at("id"));
    client.pass(std::chrono::seconds(10));
  }
  client.post("/v1/payment_intents", "amount=100&currency=usd&customer=cus_other");
  const Answered first = client.get("/v1/payment_intents", "customer=cus_9&limit=2");
  EXPECT_EQ(first.at("data.0.id"), ids[4]);
  EXPECT_EQ(first.at("data.1.id"), ids[3]);
  EXPECT_EQ(first.at("data.2.id"), "");
  EXPECT_EQ(first.at("has_more"), "true");
  const Answered last =
      client.get("/v1/payment_intents", "customer=cus_9&limit=3&starting_after=" + ids[3]);
  EXPECT_EQ(last.at("data.0.id"), ids[2]);
  EXPECT_EQ(last.at("data.2.id"), ids[0]);
  EXPECT_EQ(last.at("has_more"), "false");
  const Answered back =
      client.get("/v1/payment_intents", "customer=cus_9&limit=2&ending_before=" + ids[0]);
  EXPECT_EQ(back.at("data.0.id"), ids[2]);
  EXPECT_EQ(back.at("data.1.id"), ids[1]);
  EXPECT_EQ(back.at("has_more"), "true");
  EXPECT_EQ(client.get("/v1/payment_intents").json().as_object()["data"].as_array().size(), 6U);
}

TEST(SimulatorApi, FiltersListsByTimeAndIntent) {
  ApiClient client;
  const Answered early = client.post("/v1/charges", charge_form);
  client.pass(std::chrono::seconds(10));
  const Answered late = client.post("/v1/charges", charge_form);
  const std::string at = early.at("created");
  const auto ids = [&](const std::string& query) {
    const Answered page = client.get("/v1/charges", query);
    return page.at("data.0.id") + " " + page.at("data.1.id");
  };
  EXPECT_EQ(ids("created[gt]=" + at), late.at("id") + " ");
  EXPECT_EQ(ids("created[gte]=" + at), late.at("id") + " " + early.at("id"));
  EXPECT_EQ(ids("created[lt]=" + late.at("created")), early.at("id") + " ");
  EXPECT_EQ(ids("created[lte]=" + at), early.at("id") + " ");
  EXPECT_EQ(ids("created=" + at), early.at("id") + " ");
  const Answered intent = client.post("/v1/payment_intents", intent_form + "&confirm=true");
  EXPECT_EQ(ids("payment_intent=" + intent.at("id")), intent.at("latest_charge") + " ");
}

TEST(SimulatorApi, RefusesBadPages) {
  ApiClient client;
  for (const char* query :
       {"limit=0", "limit=101", "limit=x", "starting_after=pi_no",
        "starting_after=a&ending_before=b", "created[x]=1", "created[gt]=x", "status=succeeded"}) {
    EXPECT_EQ(client.get("/v1/payment_intents", query).status(), 400) << query;
  }
}

TEST(SimulatorApi, IsReproducibleFromItsSeed) {
  const auto id = [](std::uint64_t seed) {
    SimulatorSettings settings;
    settings.seed = seed;
    ApiClient client(settings);
    return client.post("/v1/charges", charge_form, "k1").at("id");
  };
  EXPECT_EQ(id(1), id(1));
  EXPECT_NE(id(1), id(2));
}

}  // namespace
}  // namespace onceward::provider::simulator
