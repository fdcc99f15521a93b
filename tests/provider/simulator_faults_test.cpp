// Fault rules: matching, counting, and what each kind does to money, to the key and to the client.
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

TEST(SimulatorFaults, DropBeforeExecutesNothing) {
  for (const char* end : {"fin", "rst"}) {
    ApiClient client;
    client.faults(R"({"rules":[{"kind":"drop_before","count":1,"end":")" + std::string(end) +
                  "\"}]}");
    const Answered dropped = client.post("/v1/charges", charge_form, "k1");
    EXPECT_EQ(dropped.wire.ending, std::string(end) == "fin" ? WireEnding::fin : WireEnding::rst);
    EXPECT_FALSE(dropped.wire.body_bytes_sent.has_value());
    EXPECT_EQ(charges(client), 0U);
    EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "");
    EXPECT_EQ(charges(client), 1U);
  }
}

TEST(SimulatorFaults, CommitDropTakesTheMoneyAndSaysNothing) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"commit_drop","count":1,"end":"rst"}]})");
  const Answered dropped = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(dropped.wire.ending, WireEnding::rst);
  EXPECT_FALSE(dropped.wire.body_bytes_sent.has_value());
  EXPECT_EQ(charges(client), 1U);
  const Answered again = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.at("id"), client.provider.ledger().rows()[0].charge);
  EXPECT_EQ(charges(client), 1U);
}

TEST(SimulatorFaults, CommitRstMidCutsTheBody) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"commit_rst_mid","bytes":7,"count":1},
                             {"kind":"commit_rst_mid","bytes":100000,"end":"fin"}]})");
  const Answered reset = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(reset.wire.ending, WireEnding::rst);
  EXPECT_EQ(reset.wire.body_bytes_sent, 7U);
  const Answered truncated = client.post("/v1/charges", charge_form, "k2");
  EXPECT_EQ(truncated.wire.ending, WireEnding::fin);
  EXPECT_EQ(truncated.wire.body_bytes_sent, truncated.wire.body.size() - 1);
  EXPECT_EQ(charges(client), 2U);
}

TEST(SimulatorFaults, GatewayErrorsWithAndWithoutCommitAreNotSaved) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"gw_502","match":{"key":"k1"},"count":1},
                             {"kind":"gw_504","commit":true,"match":{"key":"k2"},"count":1}]})");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 502);
  EXPECT_EQ(charges(client), 0U);
  const Answered with = client.post("/v1/charges", charge_form, "k2");
  EXPECT_EQ(with.status(), 504);
  EXPECT_EQ(with.header("Content-Type"), "text/html");
  EXPECT_EQ(charges(client), 1U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").status(), 200);
  EXPECT_EQ(charges(client), 1U);
}

TEST(SimulatorFaults, SlowCommitsAtTheStartOrAtTheEnd) {
  ApiClient client;
  client.faults(R"({"rules":[
      {"kind":"slow","delay_s":40,"match":{"key":"start"}},
      {"kind":"slow","delay_s":40,"commit_at":"end","match":{"key":"end"}}]})");
  const RequestNr start = client.begin_post("/v1/charges", charge_form, "start");
  EXPECT_EQ(charges(client), 1U);
  const RequestNr end = client.begin_post("/v1/charges", charge_form, "end");
  client.pass(std::chrono::milliseconds(39'999));
  EXPECT_FALSE(client.answer(start).has_value());
  EXPECT_EQ(charges(client), 1U);
  client.pass(std::chrono::milliseconds(1));
  EXPECT_EQ(client.answer(start)->status(), 200);
  EXPECT_EQ(client.answer(end)->status(), 200);
  EXPECT_EQ(charges(client), 2U);
  EXPECT_EQ(client.provider.ledger().rows()[1].at, client.now);
}

TEST(SimulatorFaults, HangNeverAnswersWithOrWithoutTheMoney) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"hang","match":{"key":"k1"},"count":1},
                             {"kind":"hang","commit":true,"match":{"key":"k2"},"count":1}]})");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").wire.ending, WireEnding::hang);
  EXPECT_EQ(charges(client), 0U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").wire.ending, WireEnding::hang);
  EXPECT_EQ(charges(client), 1U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").header("Idempotent-Replayed"), "true");
  EXPECT_EQ(charges(client), 2U);
}

TEST(SimulatorFaults, LimitsAndLocksExecuteNothing) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"rl_429","retry_after":3,"reason":"endpoint-rate","count":1},
                             {"kind":"lock_429","count":1},{"kind":"auth_401","count":1},
                             {"kind":"forbid_403","count":1}]})");
  const Answered limited = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(limited.status(), 429);
  EXPECT_EQ(limited.at("error.code"), "rate_limit");
  EXPECT_EQ(limited.header("Retry-After"), "3");
  EXPECT_EQ(limited.header("Stripe-Rate-Limited-Reason"), "endpoint-rate");
  const Answered locked = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(locked.status(), 429);
  EXPECT_EQ(locked.at("error.code"), "lock_timeout");
  EXPECT_EQ(locked.header("Stripe-Rate-Limited-Reason"), "");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 401);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 403);
  EXPECT_EQ(charges(client), 0U);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
}

TEST(SimulatorFaults, InUse409LastsItsTimeForEachKeyOnce) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"inuse_409","for_s":10,"count":1}]})");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").at("error.code"),
            "idempotency_key_in_use");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").status(), 200);  // count was 1
  client.pass(std::chrono::milliseconds(9'999));
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 409);
  client.pass(std::chrono::milliseconds(1));
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
}

TEST(SimulatorFaults, DeclineCountsAttemptsToTakeMoneyOnly) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"decline","code":"insufficient_funds","count":1}]})");
  const Answered made = client.post("/v1/payment_intents", intent_form, "k1");
  EXPECT_EQ(made.status(), 200);
  const std::string confirm = "/v1/payment_intents/" + made.at("id") + "/confirm";
  EXPECT_EQ(client.post(confirm, "", "k2").at("error.decline_code"), "insufficient_funds");
  EXPECT_EQ(client.post(confirm, "payment_method=pm_1", "k3").status(), 200);
}

TEST(SimulatorFaults, DeclineThenCountsPerCustomer) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"decline_then","code":"do_not_honor","k":2}]})");
  const auto pay = [&](const std::string& customer) {
    return client.post("/v1/charges", "amount=100&currency=usd&customer=" + customer).status();
  };
  EXPECT_EQ(pay("a"), 402);
  EXPECT_EQ(pay("b"), 402);
  EXPECT_EQ(pay("a"), 402);
  EXPECT_EQ(pay("a"), 200);
  EXPECT_EQ(pay("b"), 402);
  EXPECT_EQ(pay("b"), 200);
}

TEST(SimulatorFaults, AuthRequiredAndRequiresActionWinOverThePaymentMethod) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"auth_required","count":1},
                             {"kind":"requires_action","count":1}]})");
  const std::string form = intent_form + "&confirm=true&off_session=true";
  const Answered absent = client.post("/v1/payment_intents", form, "k1");
  EXPECT_EQ(absent.status(), 402);
  EXPECT_EQ(absent.at("error.code"), "authentication_required");
  const Answered acting = client.post("/v1/payment_intents", form, "k2");
  EXPECT_EQ(acting.status(), 200);
  EXPECT_EQ(acting.at("status"), "requires_action");
  EXPECT_EQ(charges(client), 0U);
  const Answered done = client.control("POST", "/_sim/authenticate",
                                       R"({"payment_intent":")" + acting.at("id") + "\"}");
  EXPECT_EQ(done.at("status"), "succeeded");
  ASSERT_EQ(charges(client), 1U);
  EXPECT_EQ(client.provider.ledger().rows()[0].key, "k2");
}

TEST(SimulatorFaults, ProcessingEndsOnTheProvidersClock) {
  for (const bool succeeds : {true, false}) {
    ApiClient client;
    client.faults(R"({"rules":[{"kind":"processing","for_s":172800,"then":")" +
                  std::string(succeeds ? "succeeded" : "failed") + "\",\"count\":1}]}");
    const Answered made = client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
    EXPECT_EQ(made.at("status"), "processing");
    EXPECT_EQ(charges(client), 0U);
    const std::string path = "/v1/payment_intents/" + made.at("id");
    EXPECT_EQ(client.post(path + "/confirm", "", "k2").at("error.code"),
              "payment_intent_unexpected_state");
    client.provider.advance_clock(std::chrono::hours(48) - std::chrono::seconds(1));
    EXPECT_EQ(client.get(path).at("status"), "processing");
    client.provider.advance_clock(std::chrono::seconds(1));
    EXPECT_EQ(charges(client), succeeds ? 1U : 0U);
    EXPECT_EQ(client.get(path).at("status"), succeeds ? "succeeded" : "requires_payment_method");
  }
}

TEST(SimulatorFaults, GarbledAnswersAreNotSaved) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"bad_json_200","match":{"key":"k1"},"count":1},
                             {"kind":"wrong_amount_200","match":{"key":"k2"},"count":1},
                             {"kind":"unknown_status","match":{"key":"k3"},"count":1}]})");
  const Answered bad = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(bad.status(), 200);
  boost::system::error_code error;
  (void)boost::json::parse(bad.wire.body, error);
  EXPECT_TRUE(error);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").at("amount"), "4991");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k3").at("status"), "quite_new");
  for (const char* key : {"k1", "k2", "k3"}) {
    const Answered again = client.post("/v1/charges", charge_form, key);
    EXPECT_EQ(again.at("amount"), "4990");
    EXPECT_EQ(again.at("status"), "succeeded");
  }
  EXPECT_EQ(charges(client), 3U);
}

TEST(SimulatorFaults, ShouldRetryOverridesTheHeader) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"fail_500"},
                             {"kind":"should_retry","value":"true","match":{"key":"k1"}},
                             {"kind":"should_retry","value":"absent","match":{"key":"k2"}}]})");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Stripe-Should-Retry"), "true");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").header("Stripe-Should-Retry"), "");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k3").header("Stripe-Should-Retry"), "false");
}

TEST(SimulatorFaults, ExpireKeysActsAtOnce) {
  ApiClient client;
  client.post("/v1/charges", charge_form, "k1");
  client.post("/v1/charges", charge_form, "k2");
  client.faults(R"({"rules":[{"kind":"expire_keys","match":{"key":"k1"}}]})");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").header("Idempotent-Replayed"), "");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").header("Idempotent-Replayed"), "true");
  client.provider.expire_keys();
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").header("Idempotent-Replayed"), "");
}

TEST(SimulatorFaults, FaultsOfDifferentStagesCombine) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"slow","delay_s":5},{"kind":"decline","code":"lost_card"},
                             {"kind":"commit_drop"}]})");
  const Answered dropped = client.post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(dropped.wire.ending, WireEnding::fin);
  EXPECT_EQ(dropped.status(), 402);
  const auto trace = client.provider.trace();
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace[0].faults, "slow+decline+commit_drop");
  EXPECT_EQ(trace[0].outcome, "executed");
  EXPECT_EQ(trace[0].bytes_sent, 0U);
}

int faulted(ApiClient& client, const std::string& rule,
            const std::vector<std::pair<std::string, std::string>>& requests) {
  client.faults("{\"rules\":[" + rule + "]}");
  int bits = 0;
  for (const auto& [path, key] : requests) {
    const bool hit = client.post(path, charge_form, key).status() == 502;
    bits = bits * 2 + (hit ? 1 : 0);
  }
  return bits;
}

TEST(SimulatorFaults, MatchOnNumberKeyCustomerPathMethodAndMoney) {
  const std::string charge = "/v1/charges";
  {
    ApiClient client;
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"nth":2}})",
                      {{charge, "a"}, {charge, "b"}, {charge, "c"}}),
              0b010);
  }
  {
    ApiClient client;
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"key":"b"}})",
                      {{charge, "a"}, {charge, "b"}, {charge, "b"}}),
              0b011);
    EXPECT_EQ(
        faulted(client, R"({"kind":"gw_502","match":{"customer":"cust_123"}})", {{charge, "x"}}),
        1);
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"customer":"cus_9"}})", {{charge, "x"}}),
              1);
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"customer":"cus_8"}})", {{charge, "y"}}),
              0);
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"path":"/v1/*/confirm"}})",
                      {{charge, "x"}, {"/v1/payment_intents/pi_1/confirm", "y"}}),
              0b01);
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"money":true}})",
                      {{charge, "x"}, {"/v1/payment_intents", "y"}}),
              0b10);
    EXPECT_EQ(faulted(client, R"({"kind":"gw_502","match":{"money":false}})",
                      {{charge, "z"}, {"/v1/payment_intents", "y"}}),
              0b01);
  }
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"gw_502"}]})");
  EXPECT_EQ(client.get("/v1/charges").status(), 200);
  client.faults(R"({"rules":[{"kind":"gw_502","match":{"method":"GET"}}]})");
  EXPECT_EQ(client.get("/v1/charges").status(), 502);
  EXPECT_EQ(client.post("/v1/charges", charge_form).status(), 200);
  client.faults(R"({"rules":[{"kind":"gw_502","match":{"method":"ANY"}}]})");
  EXPECT_EQ(client.get("/v1/charges").status(), 502);
  EXPECT_EQ(client.post("/v1/charges", charge_form).status(), 502);
}

TEST(SimulatorFaults, MatchTheCustomerOfTheIntentInThePath) {
  ApiClient client;
  const Answered made = client.post("/v1/payment_intents", intent_form, "k1");
  client.faults(R"({"rules":[{"kind":"gw_502","match":{"customer":"cust_123"}}]})");
  EXPECT_EQ(client.post("/v1/payment_intents/" + made.at("id") + "/confirm", "", "k2").status(),
            502);
}

TEST(SimulatorFaults, CountAndSkip) {
  ApiClient client;
  const std::vector<std::pair<std::string, std::string>> five(5, {"/v1/charges", "k"});
  EXPECT_EQ(faulted(client, R"({"kind":"gw_502","count":2})", five), 0b11000);
  EXPECT_EQ(faulted(client, R"({"kind":"gw_502","count":2,"skip":1})", five), 0b01100);
}

TEST(SimulatorFaults, ProbabilityFollowsTheSeed) {
  const std::vector<std::pair<std::string, std::string>> many(1000, {"/v1/charges", "k"});
  const auto hits = [&](std::uint64_t seed) {
    SimulatorSettings settings;
    settings.seed = seed;
    ApiClient client(settings);
    client.faults(R"({"rules":[{"kind":"gw_502","probability":0.3}]})");
    std::string pattern;
    for (const auto& [path, key] : many) {
      pattern += client.post(path, charge_form, key).status() == 502 ? '1' : '0';
    }
    return pattern;
  };
  const std::string one = hits(1);
  EXPECT_EQ(one, hits(1));
  EXPECT_NE(one, hits(2));
  const auto count = std::count(one.begin(), one.end(), '1');
  EXPECT_GT(count, 240);
  EXPECT_LT(count, 360);
}

TEST(SimulatorFaults, RefusesRulesThatMeanNothing) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"gw_502"}]})");
  const std::pair<const char*, const char*> cases[] = {
      {"", "JSON"},
      {"[]", "rules"},
      {R"({"rules":{}})", "rules"},
      {R"({"rules":[],"more":1})", "rules"},
      {R"({"rules":[1]})", "rule 1"},
      {R"({"rules":[{"count":1}]})", "kind"},
      {R"({"rules":[{"kind":"gw_502"},{"kind":"gw_599"}]})", "rule 2: kind is unknown"},
      {R"({"rules":[{"kind":"gw_502","cuont":1}]})", "cuont"},
      {R"({"rules":[{"kind":"gw_502","count":-1}]})", "count"},
      {R"({"rules":[{"kind":"gw_502","count":"1"}]})", "count"},
      {R"({"rules":[{"kind":"gw_502","probability":1.5}]})", "probability"},
      {R"({"rules":[{"kind":"gw_502","match":1}]})", "match"},
      {R"({"rules":[{"kind":"gw_502","match":{"keys":"a"}}]})", "match.keys"},
      {R"({"rules":[{"kind":"gw_502","match":{"method":"PUT"}}]})", "match.method"},
      {R"({"rules":[{"kind":"decline"}]})", "code"},
      {R"({"rules":[{"kind":"slow"}]})", "delay_ms"},
      {R"({"rules":[{"kind":"slow","delay_ms":1,"commit_at":"mid"}]})", "commit_at"},
      {R"({"rules":[{"kind":"commit_drop","end":"half"}]})", "end"},
      {R"({"rules":[{"kind":"should_retry"}]})", "value"},
      {R"({"rules":[{"kind":"processing"}]})", "for_s"},
      {R"({"rules":[{"kind":"inuse_409"}]})", "for_s"},
      {R"({"rules":[{"kind":"commit_500","code":"x"}]})", "code"},
  };
  for (const auto& [json, named] : cases) {
    const auto set = client.provider.set_faults(json);
    ASSERT_FALSE(set.has_value()) << json;
    EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(set.error().context.find(named), std::string::npos)
        << json << " -> " << set.error().context;
  }
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 502) << "old rules stay";
  client.provider.clear_faults();
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
}

TEST(SimulatorFaults, LatencyHoldsEveryAnswerBack) {
  SimulatorSettings settings;
  settings.latency = std::chrono::milliseconds(50);
  ApiClient client(settings);
  const RequestNr nr = client.begin_post("/v1/charges", charge_form, "k1");
  EXPECT_EQ(charges(client), 1U);
  client.pass(std::chrono::milliseconds(49));
  EXPECT_FALSE(client.answer(nr).has_value());
  client.pass(std::chrono::milliseconds(1));
  EXPECT_TRUE(client.answer(nr).has_value());
  // The control API is not the provider: it answers at once.
  EXPECT_TRUE(client.answer(client.begin({"GET", "/_sim/ledger", "", {}, "", 0, 0})).has_value());
}

}  // namespace
}  // namespace onceward::provider::simulator
