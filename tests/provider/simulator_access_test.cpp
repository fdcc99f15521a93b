// Disputes, which only others open, and API keys, which decide who may ask for what.
#include <gtest/gtest.h>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

TEST(SimulatorDisputes, AreOpenedAndClosedByControl) {
  ApiClient client;
  const std::string charge = client.post("/v1/charges", charge_form, "k1").at("id");
  const std::string form = R"({"charge":")" + charge + R"(","reason":"fraudulent"})";
  const Answered opened = client.control("POST", "/_sim/disputes", form);
  ASSERT_EQ(opened.status(), 200);
  EXPECT_EQ(opened.at("status"), "needs_response");
  EXPECT_EQ(opened.at("amount"), "4990");
  EXPECT_EQ(client.get("/v1/charges/" + charge).at("disputed"), "true");
  EXPECT_EQ(client.get("/v1/disputes", "charge=" + charge).at("data.0.id"), opened.at("id"));
  EXPECT_EQ(client.get("/v1/disputes/" + opened.at("id")).at("reason"), "fraudulent");
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge).at("error.code"), "charge_disputed");
  EXPECT_EQ(client.control("POST", "/_sim/disputes", form).status(), 409);

  const std::string close = R"({"dispute":")" + opened.at("id") + R"(","outcome":"won"})";
  EXPECT_EQ(client.control("POST", "/_sim/disputes/close", close).at("status"), "won");
  EXPECT_EQ(client.control("POST", "/_sim/disputes/close", close).status(), 409);
  EXPECT_EQ(client.post("/v1/disputes/" + opened.at("id") + "/close", "").status(), 400);
  EXPECT_EQ(client.get("/v1/events", "type=charge.dispute.*").json().at("data").as_array().size(),
            4U);
  EXPECT_EQ(client.control("POST", "/_sim/disputes", R"({"charge":"ch_1"})").status(), 404);
  EXPECT_EQ(client.control("POST", "/_sim/disputes", R"({"amount":1})").status(), 400);
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

class SimulatorApiKeys : public ::testing::Test {
 protected:
  Answered ask(const std::string& method, const std::string& path, const std::string& key,
               const std::string& form = "") {
    return client.ask({method,
                       path,
                       "",
                       {{"Authorization", "Bearer " + key},
                        {"Content-Type", std::string(test::form_type)},
                        {"Idempotency-Key", "k"}},
                       form,
                       1,
                       1});
  }
  void put(const std::string& json) {
    ASSERT_EQ(client.control("POST", "/_sim/api_keys", json).status(), 200);
  }
  ApiClient client;
};

TEST_F(SimulatorApiKeys, RestrictedKeysMayDoWhatTheyWereGiven) {
  put(R"({"key":"rk_test_1234567890","permissions":{"payment_intents":"write","charges":"read"}})");
  const std::string key = "rk_test_1234567890";
  EXPECT_EQ(ask("POST", "/v1/payment_intents", key, intent_form).status(), 200);
  EXPECT_EQ(ask("GET", "/v1/charges", key).status(), 200);
  const Answered refused = ask("POST", "/v1/charges", key, charge_form);
  EXPECT_EQ(refused.status(), 403);
  EXPECT_EQ(refused.at("error.type"), "invalid_request_error");
  EXPECT_NE(refused.at("error.message").find("charges_write"), std::string::npos);
  EXPECT_EQ(refused.at("error.message").find(key), std::string::npos);
  EXPECT_EQ(ask("GET", "/v1/events", key).status(), 403);
  EXPECT_EQ(client.provider.ledger().rows().size(), 0U);
  EXPECT_EQ(
      client.control("POST", "/_sim/api_keys", R"({"key":"a","permissions":{"a":"all"}})").status(),
      400);
}

TEST_F(SimulatorApiKeys, AreRegisteredUpToABound) {
  for (int nr = 0; nr < 1000; ++nr) put(R"({"key":"rk_test_)" + std::to_string(nr) + R"("})");
  EXPECT_EQ(client.control("POST", "/_sim/api_keys", R"({"key":"rk_test_more"})").status(), 400);
  EXPECT_EQ(ask("GET", "/v1/charges", "rk_test_999").status(), 403);  // was given nothing
}

TEST_F(SimulatorApiKeys, ExpireByTheProvidersClock) {
  put(R"({"key":"sk_test_short1234","expires_in_s":60})");
  EXPECT_EQ(ask("GET", "/v1/charges", "sk_test_short1234").status(), 200);
  client.pass(std::chrono::seconds(60));
  const Answered expired = ask("GET", "/v1/charges", "sk_test_short1234");
  EXPECT_EQ(expired.status(), 401);
  EXPECT_EQ(expired.at("error.code"), "api_key_expired");
}

TEST_F(SimulatorApiKeys, OfTheOtherModeSeeNothing) {
  EXPECT_EQ(ask("GET", "/v1/charges", "sk_live_1").status(), 401);  // unregistered
  put(R"({"key":"sk_live_1"})");
  const std::string id = client.post("/v1/charges", charge_form).at("id");
  const Answered mismatch = ask("GET", "/v1/charges/" + id, "sk_live_1");
  EXPECT_EQ(mismatch.status(), 404);
  EXPECT_NE(mismatch.at("error.message").find("exists in test mode"), std::string::npos);
  EXPECT_EQ(ask("POST", "/v1/charges", "sk_live_1", charge_form).status(), 403);
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);
}

}  // namespace
}  // namespace onceward::provider::simulator
