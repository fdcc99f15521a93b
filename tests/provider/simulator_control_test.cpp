// The control API under /_sim: ledger, assertion, trace, clock, reset, keys, events.
#include <gtest/gtest.h>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

TEST(SimulatorControl, ListsTheLedgerWithItsFields) {
  ApiClient client;
  const Answered charge = client.post("/v1/charges", charge_form, "k1");
  const Answered ledger = client.control("GET", "/_sim/ledger");
  EXPECT_EQ(ledger.status(), 200);
  const auto row = ledger.json().as_array().at(0).as_object();
  for (const char* field : {"seq", "at", "customer", "period", "purpose", "payment_intent",
                            "charge", "amount", "currency", "key", "status"}) {
    EXPECT_TRUE(row.contains(field)) << field;
  }
  EXPECT_EQ(ledger.at("0.at"), "2026-09-01T00:00:00.000Z");
  EXPECT_EQ(ledger.at("0.charge"), charge.at("id"));
  EXPECT_EQ(ledger.at("0.amount"), "4990");
  EXPECT_EQ(ledger.at("0.status"), "succeeded");
  const auto rows = [&](const std::string& query) {
    return client.control("GET", "/_sim/ledger", "", query).json().as_array().size();
  };
  EXPECT_EQ(rows("customer=cust_123&period=2026-08"), 1U);
  EXPECT_EQ(rows("customer=cust_123&period=2026-09"), 0U);
  EXPECT_EQ(rows("customer=other"), 0U);
}

TEST(SimulatorControl, AssertNamesWhoWasChargedTwice) {
  ApiClient client;
  client.post("/v1/charges", charge_form, "k1");
  const Answered fine =
      client.control("GET", "/_sim/assert", "", "max_per=customer,period,purpose&max=1");
  EXPECT_EQ(fine.status(), 200);
  EXPECT_EQ(fine.at("ok"), "true");
  client.post("/v1/charges", charge_form, "k2");
  const Answered broken =
      client.control("GET", "/_sim/assert", "", "max_per=customer,period,purpose&max=1");
  EXPECT_EQ(broken.status(), 409);
  EXPECT_EQ(broken.at("offenders.0.customer"), "cust_123");
  EXPECT_EQ(broken.at("offenders.0.period"), "2026-08");
  EXPECT_EQ(broken.at("offenders.0.count"), "2");
  EXPECT_EQ(broken.at("offenders.0.charges.1"), client.provider.ledger().rows()[1].charge);
  EXPECT_EQ(client.control("GET", "/_sim/assert", "", "max_per=customer&max=2").status(), 200);
  EXPECT_EQ(client.control("GET", "/_sim/assert", "", "max_per=key&max=1").status(), 200);
  EXPECT_EQ(client.control("GET", "/_sim/assert", "", "max_per=nonsense").status(), 400);
  EXPECT_EQ(client.control("GET", "/_sim/assert", "", "max=x").status(), 400);
}

TEST(SimulatorControl, TracesEveryWireRequest) {
  ApiClient client;
  client.post("/v1/charges", charge_form, "k1");
  client.ask({"POST", "/v1/charges", "", client.headers("k1"), charge_form, 7, 3});
  client.post("/v1/charges", "amount=x", "k2");
  client.get("/v1/charges");
  const Answered trace = client.control("GET", "/_sim/requests");
  EXPECT_EQ(trace.json().as_array().size(), 4U);
  EXPECT_EQ(trace.at("0.nr"), "1");
  EXPECT_EQ(trace.at("0.outcome"), "executed");
  EXPECT_EQ(trace.at("0.ending"), "whole");
  EXPECT_NE(trace.at("0.bytes_sent"), "0");
  EXPECT_EQ(trace.at("1.outcome"), "replayed");
  EXPECT_EQ(trace.at("1.connection"), "7");
  EXPECT_EQ(trace.at("1.nr_on_connection"), "3");
  EXPECT_EQ(trace.at("1.digest"), trace.at("0.digest"));
  EXPECT_EQ(trace.at("2.outcome"), "invalid");
  EXPECT_EQ(trace.at("2.status"), "400");
  EXPECT_EQ(trace.at("3.method"), "GET");
  EXPECT_EQ(client.control("GET", "/_sim/requests", "", "key=k1").json().as_array().size(), 2U);
}

TEST(SimulatorControl, BoundsTheTraceAndSaysSo) {
  SimulatorSettings settings;
  settings.trace_rows_max = 3;
  ApiClient client(settings);
  for (int nr = 0; nr < 5; ++nr) client.get("/v1/account");
  const Answered trace = client.control("GET", "/_sim/requests");
  EXPECT_EQ(trace.json().as_array().size(), 3U);
  EXPECT_EQ(trace.at("0.nr"), "3");
  EXPECT_EQ(client.control("GET", "/_sim").at("trace_dropped"), "2");
  EXPECT_EQ(client.control("GET", "/_sim").at("requests"), "5");
}

TEST(SimulatorControl, MovesFreezesAndSetsTheClock) {
  ApiClient client;
  EXPECT_EQ(client.control("POST", "/_sim/clock", R"({"advance_s":3600})").at("now"),
            "2026-09-01T01:00:00.000Z");
  EXPECT_EQ(client.get("/v1/account").header("Date"), "Tue, 01 Sep 2026 01:00:00 GMT");
  EXPECT_EQ(client.control("POST", "/_sim/clock", R"({"freeze":true})").at("frozen"), "true");
  client.pass(std::chrono::hours(1));
  EXPECT_EQ(client.control("GET", "/_sim/clock").at("now"), "2026-09-01T01:00:00.000Z");
  EXPECT_EQ(client.control("POST", "/_sim/clock", R"({"set_s":0})").at("now_s"), "0");
  EXPECT_EQ(client.control("POST", "/_sim/clock", R"({"freeze":false})").at("frozen"), "false");
  client.pass(std::chrono::seconds(5));
  EXPECT_EQ(client.control("GET", "/_sim/clock").at("now_s"), "5");
  for (const char* body :
       {R"({"advance":1})", R"({"advance_s":-1})", R"({"advance_s":"1"})", "nonsense", "[]"}) {
    EXPECT_EQ(client.control("POST", "/_sim/clock", body).status(), 400) << body;
  }
}

TEST(SimulatorControl, ResetForgetsEverythingAndCutsWaitingRequests) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"slow","delay_s":60,"commit_at":"end","count":1}]})");
  const RequestNr waiting = client.begin_post("/v1/charges", charge_form, "k1");
  client.post("/v1/charges", charge_form, "k2");
  const std::string first_id = client.provider.ledger().rows()[0].charge;
  EXPECT_EQ(client.control("POST", "/_sim/reset").status(), 200);
  EXPECT_EQ(client.answer(waiting)->wire.ending, WireEnding::rst);
  EXPECT_TRUE(client.provider.ledger().rows().empty());
  EXPECT_EQ(client.control("GET", "/_sim").at("keys"), "0");
  EXPECT_EQ(client.get("/v1/charges/" + first_id).status(), 404);
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k2").header("Idempotent-Replayed"), "");
  client.pass(std::chrono::hours(1));
  EXPECT_EQ(client.control("GET", "/_sim").at("charges"), "1");
  EXPECT_EQ(client.control("POST", "/_sim/reset", R"({"seed":9,"latency_ms":5})").at("latency_ms"),
            "5");
  EXPECT_EQ(client.control("POST", "/_sim/reset", R"({"sede":9})").status(), 400);
}

TEST(SimulatorControl, SetsShowsAndClearsFaults) {
  ApiClient client;
  const Answered set =
      client.control("POST", "/_sim/faults", R"({"rules":[{"kind":"gw_503","count":2}]})");
  EXPECT_EQ(set.status(), 200);
  client.post("/v1/charges", charge_form, "k1");
  const Answered shown = client.control("GET", "/_sim/faults");
  EXPECT_EQ(shown.at("rules.0.kind"), "gw_503");
  EXPECT_EQ(shown.at("rules.0.acted"), "1");
  EXPECT_EQ(client.control("POST", "/_sim/faults", R"({"rules":[{"kind":"x"}]})").status(), 400);
  EXPECT_EQ(client.control("GET", "/_sim/faults").at("rules.0.kind"), "gw_503");
  client.control("DELETE", "/_sim/faults");
  EXPECT_EQ(client.post("/v1/charges", charge_form, "k1").status(), 200);
}

TEST(SimulatorControl, ListsKeysAndEvents) {
  ApiClient client;
  const Answered made = client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
  client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
  const Answered keys = client.control("GET", "/_sim/keys");
  EXPECT_EQ(keys.at("0.key"), "k1");
  EXPECT_EQ(keys.at("0.phase"), "saved");
  EXPECT_EQ(keys.at("0.replays"), "1");
  EXPECT_EQ(keys.at("0.expires"), "2026-09-02T00:00:00.000Z");
  const Answered events = client.control("GET", "/_sim/events");
  EXPECT_EQ(events.at("0.type"), "payment_intent.created");
  EXPECT_EQ(events.at("1.type"), "charge.succeeded");
  EXPECT_EQ(events.at("2.type"), "payment_intent.succeeded");
  EXPECT_EQ(events.at("2.object"), made.at("id"));
  EXPECT_EQ(events.at("2.key"), "k1");
}

TEST(SimulatorControl, IsNeverFaultedCountedOrAuthorized) {
  ApiClient client;
  client.faults(R"({"rules":[{"kind":"drop_before","match":{"method":"ANY"}}]})");
  EXPECT_EQ(client.control("GET", "/_sim/ledger").status(), 200);
  EXPECT_EQ(client.control("GET", "/_sim").at("requests"), "0");
  EXPECT_EQ(client.control("GET", "/_sim/nothing").status(), 404);
}

TEST(SimulatorControl, RestoresEverythingItStored) {
  SimulatorSettings settings;
  settings.collect_changes = true;
  ApiClient before(settings);
  before.faults(R"({"rules":[{"kind":"processing","for_s":3600,"match":{"key":"k4"}}]})");
  std::map<std::pair<std::string, std::string>, StoredRow> latest;
  std::vector<std::pair<std::string, std::string>> order;
  const auto store = [&] {
    for (StoredRow& row : before.provider.take_changes()) {
      const auto name = std::make_pair(row.kind, row.id);
      if (!latest.contains(name)) order.push_back(name);
      latest[name] = std::move(row);
    }
  };
  const Answered paid = before.post("/v1/charges", charge_form, "k1");
  const std::string declining =
      "amount=700&currency=eur&customer=cus_9&source=tok_chargeDeclinedLostCard";
  const Answered declined = before.post("/v1/charges", declining, "k2");
  const Answered customer = before.post("/v1/customers", "name=N&metadata[a]=b", "k3");
  store();
  const Answered pending = before.post("/v1/payment_intents", intent_form + "&confirm=true", "k4");
  const Answered method =
      before.post("/v1/payment_methods", "type=card&card[token]=tok_chargeDeclined", "k5");
  before.provider.advance_clock(std::chrono::minutes(10));
  store();

  ApiClient after;
  std::vector<StoredRow> rows;
  for (const auto& name : order) rows.push_back(latest.at(name));
  const auto restored = after.provider.restore(rows);
  ASSERT_TRUE(restored.has_value()) << restored.error().context;
  after.now = before.now;
  EXPECT_EQ(after.provider.ledger().rows(), before.provider.ledger().rows());
  for (const auto& [path, form, key] :
       {std::tuple{"/v1/charges", charge_form, "k1"}, std::tuple{"/v1/charges", declining, "k2"}}) {
    const Answered again = after.post(path, form, key);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  }
  EXPECT_EQ(after.post("/v1/charges", charge_form, "k1").wire.body, paid.wire.body);
  EXPECT_EQ(after.get("/v1/customers/" + customer.at("id")).wire.body, customer.wire.body);
  EXPECT_EQ(after.get("/v1/charges", "customer=cus_9").wire.body,
            before.get("/v1/charges", "customer=cus_9").wire.body);
  const std::string intent = "/v1/payment_intents/" + pending.at("id");
  EXPECT_EQ(after.get(intent).wire.body, before.get(intent).wire.body);
  EXPECT_EQ(after.provider.provider_time(), before.provider.provider_time());
  after.provider.advance_clock(std::chrono::minutes(50));
  EXPECT_EQ(after.get(intent).at("status"), "succeeded");
  EXPECT_EQ(after.provider.ledger().rows().size(), 2U);
  EXPECT_EQ(after
                .post("/v1/payment_intents",
                      "amount=500&currency=usd&confirm=true&payment_method=" + method.at("id"))
                .status(),
            402);
  EXPECT_EQ(after.get("/v1/charges/" + declined.at("error.charge")).at("failure_code"),
            "card_declined");
}

TEST(SimulatorControl, RefusesStoredRowsThatItDidNotWrite) {
  const StoredRow bad[] = {
      {"ledger", "2", R"({"seq":2})"},
      {"charge", "ch_1", "nonsense"},
      {"charge", "ch_1", R"({"id":"ch_2","created":1,"amount":1,"currency":"usd","status":"x"})"},
      {"key", "k", R"({"key":"k"})"},
      {"meta", "meta", "{}"},
      {"surprise", "1", "{}"},
      {"customer", "cus_1", R"({"id":"cus_1"})"},
  };
  for (const StoredRow& row : bad) {
    SimulatedProvider provider{SimulatorSettings{}};
    const auto restored = provider.restore({row});
    ASSERT_FALSE(restored.has_value()) << row.text;
    EXPECT_EQ(restored.error().code, ErrorCode::store_corrupt);
    EXPECT_NE(restored.error().context.find(row.kind), std::string::npos);
  }
}

}  // namespace
}  // namespace onceward::provider::simulator
