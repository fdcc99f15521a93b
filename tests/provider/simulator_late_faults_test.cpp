// Faults whose effect is not over with the answer, or lies in the connection: late repair, refused
// and stale connections, framing of cut bodies, short pages, limits, and the bound on keys.
#include <gtest/gtest.h>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

std::size_t charges(const ApiClient& client) {
  return client.provider.ledger().rows().size();
}

std::string confirm_path(ApiClient& client) {
  return "/v1/payment_intents/" + client.post("/v1/payment_intents", intent_form).at("id");
}

TEST(SimulatorLateFaults, RollsTheWorkBehindA500Forward) {
  ApiClient client;
  const std::string path = confirm_path(client);
  client.faults(R"({"rules":[{"kind":"late_repair","after_s":600,"then":"roll_forward"}]})");
  EXPECT_EQ(client.post(path + "/confirm", "off_session=true", "k1").status(), 500);
  EXPECT_EQ(client.get(path).at("status"), "requires_confirmation");
  EXPECT_EQ(charges(client), 0U);
  client.pass(std::chrono::seconds(599));
  EXPECT_EQ(client.get(path).at("status"), "requires_confirmation");
  client.pass(std::chrono::seconds(1));
  EXPECT_EQ(client.get(path).at("status"), "succeeded");
  ASSERT_EQ(charges(client), 1U);
  EXPECT_EQ(client.provider.ledger().rows()[0].key, "k1");
  EXPECT_EQ(client.provider.ledger().rows()[0].at, client.now);
  // The saved answer does not change, and the events tell the key.
  const Answered again = client.post(path + "/confirm", "off_session=true", "k1");
  EXPECT_EQ(again.status(), 500);
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(client.get("/v1/events", "type=payment_intent.succeeded")
                .at("data.0.request.idempotency_key"),
            "k1");
}

TEST(SimulatorLateFaults, ARepairOfAnIntentThatWasPaidMeanwhileTakesNothing) {
  ApiClient client;
  const std::string path = confirm_path(client);
  client.faults(R"({"rules":[{"kind":"late_repair","after_s":600,"count":1}]})");
  EXPECT_EQ(client.post(path + "/confirm", "off_session=true", "k1").status(), 500);
  EXPECT_EQ(client.post(path + "/confirm", "off_session=true", "k2").status(), 200);
  client.pass(std::chrono::seconds(600));
  EXPECT_EQ(client.get(path).at("status"), "succeeded");
  EXPECT_EQ(charges(client), 1U);
}

TEST(SimulatorLateFaults, RollsTheWorkBehindA500Back) {
  ApiClient client;
  const std::string path = confirm_path(client);
  client.faults(R"({"rules":[{"kind":"late_repair","after_s":600,"then":"roll_back"}]})");
  EXPECT_EQ(client.post(path + "/confirm", "off_session=true", "k1").status(), 500);
  EXPECT_EQ(client.get(path).at("status"), "processing");
  client.pass(std::chrono::seconds(600));
  EXPECT_EQ(client.get(path).at("status"), "requires_payment_method");
  EXPECT_EQ(charges(client), 0U);
  // A request that takes no money leaves nothing behind.
  EXPECT_EQ(client.post("/v1/payment_intents", intent_form, "k2").status(), 500);
  client.pass(std::chrono::seconds(600));
  EXPECT_EQ(client.get("/v1/payment_intents").json().at("data").as_array().size(), 1U);
}

TEST(SimulatorLateFaults, AConnectionThatDoesNotComeAboutExecutesNothing) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"drop_before","end":"refuse","for_ms":50,"count":1},
                             {"kind":"drop_before","end":"tls","count":1}]})");
  const Answered refused = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(refused.wire.ending, WireEnding::refused);
  EXPECT_EQ(refused.wire.closed_for, std::chrono::milliseconds(50));
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").wire.ending, WireEnding::tls_failed);
  EXPECT_EQ(charges(client), 0U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "");
  EXPECT_EQ(charges(client), 1U);
  const auto wrong =
      client.provider.set_faults(R"({"rules":[{"kind":"commit_drop","end":"refuse"}]})");
  EXPECT_FALSE(wrong.has_value());  // the request was read: it cannot have been refused
}

TEST(SimulatorLateFaults, ClosesConnectionsThatWereIdleTooLong) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"silent_keepalive_close","after_s":5,"end":"rst"}]})");
  const auto ask = [&](std::uint64_t connection, std::uint64_t nr) {
    return client.ask(
        {"POST", "/v1/charges", "", client.headers("k"), charge_form, connection, nr});
  };
  EXPECT_EQ(ask(7, 1).status(), 200);
  client.pass(std::chrono::milliseconds(4'999));
  EXPECT_EQ(ask(7, 2).status(), 200);
  client.pass(std::chrono::seconds(5));
  EXPECT_EQ(ask(7, 3).wire.ending, WireEnding::rst);
  EXPECT_EQ(ask(8, 1).status(), 200);  // a new connection is never stale
  EXPECT_EQ(charges(client), 1U);
}

TEST(SimulatorLateFaults, AnnouncesTheLengthOfACutBodyInSeveralWays) {
  ApiClient client;
  client.faults(R"({"rules":[
      {"kind":"commit_rst_mid","bytes":9,"framing":"chunked","end":"fin","count":1},
      {"kind":"commit_rst_mid","framing":"wrong_length","end":"fin","count":1}]})");
  const Answered chunked = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(chunked.wire.framing, WireFraming::chunked);
  EXPECT_EQ(chunked.wire.body_bytes_sent, 9U);
  const Answered wrong = client.post("/v1/charges", charge_form, "k2");
  EXPECT_EQ(wrong.wire.framing, WireFraming::wrong_length);
  EXPECT_EQ(wrong.wire.ending, WireEnding::fin);
  EXPECT_EQ(wrong.wire.body_bytes_sent, wrong.wire.body.size());
  EXPECT_EQ(charges(client), 2U);
}

TEST(SimulatorLateFaults, GivesAnswersThatAreRightButForOneMember) {
  ApiClient client;
  const auto odd = [&](const std::string& how, const std::string& key) {
    client.faults(R"({"rules":[{"kind":"odd_200","how":)" + how + R"(,"count":1}]})");
    return client.post("/v1/charges", charge_form, key).wire.body;
  };
  const auto member = [](const std::string& body, const char* name) {
    return test::at(test::parse_json(body), name);
  };
  EXPECT_EQ(odd(R"("missing")", "k1").find(R"("status")"), std::string::npos);
  EXPECT_NE(odd(R"("null","member":"id")", "k2").find(R"("id":null)"), std::string::npos);
  EXPECT_NE(odd(R"("as_text","member":"amount")", "k3").find(R"("amount":"4990")"),
            std::string::npos);
  const std::string twice = odd(R"("twice","member":"amount")", "k4");
  EXPECT_EQ(twice.substr(0, 15), R"({"amount":4991,)");
  EXPECT_NE(twice.find(R"("amount":4990)"), std::string::npos);
  EXPECT_EQ(member(odd(R"("upper","member":"currency")", "k5"), "currency"), "USD");
  EXPECT_EQ(member(odd(R"("replace","member":"customer","code":"cus_x")", "k6"), "customer"),
            "cus_x");
  EXPECT_EQ(odd(R"("html")", "k7").substr(0, 6), "<html>");
  EXPECT_EQ(charges(client), 7U);
  // Only the wire was odd: what is saved is right.
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k5").at("currency"), "usd");
  EXPECT_FALSE(
      client.provider.set_faults(R"({"rules":[{"kind":"odd_200","how":"x"}]})").has_value());
}

TEST(SimulatorLateFaults, SendsRetryAfterInAnyForm) {
  ApiClient client;
  for (const char* form : {"3", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "soon", "1.5"}) {
    client.faults(R"({"rules":[{"kind":"rl_429","retry_after":")" + std::string(form) + R"("}]})");
    EXPECT_EQ(client.post("/v1/charges", charge_form).header("Retry-After"), form);
  }
}

TEST(SimulatorLateFaults, ShowsShortPagesThatSayThereIsMore) {
  ApiClient client;
  for (const char* key : {"k1", "k2", "k3"}) client.post("/v1/charges", charge_form, key);
  client.faults(R"({"rules":[{"kind":"short_page","n":1,"match":{"method":"GET"},"count":2}]})");
  const Answered first = client.get("/v1/charges", "limit=100");
  EXPECT_EQ(first.json().at("data").as_array().size(), 1U);
  EXPECT_EQ(first.at("has_more"), "true");
  const std::string next = "limit=100&starting_after=" + first.at("data.0.id");
  EXPECT_EQ(client.get("/v1/charges", next).at("has_more"), "true");
  const Answered rest = client.get("/v1/charges", next);
  EXPECT_EQ(rest.json().at("data").as_array().size(), 2U);
  EXPECT_EQ(rest.at("has_more"), "false");
}

TEST(SimulatorLateFaults, LimitsEachEndpointBesideAllTogether) {
  SimulatorSettings settings;
  settings.rate_per_second = 3;
  settings.rate_per_endpoint = 2;
  ApiClient client(settings);
  EXPECT_EQ(client.get("/v1/charges").status(), 200);
  EXPECT_EQ(client.get("/v1/charges").status(), 200);
  const Answered endpoint = client.get("/v1/charges");
  EXPECT_EQ(endpoint.status(), 429);
  EXPECT_EQ(endpoint.header("Stripe-Rate-Limited-Reason"), "endpoint-rate");
  const Answered all = client.get("/v1/customers");
  EXPECT_EQ(all.status(), 429);
  EXPECT_EQ(all.header("Stripe-Rate-Limited-Reason"), "global-rate");
  client.pass(std::chrono::seconds(1));
  EXPECT_EQ(client.get("/v1/charges").status(), 200);
  EXPECT_EQ(client.control("POST", "/_sim/limits", R"({"rate_per_second":0})").status(), 200);
  for (int nr = 0; nr < 10; ++nr) EXPECT_EQ(client.get("/v1/charges").status(), 200);
  EXPECT_EQ(client.control("POST", "/_sim/limits", R"({"rate":1})").status(), 400);
}

TEST(SimulatorLateFaults, ForgetsExpiredKeysForRoomAndRefusesWhenNoneIs) {
  SimulatorSettings settings;
  settings.keys_max = 2;
  settings.collect_changes = true;
  ApiClient client(settings);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
  client.pass(std::chrono::hours(1));
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").status(), 200);
  const Answered full = client.post("/v1/charges", charge_form, "k3");
  EXPECT_EQ(full.status(), 503);
  EXPECT_NE(full.at("error.message").find("keys_max"), std::string::npos);
  EXPECT_EQ(charges(client), 2U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "true");
  (void)client.provider.take_changes();

  client.pass(std::chrono::hours(23));  // k1 has outlived its life, k2 has not
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k3").status(), 200);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").header("Idempotent-Replayed"), "true");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k4").status(), 503);
  EXPECT_EQ(client.control("GET", "/_sim/keys").json().as_array().size(), 2U);
  bool forgotten = false;
  for (const StoredRow& row : client.provider.take_changes()) {
    if (row.kind == "key" && row.id == "k1") forgotten = row.text.empty();
  }
  EXPECT_TRUE(forgotten);
}

TEST(SimulatorLateFaults, AKeyThatCameAgainIsNotForgottenWithItsPast) {
  SimulatorSettings settings;
  settings.keys_max = 2;
  ApiClient client(settings);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
  client.pass(std::chrono::hours(24));
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").status(), 200);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "true");
  EXPECT_EQ(charges(client), 3U);
}

}  // namespace
}  // namespace onceward::provider::simulator
