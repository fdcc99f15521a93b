// Chaos: the fault program of a seed, and the promises of the provider that hold under it.
#include <gtest/gtest.h>

#include <set>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::ApiClient;
using test::charge_form;
using test::intent_form;

ChaosSettings chaos(std::uint64_t seed, std::uint32_t percent,
                    std::vector<std::string> kinds = {}) {
  return ChaosSettings{seed, percent, std::move(kinds)};
}

/// Bills one customer in two steps, re-sending under the same keys until there is an answer, as a
/// patient client would; gives up after a day of tries.
void bill(ApiClient& client, int nr) {
  const std::string customer = "cust_" + std::to_string(nr);
  const std::string form = "amount=4990&currency=usd&customer=cus_" + std::to_string(nr) +
                           "&payment_method=pm_card_visa&metadata[onceward_customer]=" + customer +
                           "&metadata[onceward_period]=2026-08";
  std::string intent;
  for (int round = 0; round < 40 && intent.empty(); ++round) {
    const auto made = client.post("/v1/payment_intents", form, customer + "/create");
    if (made.wire.arrives_whole() && made.status() == 200) intent = made.at("id");
    client.pass(std::chrono::seconds(30));
  }
  for (int round = 0; round < 40 && !intent.empty(); ++round) {
    const auto paid =
        client.post("/v1/payment_intents/" + intent + "/confirm",
                    "payment_method=pm_card_visa&off_session=true", customer + "/confirm");
    if (paid.wire.arrives_whole() && (paid.status() == 200 || paid.status() == 402)) return;
    client.pass(std::chrono::seconds(30));
  }
}

/// Everything that a run shows to the outside, as text.
std::string picture(ApiClient& client) {
  std::string text;
  for (const WireTraceRow& row : client.provider.trace()) {
    text.append(row.path + " " + row.faults + " " + row.outcome + " " + std::to_string(row.status) +
                "\n");
  }
  for (const LedgerRow& row : client.provider.ledger().rows()) text.append(row.charge + "\n");
  return text;
}

std::string run(std::uint64_t seed) {
  ApiClient client;
  EXPECT_TRUE(client.provider.set_chaos(chaos(seed, 30)).has_value());
  for (int nr = 0; nr < 30; ++nr) bill(client, nr);
  return picture(client);
}

TEST(SimulatorChaos, IsTheSameForTheSameSeed) {
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST(SimulatorChaos, MakesTheStatedShareFaulty) {
  ApiClient client;
  ASSERT_TRUE(client.provider.set_chaos(chaos(3, 30)).has_value());
  for (int nr = 0; nr < 2000; ++nr) {
    (void)client.post("/v1/payment_intents", intent_form, "k" + std::to_string(nr));
  }
  std::uint64_t drawn = 0;
  for (const auto& [kind, count] : client.provider.chaos_drawn()) drawn += count;
  EXPECT_GT(drawn, 540U);
  EXPECT_LT(drawn, 660U);
}

TEST(SimulatorChaos, DrawsEveryKind) {
  ApiClient client;
  ASSERT_TRUE(client.provider.add_webhook_endpoint({"http://a", "", {"*"}}).has_value());
  ASSERT_TRUE(client.provider.set_chaos(chaos(1, 80)).has_value());
  for (int nr = 0; nr < 400; ++nr) {
    const std::string key = "k" + std::to_string(nr);
    const std::string charge = client.post("/v1/charges", charge_form, key).at("id");
    (void)client.post("/v1/refunds", "amount=1&charge=" + charge, "r" + key);
    (void)client.get("/v1/charges");
    (void)client.provider.deliver_webhooks([](const WebhookCall&) { return 200; });
  }
  std::set<std::string> kinds;
  for (const auto& [kind, count] : client.provider.chaos_drawn()) kinds.insert(kind);
  const std::set<std::string> wanted = {"drop_before",
                                        "silent_keepalive_close",
                                        "hang",
                                        "rl_429",
                                        "lock_429",
                                        "inuse_409",
                                        "auth_401",
                                        "forbid_403",
                                        "gw_502",
                                        "gw_503",
                                        "gw_504",
                                        "slow",
                                        "commit_500",
                                        "fail_500",
                                        "late_repair",
                                        "decline",
                                        "decline_then",
                                        "auth_required",
                                        "requires_action",
                                        "processing",
                                        "refund_pending",
                                        "refund_failed",
                                        "short_page",
                                        "commit_drop",
                                        "commit_rst_mid",
                                        "bad_json_200",
                                        "wrong_amount_200",
                                        "unknown_status",
                                        "odd_200",
                                        "should_retry",
                                        "wh_dup",
                                        "wh_twin",
                                        "wh_reorder",
                                        "wh_delay",
                                        "wh_lose",
                                        "wh_before_response",
                                        "wh_bad_sig",
                                        "wh_old_ts",
                                        "wh_future_ts",
                                        "wh_truncated"};
  EXPECT_EQ(kinds, wanted);
}

TEST(SimulatorChaos, NeverBreaksWhatTheProviderPromises) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ApiClient client;
    ASSERT_TRUE(client.provider.set_chaos(chaos(seed, 30)).has_value());
    for (int nr = 0; nr < 20; ++nr) bill(client, nr);
    client.pass(std::chrono::hours(48));
    client.provider.advance(client.now);
    // One key moves money once, and an intent succeeds once.
    for (const char* field : {"key", "payment_intent"}) {
      EXPECT_TRUE(client.provider.ledger().groups_above({field}, 1).value().empty()) << seed;
    }
    for (const LedgerRow& row : client.provider.ledger().rows()) EXPECT_EQ(row.amount, 4990);
  }
}

TEST(SimulatorChaos, IsSetAndEndedByControl) {
  ApiClient client;
  const auto set = client.control("POST", "/_sim/chaos",
                                  R"({"seed":5,"percent":100,"kinds":["gw_502","wh_lose"]})");
  ASSERT_EQ(set.status(), 200);
  EXPECT_EQ(set.at("percent"), "100");
  int gateway = 0;
  for (int nr = 0; nr < 5; ++nr) {
    const auto answer = client.post("/v1/charges", charge_form, "k" + std::to_string(nr));
    if (answer.status() == 502) ++gateway;
  }
  EXPECT_EQ(gateway, 5);
  EXPECT_EQ(client.control("GET", "/_sim/chaos").at("drawn.gw_502"), "5");
  EXPECT_EQ(client.control("DELETE", "/_sim/chaos").at("percent"), "0");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k9").status(), 200);
  for (const char* bad :
       {R"({"percent":101})", R"({"percent":-1})", R"({})", R"({"percent":1,"kinds":["quake"]})",
        R"({"percent":1,"kinds":["expire_keys"]})", R"({"percent":1,"more":1})"}) {
    EXPECT_EQ(client.control("POST", "/_sim/chaos", bad).status(), 400) << bad;
  }
  // A rule comes first, and a reset ends it.
  ASSERT_TRUE(client.provider.set_chaos(chaos(1, 100, {"gw_502"})).has_value());
  client.faults(R"({"rules":[{"kind":"gw_504"}]})");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k10").status(), 504);
  EXPECT_EQ(client.control("POST", "/_sim/reset").status(), 200);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k11").status(), 200);
}

}  // namespace
}  // namespace onceward::provider::simulator
