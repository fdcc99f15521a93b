// Refunds: amounts, repeats, late ends, events, and the rows that the ledger keeps of them.
#include <gtest/gtest.h>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

std::string new_charge(ApiClient& client) {
  return client.post("/v1/charges", charge_form, "charge").at("id");
}

std::vector<std::string> event_types(ApiClient& client) {
  std::vector<std::string> types;
  const auto events = client.control("GET", "/_sim/events").json();
  for (const auto& event : events.as_array()) types.push_back(test::at(event, "type"));
  return types;
}

TEST(SimulatorRefunds, ReturnsAWholeChargeAndKeepsARow) {
  ApiClient client;
  const std::string charge = new_charge(client);
  const Answered made =
      client.post("/v1/refunds", "charge=" + charge + "&reason=duplicate&metadata[a]=b", "r1");
  ASSERT_EQ(made.status(), 200);
  EXPECT_EQ(made.at("object"), "refund");
  EXPECT_EQ(made.at("amount"), "4990");
  EXPECT_EQ(made.at("charge"), charge);
  EXPECT_EQ(made.at("status"), "succeeded");
  EXPECT_EQ(made.at("reason"), "duplicate");
  EXPECT_EQ(made.at("metadata.a"), "b");
  const Answered shown = client.get("/v1/charges/" + charge);
  EXPECT_EQ(shown.at("refunded"), "true");
  EXPECT_EQ(shown.at("amount_refunded"), "4990");

  ASSERT_EQ(client.provider.ledger().refunds().size(), 1U);
  const LedgerRow& row = client.provider.ledger().refunds()[0];
  EXPECT_EQ(row.seq, 1U);
  EXPECT_EQ(row.customer, "cust_123");
  EXPECT_EQ(row.period, "2026-08");
  EXPECT_EQ(row.charge, charge);
  EXPECT_EQ(row.refund, made.at("id"));
  EXPECT_EQ(row.amount, 4990);
  EXPECT_EQ(row.key, "r1");
  EXPECT_EQ(client.provider.ledger().rows().size(), 1U);  // the charge has happened all the same
  const auto rows = client.control("GET", "/_sim/refunds", "", "customer=cust_123").json();
  ASSERT_EQ(rows.as_array().size(), 1U);
  EXPECT_EQ(test::at(rows, "0.refund"), made.at("id"));
  EXPECT_EQ(client.control("GET", "/_sim/refunds", "", "period=2026-09").json().as_array().size(),
            0U);
}

TEST(SimulatorRefunds, ReturnsNoMoreThanIsLeft) {
  ApiClient client;
  const std::string charge = new_charge(client);
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge + "&amount=1000").status(), 200);
  const Answered above = client.post("/v1/refunds", "charge=" + charge + "&amount=3991");
  EXPECT_EQ(above.status(), 400);
  EXPECT_EQ(above.at("error.param"), "amount");
  EXPECT_EQ(client.get("/v1/charges/" + charge).at("refunded"), "false");
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge).at("amount"), "3990");
  for (const char* amount : {"", "&amount=1"}) {
    const Answered again = client.post("/v1/refunds", "charge=" + charge + amount);
    EXPECT_EQ(again.status(), 400);
    EXPECT_EQ(again.at("error.code"), "charge_already_refunded");
    EXPECT_EQ(again.at("error.charge"), charge);
  }
  EXPECT_EQ(client.provider.ledger().refunds().size(), 2U);
}

TEST(SimulatorRefunds, RefusesWhatCannotBeRefunded) {
  ApiClient client;
  EXPECT_EQ(client.post("/v1/refunds", "amount=1").at("error.code"), "parameter_missing");
  EXPECT_EQ(client.post("/v1/refunds", "charge=ch_1").status(), 404);
  EXPECT_EQ(client.post("/v1/refunds", "payment_intent=pi_1").status(), 404);
  const std::string charge = new_charge(client);
  for (const char* form :
       {"&amount=0", "&amount=-1", "&amount=x", "&reason=because", "&colour=1"}) {
    EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge + form).status(), 400) << form;
  }
  const std::string intent = client.post("/v1/payment_intents", intent_form).at("id");
  EXPECT_EQ(client.post("/v1/refunds", "payment_intent=" + intent).at("error.code"),
            "charge_not_refundable");
  const Answered declined =
      client.post("/v1/charges", "amount=100&currency=usd&customer=c&source=tok_chargeDeclined");
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + declined.at("error.charge")).at("error.code"),
            "charge_not_refundable");
  EXPECT_EQ(client.provider.ledger().refunds().size(), 0U);
}

TEST(SimulatorRefunds, ReplaysUnderItsKeyAndReadsBackByIdAndList) {
  ApiClient client;
  const Answered paid = client.post("/v1/payment_intents", intent_form + "&confirm=true", "pay");
  const std::string form = "payment_intent=" + paid.at("id") + "&amount=500";
  const Answered first = client.post("/v1/refunds", form, "r1");
  ASSERT_EQ(first.status(), 200);
  EXPECT_EQ(first.at("payment_intent"), paid.at("id"));
  const Answered again = client.post("/v1/refunds", form, "r1");
  EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
  EXPECT_EQ(again.wire.body, first.wire.body);
  const Answered second = client.post("/v1/refunds", form, "r2");
  EXPECT_EQ(client.provider.ledger().refunds().size(), 2U);

  EXPECT_EQ(client.get("/v1/refunds/" + first.at("id")).at("amount"), "500");
  EXPECT_EQ(client.get("/v1/refunds/re_1").status(), 404);
  const Answered list = client.get("/v1/refunds", "charge=" + first.at("charge"));
  EXPECT_EQ(list.at("data.0.id"), second.at("id"));
  EXPECT_EQ(list.at("data.1.id"), first.at("id"));
  EXPECT_EQ(
      client.get("/v1/refunds", "payment_intent=" + paid.at("id") + "&limit=1").at("has_more"),
      "true");
  EXPECT_EQ(client.get("/v1/refunds", "payment_intent=pi_1").json().at("data").as_array().size(),
            0U);
  EXPECT_EQ(client.post("/v1/refunds/" + first.at("id"), "metadata[note]=x").at("metadata.note"),
            "x");
}

TEST(SimulatorRefunds, PendingOnesEndLater) {
  ApiClient client;
  const std::string charge = new_charge(client);
  client.faults(R"({"rules":[
      {"kind":"refund_pending","for_s":60,"match":{"customer":"cust_123"},"count":1},
      {"kind":"refund_pending","for_s":60,"then":"failed","count":1},
      {"kind":"refund_failed","code":"expired_or_canceled_card","count":1}]})");
  const std::string good = client.post("/v1/refunds", "charge=" + charge + "&amount=1000").at("id");
  const std::string bad = client.post("/v1/refunds", "charge=" + charge + "&amount=2000").at("id");
  const Answered failed = client.post("/v1/refunds", "charge=" + charge + "&amount=1990");
  EXPECT_EQ(failed.at("status"), "failed");
  EXPECT_EQ(failed.at("failure_reason"), "expired_or_canceled_card");
  EXPECT_EQ(client.get("/v1/refunds/" + good).at("status"), "pending");
  EXPECT_EQ(client.get("/v1/charges/" + charge).at("amount_refunded"), "3000");
  EXPECT_EQ(client.provider.ledger().refunds().size(), 0U);

  client.pass(std::chrono::seconds(60));
  EXPECT_EQ(client.get("/v1/refunds/" + good).at("status"), "succeeded");
  EXPECT_EQ(client.get("/v1/refunds/" + bad).at("status"), "failed");
  EXPECT_EQ(client.get("/v1/charges/" + charge).at("amount_refunded"), "1000");
  ASSERT_EQ(client.provider.ledger().refunds().size(), 1U);
  EXPECT_EQ(client.provider.ledger().refunds()[0].refund, good);
}

TEST(SimulatorRefunds, TellsTheEvents) {
  ApiClient client;
  const std::string charge = new_charge(client);
  client.faults(R"({"rules":[{"kind":"refund_pending","for_s":60,"then":"failed","count":1}]})");
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge + "&amount=10").status(), 200);
  client.pass(std::chrono::seconds(60));
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge).status(), 200);
  EXPECT_EQ(event_types(client),
            (std::vector<std::string>{"charge.succeeded", "refund.created", "charge.refunded",
                                      "refund.updated", "refund.failed", "refund.created",
                                      "charge.refunded"}));
}

TEST(SimulatorRefunds, SurviveARestart) {
  SimulatorSettings settings;
  settings.collect_changes = true;
  ApiClient client(settings);
  const std::string charge = new_charge(client);
  client.faults(R"({"rules":[{"kind":"refund_pending","for_s":60,"count":1}]})");
  const std::string pending =
      client.post("/v1/refunds", "charge=" + charge + "&amount=1000", "r1").at("id");
  EXPECT_EQ(client.post("/v1/refunds", "charge=" + charge + "&amount=500", "r2").status(), 200);
  const std::vector<StoredRow> rows = client.provider.take_changes();
  // The newest text of each row, in the order of first storage, as the database gives them.
  std::map<std::pair<std::string, std::string>, std::string> newest;
  for (const StoredRow& row : rows) newest[{row.kind, row.id}] = row.text;
  std::vector<StoredRow> kept;
  for (const StoredRow& row : rows) {
    const auto found = newest.find({row.kind, row.id});
    if (found == newest.end()) continue;
    kept.push_back({row.kind, row.id, found->second});
    newest.erase(found);
  }

  ApiClient after(settings);
  const auto restored = after.provider.restore(kept);
  ASSERT_TRUE(restored.has_value()) << restored.error().context;
  EXPECT_EQ(after.provider.ledger().rows(), client.provider.ledger().rows());
  EXPECT_EQ(after.provider.ledger().refunds(), client.provider.ledger().refunds());
  EXPECT_EQ(after.post("/v1/refunds", "charge=" + charge + "&amount=3491").status(), 400);
  after.pass(std::chrono::seconds(60));
  EXPECT_EQ(after.get("/v1/refunds/" + pending).at("status"), "succeeded");
  EXPECT_EQ(after.provider.ledger().refunds().size(), 2U);
}

}  // namespace
}  // namespace onceward::provider::simulator
