// The list of events and the search: what can be looked up without knowing an id, and how late.
#include <gtest/gtest.h>

#include "provider/simulator/search_query.hpp"
#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using test::Answered;
using test::ApiClient;
using test::charge_form;
using test::intent_form;

std::size_t found(const Answered& answer) {
  return answer.json().at("data").as_array().size();
}

const std::string by_customer = "query=metadata%5B'onceward_customer'%5D:'cust_123'";

TEST(SimulatorEvents, AreListedByTypeWithTheKeyOfTheirRequest) {
  ApiClient client;
  const Answered paid = client.post("/v1/payment_intents", intent_form + "&confirm=true", "k1");
  client.pass(std::chrono::seconds(10));
  client.post("/v1/charges", charge_form, "k2");
  const Answered all = client.get("/v1/events");
  EXPECT_EQ(found(all), 4U);
  EXPECT_EQ(all.at("data.0.type"), "charge.succeeded");
  EXPECT_EQ(all.at("data.0.request.idempotency_key"), "k2");
  EXPECT_EQ(all.at("data.3.data.object.id"), paid.at("id"));
  EXPECT_EQ(found(client.get("/v1/events", "type=charge.succeeded")), 2U);
  EXPECT_EQ(found(client.get("/v1/events", "type=payment_intent.*")), 2U);
  EXPECT_EQ(found(client.get("/v1/events", "types[0]=charge.succeeded&types[1]=charge.failed")),
            2U);
  EXPECT_EQ(found(client.get("/v1/events", "created[gte]=1788220810")), 1U);
  const Answered page = client.get("/v1/events", "limit=1&starting_after=" + all.at("data.0.id"));
  EXPECT_EQ(page.at("data.0.id"), all.at("data.1.id"));
  EXPECT_EQ(page.at("has_more"), "true");
  EXPECT_EQ(client.get("/v1/events/" + all.at("data.1.id")).at("type"), all.at("data.1.type"));
  EXPECT_EQ(client.get("/v1/events/evt_1").status(), 404);
  EXPECT_EQ(client.get("/v1/events", "type=a&types[0]=b").status(), 400);
}

TEST(SimulatorSearch, FindsNothingUntilItsLagIsOver) {
  ApiClient client;
  const std::string id = client.post("/v1/payment_intents", intent_form).at("id");
  EXPECT_EQ(found(client.get("/v1/payment_intents/search", by_customer)), 0U);
  client.pass(std::chrono::milliseconds(59'999));
  EXPECT_EQ(found(client.get("/v1/payment_intents/search", by_customer)), 0U);
  client.pass(std::chrono::milliseconds(1));
  const Answered hit = client.get("/v1/payment_intents/search", by_customer);
  EXPECT_EQ(hit.at("object"), "search_result");
  EXPECT_EQ(hit.at("data.0.id"), id);
  EXPECT_EQ(hit.at("has_more"), "false");
  // An outage of an hour.
  EXPECT_EQ(client.control("POST", "/_sim/search", R"({"lag_s":3600})").status(), 200);
  EXPECT_EQ(found(client.get("/v1/payment_intents/search", by_customer)), 0U);
  EXPECT_EQ(client.control("POST", "/_sim/search", R"({"lag":1})").status(), 400);
}

TEST(SimulatorSearch, FiltersByTheStatusItKnewAndShowsThePresentOne) {
  ApiClient client;
  const std::string path =
      "/v1/payment_intents/" + client.post("/v1/payment_intents", intent_form).at("id");
  client.pass(std::chrono::seconds(60));
  EXPECT_EQ(client.post(path + "/confirm", "off_session=true").status(), 200);
  const Answered stale =
      client.get("/v1/payment_intents/search", "query=status:'requires_confirmation'");
  ASSERT_EQ(found(stale), 1U);
  EXPECT_EQ(stale.at("data.0.status"), "succeeded");
  EXPECT_EQ(found(client.get("/v1/payment_intents/search", "query=status:'succeeded'")), 0U);
  client.pass(std::chrono::seconds(60));
  EXPECT_EQ(found(client.get("/v1/payment_intents/search", "query=status:'succeeded'")), 1U);
}

TEST(SimulatorSearch, TurnsPages) {
  ApiClient client;
  for (const char* key : {"k1", "k2", "k3"}) client.post("/v1/charges", charge_form, key);
  client.pass(std::chrono::seconds(60));
  const Answered first = client.get("/v1/charges/search", by_customer + "&limit=2");
  EXPECT_EQ(found(first), 2U);
  EXPECT_EQ(first.at("has_more"), "true");
  const Answered second =
      client.get("/v1/charges/search", by_customer + "&limit=2&page=" + first.at("next_page"));
  EXPECT_EQ(found(second), 1U);
  EXPECT_EQ(second.at("next_page"), "");
  EXPECT_EQ(client.get("/v1/charges/search", by_customer + "&page=x").status(), 400);
}

TEST(SimulatorSearch, SaysWhatIsWrongWithAQuery) {
  ApiClient client;
  for (const char* query : {"", "status", "status:", "status:x", "colour:'red'", "metadata:'x'",
                            "status:'a' AND currency:'b' OR amount:1", "status:'a' status:'b'",
                            "amount>'x'", "status:'a"}) {
    EXPECT_EQ(client.get("/v1/charges/search", "query=" + std::string(query)).status(), 400)
        << query;
  }
  EXPECT_EQ(client.get("/v1/charges/search").status(), 400);
}

TEST(SimulatorSearch, TakesTenClausesAndNoMore) {
  std::string query = "amount>0";
  for (int nr = 1; nr < 10; ++nr) query += " AND amount>0";
  EXPECT_TRUE(parse_search_query(query).has_value());
  EXPECT_FALSE(parse_search_query(query + " AND amount>0").has_value());
}

TEST(SimulatorSearch, EvaluatesClauses) {
  const auto value = [](const SearchClause& clause) -> std::optional<std::string> {
    if (clause.field == "amount") return "100";
    if (clause.field == "metadata") return clause.key == "a" ? "bcd" : "";
    return std::nullopt;
  };
  const auto fits = [&](std::string_view text) {
    return matches(parse_search_query(text).value(), value);
  };
  EXPECT_TRUE(fits("amount>99 AND metadata['a']~'c'"));
  EXPECT_TRUE(fits("amount:5 OR amount<=100"));
  EXPECT_TRUE(fits("-amount<100"));
  EXPECT_TRUE(fits(R"(metadata["a"]:"bcd")"));
  EXPECT_TRUE(fits("metadata['x']:null"));
  EXPECT_FALSE(fits("amount>=101"));
  EXPECT_FALSE(fits("amount:100 AND -metadata['a']:'bcd'"));
}

}  // namespace
}  // namespace onceward::provider::simulator
