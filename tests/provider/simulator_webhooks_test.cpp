// Webhooks in virtual time: signatures, secrets, retries, order, and every fault of theirs.
#include <gtest/gtest.h>

#include <algorithm>

#include <onceward/core/digest.hpp>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

constexpr const char* secret = "whsec_1";

/// A receiver that keeps what it gets and answers as told.
struct Receiver {
  explicit Receiver(SimulatorSettings settings = {}) : client(settings) {
    client.provider.advance(client.now);  // what is registered carries the time
    id = client.provider.add_webhook_endpoint({"http://node/hook", secret, {"*"}}).value().id;
  }
  std::size_t deliver() {
    client.provider.advance(client.now);
    return client.provider.deliver_webhooks([this](const WebhookCall& call) {
      calls.push_back(call);
      return answer;
    });
  }
  std::string charge(const std::string& key) {
    return client.post("/v1/charges", charge_form, key).at("id");
  }
  void faults(const std::string& rules) { client.faults("{\"rules\":[" + rules + "]}"); }

  ApiClient client;
  std::string id;
  std::optional<int> answer = 200;
  std::vector<WebhookCall> calls;
};

std::string header(const WebhookCall& call, std::string_view name) {
  for (const auto& [known, value] : call.headers) {
    if (known == name) return value;
  }
  return {};
}

/// The stamp of a signature header.
std::string stamp_of(const WebhookCall& call) {
  const std::string text = header(call, "Stripe-Signature");
  return text.substr(2, text.find(',') - 2);
}

/// How many v1 of the header are the secret's over exactly this body.
std::size_t signatures(const WebhookCall& call, const std::string& key) {
  const std::string text = header(call, "Stripe-Signature");
  const std::string wanted = ",v1=" + to_hex(hmac_sha256(key, stamp_of(call) + "." + call.body));
  return text.find(wanted) == std::string::npos ? 0 : 1;
}

std::int64_t seconds(const ApiClient& client) {
  return client.now.ms / 1000;
}

TEST(SimulatorWebhooks, DeliversWhatHappenedSigned) {
  Receiver receiver;
  const Answered paid =
      receiver.client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
  EXPECT_EQ(receiver.deliver(), 3U);
  std::vector<std::string> types;
  for (const WebhookCall& call : receiver.calls) types.push_back(call.type);
  EXPECT_EQ(types, (std::vector<std::string>{"payment_intent.created", "charge.succeeded",
                                             "payment_intent.succeeded"}));
  const WebhookCall& call = receiver.calls[2];
  EXPECT_EQ(call.url, "http://node/hook");
  EXPECT_EQ(stamp_of(call), std::to_string(seconds(receiver.client)));
  EXPECT_EQ(signatures(call, secret), 1U);
  EXPECT_EQ(signatures(call, "whsec_other"), 0U);
  const auto event = test::parse_json(call.body);
  EXPECT_EQ(test::at(event, "object"), "event");
  EXPECT_EQ(test::at(event, "id"), call.event);
  EXPECT_EQ(test::at(event, "type"), "payment_intent.succeeded");
  EXPECT_EQ(test::at(event, "data.object.id"), paid.at("id"));
  EXPECT_EQ(test::at(event, "data.object.status"), "succeeded");
  EXPECT_EQ(test::at(event, "request.idempotency_key"), "k1");
  EXPECT_EQ(test::at(event, "request.id"), paid.header("Request-Id"));
  // The object as it was then, not as it is now.
  EXPECT_EQ(test::at(test::parse_json(receiver.calls[0].body), "data.object.status"),
            "requires_confirmation");
  EXPECT_EQ(receiver.deliver(), 0U);
}

TEST(SimulatorWebhooks, SendsOnlyTheTypesAskedFor) {
  ApiClient client;
  const Answered made = client.post("/v1/webhook_endpoints",
                                    "url=https://node/hook&enabled_events[0]=charge.succeeded");
  ASSERT_EQ(made.status(), 200);
  EXPECT_EQ(made.at("status"), "enabled");
  const std::string endpoint_secret = made.at("secret");
  EXPECT_EQ(endpoint_secret.substr(0, 6), "whsec_");
  EXPECT_EQ(client.post("/v1/payment_intents", intent_form + "&confirm=true").status(), 200);
  const auto calls = client.provider.take_webhooks(10);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].type, "charge.succeeded");
  EXPECT_EQ(signatures(calls[0], endpoint_secret), 1U);

  const std::string path = "/v1/webhook_endpoints/" + made.at("id");
  EXPECT_EQ(client.get(path).at("secret"), "");
  EXPECT_EQ(client.get("/v1/webhook_endpoints").at("data.0.id"), made.at("id"));
  EXPECT_EQ(client.post(path, "disabled=true").at("status"), "disabled");
  EXPECT_EQ(client.post("/v1/charges", charge_form).status(), 200);
  EXPECT_TRUE(client.provider.take_webhooks(10).empty());
  EXPECT_EQ(client.ask({"DELETE", path, "", client.headers(""), "", 1, 1}).at("deleted"), "true");
  EXPECT_EQ(client.get(path).status(), 404);
  EXPECT_EQ(client.post("/v1/webhook_endpoints", "url=node&enabled_events[0]=*").status(), 400);
}

TEST(SimulatorWebhooks, SignsWithBothSecretsWhileOneIsRolled) {
  Receiver receiver;
  const auto rolled =
      receiver.client.provider.roll_webhook_secret(receiver.id, "whsec_2", std::chrono::hours(24));
  ASSERT_TRUE(rolled.has_value());
  receiver.charge("k1");
  receiver.deliver();
  receiver.client.pass(std::chrono::hours(24));
  receiver.charge("k2");
  receiver.deliver();
  ASSERT_EQ(receiver.calls.size(), 2U);
  EXPECT_EQ(signatures(receiver.calls[0], secret), 1U);
  EXPECT_EQ(signatures(receiver.calls[0], "whsec_2"), 1U);
  EXPECT_EQ(signatures(receiver.calls[1], secret), 0U);
  EXPECT_EQ(signatures(receiver.calls[1], "whsec_2"), 1U);
  EXPECT_FALSE(
      receiver.client.provider.roll_webhook_secret("we_1", "", std::chrono::hours(1)).has_value());
  EXPECT_FALSE(receiver.client.provider.roll_webhook_secret(receiver.id, "", std::chrono::hours(25))
                   .has_value());
}

TEST(SimulatorWebhooks, RetriesForThreeDaysAndSignsEachAttemptAnew) {
  Receiver receiver;
  const Timestamp start = receiver.client.now;
  receiver.answer = 500;
  receiver.charge("k1");
  receiver.deliver();
  while (const auto wake = receiver.client.provider.next_wake()) {
    receiver.client.now = *wake;
    receiver.answer = receiver.calls.size() % 3 == 0 ? std::optional<int>() : 302;
    ASSERT_EQ(receiver.deliver(), 1U);
  }
  ASSERT_GT(receiver.calls.size(), 10U);
  EXPECT_LT(receiver.calls.size(), 20U);
  std::chrono::milliseconds last{0};
  for (std::size_t nr = 0; nr < receiver.calls.size(); ++nr) {
    const WebhookCall& call = receiver.calls[nr];
    EXPECT_EQ(call.event, receiver.calls[0].event);
    EXPECT_EQ(call.body, receiver.calls[0].body);
    EXPECT_EQ(call.attempt, nr + 1);
    EXPECT_EQ(signatures(call, secret), 1U);
    EXPECT_EQ(stamp_of(call) == stamp_of(receiver.calls[0]), nr == 0);
    const auto delay = webhook_retry_delay(static_cast<std::uint32_t>(nr + 1));
    EXPECT_GE(delay, last);
    last = delay;
  }
  const auto lasted = std::chrono::milliseconds(receiver.client.now.ms - start.ms);
  EXPECT_LE(lasted, std::chrono::hours(72));
  EXPECT_GT(lasted, std::chrono::hours(48));
  EXPECT_EQ(receiver.client.control("GET", "/_sim").at("webhooks_given_up"), "1");
}

TEST(SimulatorWebhooks, DeliversOnceTheReceiverIsBack) {
  Receiver receiver;
  receiver.answer = std::nullopt;
  receiver.charge("k1");
  receiver.deliver();
  receiver.answer = 200;
  EXPECT_EQ(receiver.deliver(), 0U);
  receiver.client.pass(std::chrono::seconds(60));
  EXPECT_EQ(receiver.deliver(), 1U);
  EXPECT_FALSE(receiver.client.provider.next_wake().has_value());
  const auto log = receiver.client.control("GET", "/_sim/webhooks").json();
  EXPECT_EQ(test::at(log, "0.outcome"), "unanswered");
  EXPECT_EQ(test::at(log, "1.outcome"), "answered");
  EXPECT_EQ(test::at(log, "1.attempt"), "2");
}

TEST(SimulatorWebhooks, FollowsAFrozenClockOnly) {
  SimulatorSettings settings;
  settings.frozen_at = Timestamp{1'788'220'800'000};
  Receiver receiver(settings);
  receiver.answer = 500;
  receiver.charge("k1");
  EXPECT_EQ(receiver.deliver(), 1U);
  receiver.client.pass(std::chrono::hours(1));
  EXPECT_EQ(receiver.deliver(), 0U);
  receiver.client.provider.advance_clock(std::chrono::seconds(60));
  EXPECT_EQ(receiver.deliver(), 1U);
}

TEST(SimulatorWebhooks, RepeatsAnEventAndTellsAChangeTwice) {
  Receiver receiver;
  receiver.faults(R"({"kind":"wh_dup","n":2,"count":1},{"kind":"wh_twin","skip":1,"count":1})");
  receiver.charge("k1");
  EXPECT_EQ(receiver.deliver(), 3U);
  EXPECT_EQ(receiver.calls[0].event, receiver.calls[2].event);
  receiver.calls.clear();
  receiver.charge("k2");
  ASSERT_EQ(receiver.deliver(), 2U);
  EXPECT_NE(receiver.calls[0].event, receiver.calls[1].event);
  EXPECT_EQ(test::at(test::parse_json(receiver.calls[0].body), "data.object.id"),
            test::at(test::parse_json(receiver.calls[1].body), "data.object.id"));
  EXPECT_EQ(receiver.client.get("/v1/events/" + receiver.calls[1].event).status(), 200);
}

TEST(SimulatorWebhooks, ReordersDelaysAndLoses) {
  Receiver receiver;
  receiver.faults(R"({"kind":"wh_reorder","window":2,"match":{"event":"payment_intent.created"}},
                     {"kind":"wh_delay","delay_s":30,"match":{"event":"charge.*"},"count":1},
                     {"kind":"wh_lose","match":{"event":"payment_intent.succeeded"},"count":1})");
  receiver.client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
  ASSERT_EQ(receiver.deliver(), 0U);  // one waits for two, one for 30 s, one is gone
  receiver.client.pass(std::chrono::seconds(30));
  ASSERT_EQ(receiver.deliver(), 1U);
  EXPECT_EQ(receiver.calls[0].type, "charge.succeeded");
  receiver.charge("k2");
  ASSERT_EQ(receiver.deliver(), 2U);
  EXPECT_EQ(receiver.calls[1].type, "charge.succeeded");
  EXPECT_EQ(receiver.calls[2].type, "payment_intent.created");
  // What was lost can still be asked for.
  EXPECT_EQ(receiver.client.get("/v1/events", "type=payment_intent.succeeded").at("data.0.type"),
            "payment_intent.succeeded");

  receiver.client.post("/v1/payment_intents", intent_form, "k3");
  EXPECT_EQ(receiver.deliver(), 0U);
  receiver.client.pass(std::chrono::seconds(60));  // nothing follows: it comes all the same
  EXPECT_EQ(receiver.deliver(), 1U);
}

TEST(SimulatorWebhooks, ComesBeforeTheAnswerWhereARuleSaysSo) {
  Receiver receiver;
  receiver.faults(R"({"kind":"wh_before_response","match":{"event":"charge.succeeded"}})");
  const RequestNr nr = receiver.client.begin_post("/v1/charges", charge_form, "k1");
  EXPECT_FALSE(receiver.client.answer(nr).has_value());
  EXPECT_EQ(receiver.deliver(), 1U);
  ASSERT_TRUE(receiver.client.answer(nr).has_value());
  EXPECT_EQ(receiver.client.answer(nr)->status(), 200);

  // A receiver that does not take it delays the answer by a few seconds, not for ever.
  const RequestNr other = receiver.client.begin_post("/v1/charges", charge_form, "k2");
  EXPECT_FALSE(receiver.client.answer(other).has_value());
  receiver.client.pass(std::chrono::seconds(5));
  EXPECT_TRUE(receiver.client.answer(other).has_value());
}

TEST(SimulatorWebhooks, SpoilsSingleAttempts) {
  Receiver receiver;
  receiver.answer = 400;
  receiver.faults(R"({"kind":"wh_bad_sig","count":1},{"kind":"wh_old_ts","skip":1,"count":1},
                     {"kind":"wh_future_ts","skip":2,"count":1},
                     {"kind":"wh_truncated","skip":3,"count":1},
                     {"kind":"wh_truncated","signed":true,"skip":3,"count":1})");
  receiver.charge("k1");
  for (int nr = 0; nr < 6; ++nr) {
    receiver.deliver();
    if (const auto wake = receiver.client.provider.next_wake()) receiver.client.now = *wake;
  }
  ASSERT_EQ(receiver.calls.size(), 6U);
  const auto stamp = [&](std::size_t nr) { return std::stoll(stamp_of(receiver.calls[nr])); };
  EXPECT_EQ(signatures(receiver.calls[0], secret), 0U);
  EXPECT_EQ(signatures(receiver.calls[1], secret), 1U);
  EXPECT_EQ(stamp(1), stamp(0) + 60 - 3600);
  EXPECT_EQ(signatures(receiver.calls[2], secret), 1U);
  EXPECT_EQ(stamp(2), stamp(0) + 180 + 3600);
  EXPECT_LT(receiver.calls[3].body.size(), receiver.calls[0].body.size());
  EXPECT_EQ(signatures(receiver.calls[3], secret), 0U);
  EXPECT_LT(receiver.calls[4].body.size(), receiver.calls[0].body.size());
  EXPECT_EQ(signatures(receiver.calls[4], secret), 1U);
  EXPECT_EQ(receiver.calls[5].body, receiver.calls[0].body);
  EXPECT_EQ(signatures(receiver.calls[5], secret), 1U);
}

TEST(SimulatorWebhooks, MatchesTheCustomerOfTheObject) {
  Receiver receiver;
  receiver.faults(R"({"kind":"wh_lose","match":{"customer":"cust_123"}})");
  const std::string charge = receiver.charge("k1");
  receiver.client.post("/v1/refunds", "charge=" + charge, "r1");
  receiver.client.post("/v1/charges", "amount=100&currency=usd&customer=cus_1&source=tok_visa");
  EXPECT_EQ(receiver.deliver(), 1U);
}

TEST(SimulatorWebhooks, KeepsNoMoreThanItsBound) {
  SimulatorSettings settings;
  settings.webhooks_pending_max = 2;
  settings.events_max = 3;
  settings.webhook_log_max = 1;
  Receiver receiver(settings);
  for (const char* key : {"k1", "k2", "k3", "k4"}) receiver.charge(key);
  EXPECT_EQ(receiver.deliver(), 2U);
  const Answered summary = receiver.client.control("GET", "/_sim");
  EXPECT_EQ(summary.at("webhooks_dropped"), "2");
  EXPECT_EQ(summary.at("events"), "3");
  EXPECT_EQ(summary.at("events_dropped"), "1");
  EXPECT_EQ(receiver.client.control("GET", "/_sim/webhooks").json().as_array().size(), 1U);
}

TEST(SimulatorWebhooks, SaysWhatIsWrongWithARegistration) {
  ApiClient client;
  EXPECT_EQ(client.control("POST", "/_sim/webhook_endpoints", "{}").status(), 400);
  EXPECT_EQ(client.control("POST", "/_sim/webhook_endpoints", R"({"url":"x","types":[]})").status(),
            400);
  const Answered made =
      client.control("POST", "/_sim/webhook_endpoints", R"({"url":"http://a","secret":"s"})");
  EXPECT_EQ(made.at("secret"), "s");
  EXPECT_EQ(client
                .control("POST", "/_sim/webhook_endpoints/roll",
                         R"({"endpoint":")" + made.at("id") + R"(","secret":"t"})")
                .at("secret"),
            "t");
  const auto list = client.control("GET", "/_sim/webhook_endpoints").json();
  EXPECT_EQ(test::at(list, "0.secrets.0"), "t");
  EXPECT_EQ(test::at(list, "0.secrets.1"), "s");
  EXPECT_EQ(
      client.control("POST", "/_sim/webhook_endpoints/roll", R"({"endpoint":"we_1"})").status(),
      404);
  for (int nr = 0; nr < 15; ++nr) {
    EXPECT_TRUE(client.provider.add_webhook_endpoint({"http://a", "", {"*"}}).has_value());
  }
  EXPECT_FALSE(client.provider.add_webhook_endpoint({"http://a", "", {"*"}}).has_value());
  const auto rule =
      client.provider.set_faults(R"({"rules":[{"kind":"wh_dup","match":{"path":"/v1/charges"}}]})");
  ASSERT_FALSE(rule.has_value());
  EXPECT_NE(rule.error().context.find("match.path"), std::string::npos);
}

}  // namespace
}  // namespace onceward::provider::simulator
