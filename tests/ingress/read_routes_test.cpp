// The reading routes, routing itself, and who may call what.
#include <gtest/gtest.h>

#include "tests/ingress/fake_node.hpp"

namespace onceward::ingress {
namespace {

using test::header_of;
using test::Inbox;
using test::text_at;

class ReadRoutesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto clock = platform::SystemClock::open({});
    ASSERT_TRUE(clock.has_value());
    clock_ = std::move(*clock);
    runtime_.on_ask = [](const billing::BillCustomer&, const test::FakeRuntime::Told&) {
      ADD_FAILURE() << "a read must not ask an entity";
    };
    start({});
  }
  void start(HttpApiOptions options) {
    auto api =
        HttpApi::start(std::move(options),
                       {.runtime = runtime_,
                        .journal = journal_,
                        .clock = *clock_,
                        .runs = nullptr,
                        .not_ready = []() -> std::optional<std::string> { return std::nullopt; }});
    ASSERT_TRUE(api.has_value());
    api_ = std::move(*api);
  }
  platform::HttpResponse ask(const std::string& method, const std::string& target,
                             std::vector<platform::HttpHeader> headers = {}) {
    platform::HttpRequest request;
    request.method = method;
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    if (target.find('?') != std::string::npos) request.query = target.substr(target.find('?') + 1);
    request.headers = std::move(headers);
    Inbox inbox;
    api_->handle(std::move(request), inbox.answer());
    return inbox.wait();
  }
  ObligationRow put(const std::string& customer, ObligationStatus status,
                    const std::string& purpose = "subscription") {
    ObligationRow row;
    row.key = {CustomerId{customer}, *BillingPeriod::parse("2026-08"), Purpose{purpose}};
    row.amount = {4990, *Currency::parse("usd")};
    row.status = status;
    store_.put(row);
    return row;
  }

  test::FakeStore store_;
  test::FakeJournal journal_{store_};
  test::FakeRuntime runtime_;
  std::unique_ptr<platform::SystemClock> clock_;
  std::unique_ptr<HttpApi> api_;
};

TEST_F(ReadRoutesTest, obligation_is_200_in_every_status) {
  for (const auto status : all_obligation_statuses) {
    put("c", status);
    const auto response = ask("GET", "/v1/billing/c/2026-08");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(text_at(response, "status"), to_text(status));
  }
}

TEST_F(ReadRoutesTest, ids_of_any_graphic_character_are_found) {
  put("a/b:c+d.e%f?g#", ObligationStatus::completed);
  EXPECT_EQ(ask("GET", "/v1/billing/a%2Fb:c+d.e%25f%3Fg%23/2026-08").status, 200);
  EXPECT_EQ(ask("GET", "/v1/billing/a%2fb%3Ac%2Bd%2Ee%25f%3fg%23/2026-08").status, 200);
  EXPECT_EQ(ask("GET", "/v1/billing/a/b:c+d.e%25f%3Fg%23/2026-08").status, 404);
}

TEST_F(ReadRoutesTest, purpose_is_part_of_the_obligation) {
  put("c", ObligationStatus::completed, "addon");
  EXPECT_EQ(ask("GET", "/v1/billing/c/2026-08").status, 404);
  EXPECT_EQ(ask("GET", "/v1/billing/c/2026-08?purpose=addon").status, 200);
}

TEST_F(ReadRoutesTest, unknown_and_malformed_are_told_apart) {
  const auto absent = ask("GET", "/v1/billing/c/2026-08");
  EXPECT_EQ(absent.status, 404);
  EXPECT_EQ(text_at(absent, "code"), "OW1003");
  EXPECT_EQ(header_of(absent, "Content-Type"), "application/problem+json");
  for (const auto* bad : {"/v1/billing/c/2026-8", "/v1/billing/a%20b/2026-08",
                          "/v1/billing/%/2026-08", "/v1/billing/c/2026-08?purpos=x",
                          "/v1/billing/c/2026-08?wait=x", "/v1/billing/c/2026-08?purpose=UPPER"}) {
    EXPECT_EQ(ask("GET", bad).status, 400) << bad;
  }
}

TEST_F(ReadRoutesTest, wait_ends_when_the_obligation_is_settled) {
  auto row = put("c", ObligationStatus::in_progress);
  platform::HttpRequest request;
  request.method = "GET";
  request.path = "/v1/billing/c/2026-08";
  request.query = "wait=30";
  Inbox inbox;
  api_->handle(std::move(request), inbox.answer());
  EXPECT_TRUE(inbox.is_empty());
  row.status = ObligationStatus::completed;
  store_.put(row);
  EXPECT_EQ(text_at(inbox.wait(), "status"), "completed");
}

TEST_F(ReadRoutesTest, wait_ends_when_time_is_up) {
  put("c", ObligationStatus::in_progress);
  EXPECT_EQ(text_at(ask("GET", "/v1/billing/c/2026-08?wait=1"), "status"), "in_progress");
}

TEST_F(ReadRoutesTest, quarantine_is_shown_and_ends_a_wait) {
  put("c", ObligationStatus::in_progress);
  store_.quarantine(CustomerId{"c"});
  const auto response = ask("GET", "/v1/billing/c/2026-08?wait=60");
  EXPECT_NE(text_at(response, "quarantined").find("chain broken"), std::string::npos);
}

TEST_F(ReadRoutesTest, store_that_cannot_be_read_is_503) {
  store_.fail_with(Error{ErrorCode::store_uncertain, "barrier pending"});
  for (const auto* path : {"/v1/billing/c/2026-08", "/v1/billing/2026-08", "/v1/customers/c",
                           "/v1/customers/c/timeline"}) {
    const auto response = ask("GET", path);
    EXPECT_EQ(response.status, 503) << path;
    EXPECT_EQ(text_at(response, "charge_state"), "unknown") << path;
  }
}

TEST_F(ReadRoutesTest, period_is_listed_page_by_page_without_gap_or_repeat) {
  for (int i = 0; i < 7; ++i) {
    put("c" + std::to_string(i),
        i % 2 == 0 ? ObligationStatus::completed : ObligationStatus::declined);
  }
  put("c3", ObligationStatus::completed, "addon");
  std::string cursor;
  std::string seen;
  for (int page = 0; page < 10 && page * 3 <= 9; ++page) {
    const auto response =
        ask("GET", "/v1/billing/2026-08?limit=3" + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(response.status, 200);
    const auto body = test::json_of(response);
    for (const auto& item : body.at("obligations").as_array()) {
      seen += std::string(item.at("customer").as_string().c_str()) + ",";
    }
    if (body.at("next_cursor").is_null()) break;
    cursor = body.at("next_cursor").as_string().c_str();
  }
  EXPECT_EQ(seen, "c0,c1,c2,c3,c3,c4,c5,c6,");
  const auto declined = test::json_of(ask("GET", "/v1/billing/2026-08?status=declined"));
  EXPECT_EQ(declined.at("obligations").as_array().size(), 3U);
}

TEST_F(ReadRoutesTest, period_is_listed_as_csv_and_ndjson) {
  put("c0", ObligationStatus::completed);
  put("c1", ObligationStatus::completed);
  const auto csv = ask("GET", "/v1/billing/2026-08?format=csv&limit=1");
  EXPECT_EQ(csv.body.rfind("customer,period,purpose,status,", 0), 0U);
  EXPECT_NE(csv.body.find("\r\nc0,2026-08,subscription,completed,4990,usd,"), std::string::npos);
  const auto cursor = header_of(csv, "Onceward-Next-Cursor");
  EXPECT_NE(cursor, "(absent)");
  const auto ndjson = ask("GET", "/v1/billing/2026-08?format=ndjson&cursor=" + cursor);
  EXPECT_EQ(ndjson.body.rfind("{\"customer\":\"c1\"", 0), 0U);
  EXPECT_EQ(header_of(ndjson, "Onceward-Next-Cursor"), "(absent)");
}

TEST_F(ReadRoutesTest, bad_list_queries_are_400) {
  for (const auto* bad :
       {"status=paid", "cursor=zz", "cursor=00", "cursor=0", "limit=0", "limit=1001", "limit=x",
        "limit=", "format=xml", "page=2", "cursor=312c"}) {
    EXPECT_EQ(ask("GET", std::string("/v1/billing/2026-08?") + bad).status, 400) << bad;
  }
  EXPECT_EQ(ask("GET", "/v1/billing/august").status, 400);
}

TEST_F(ReadRoutesTest, customer_and_timeline_tell_history_and_verdict) {
  auto row = put("c", ObligationStatus::completed);
  row.charge_id = "ch_9";
  store_.put(row);
  StoredEvent event;
  event.sequence_nr = {1};
  event.event = {{"BillingInitiated", 1}, "{\"a\":1}"};
  event.epoch = {4};
  event.writer = WriterId{"w"};
  store_.events_["customer/c"] = {event};
  const auto customer = test::json_of(ask("GET", "/v1/customers/c"));
  EXPECT_EQ(customer.at("obligations").at(0).at("verdict").as_string(), "charged once: ch_9");
  const auto timeline = test::json_of(ask("GET", "/v1/customers/c/timeline"));
  const auto& told = timeline.at("events").at(0);
  EXPECT_EQ(told.at("event").as_string(), "BillingInitiated");
  EXPECT_EQ(told.at("data").at("a").as_int64(), 1);
  EXPECT_EQ(told.at("epoch").as_int64(), 4);
  EXPECT_EQ(timeline.at("verdicts").at(0).at("verdict").as_string(), "charged once: ch_9");
  EXPECT_EQ(ask("GET", "/v1/customers/nobody").status, 404);
  EXPECT_EQ(ask("GET", "/v1/customers/nobody/timeline").status, 404);
  EXPECT_EQ(ask("GET", "/v1/customers/c/timeline?after=x").status, 400);
}

TEST_F(ReadRoutesTest, timeline_of_a_long_history_continues_where_it_was_cut) {
  auto& events = store_.events_["customer/c"];
  for (std::uint64_t nr = 1; nr <= 1'500; ++nr) {
    StoredEvent event;
    event.sequence_nr = {nr};
    event.event = {{"E", 1}, "{}"};
    events.push_back(event);
  }
  const auto first = test::json_of(ask("GET", "/v1/customers/c/timeline"));
  EXPECT_EQ(first.at("events").as_array().size(), 1'000U);
  EXPECT_EQ(first.at("next_after").as_int64(), 1000);
  const auto second = test::json_of(ask("GET", "/v1/customers/c/timeline?after=1000"));
  EXPECT_EQ(second.at("events").as_array().size(), 500U);
  EXPECT_TRUE(second.at("next_after").is_null());
}

TEST_F(ReadRoutesTest, unknown_paths_are_404_and_wrong_methods_405_with_allow) {
  for (const auto* path :
       {"/", "/v1", "/v1/", "/v2/billing", "/v1/billing/", "/v1/billing/c/2026-08/x",
        "/v1//2026-08", "/v1/billing//2026-08", "//v1/billing"}) {
    const auto response = ask("GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(header_of(response, "Content-Type"), "application/problem+json") << path;
  }
  const auto get = ask("GET", "/v1/billing");
  EXPECT_EQ(get.status, 405);
  EXPECT_EQ(header_of(get, "Allow"), "POST");
  const auto remove = ask("DELETE", "/v1/billing/c/2026-08");
  EXPECT_EQ(remove.status, 405);
  EXPECT_EQ(header_of(remove, "Allow"), "GET, HEAD");
}

TEST_F(ReadRoutesTest, head_is_answered_as_get) {
  put("c", ObligationStatus::completed);
  EXPECT_EQ(ask("HEAD", "/v1/billing/c/2026-08").status, 200);
  EXPECT_EQ(ask("HEAD", "/v1/billing/d/2026-08").status, 404);
}

TEST_F(ReadRoutesTest, tokens_are_asked_for_and_roles_are_kept) {
  start({.tokens = {{"alice", Role::viewer, sha256("v-token")},
                    {"shop", Role::service, sha256("s-token")}}});
  put("c", ObligationStatus::completed);
  const auto none = ask("GET", "/v1/billing/c/2026-08");
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(header_of(none, "WWW-Authenticate"), "Bearer");
  EXPECT_EQ(ask("GET", "/v1/billing/c/2026-08", {{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(ask("GET", "/v1/billing/c/2026-08", {{"Authorization", "v-token"}}).status, 401);
  EXPECT_EQ(ask("GET", "/nowhere").status, 401);
  EXPECT_EQ(ask("GET", "/v1/billing/c/2026-08", {{"Authorization", "Bearer v-token"}}).status, 200);
  const auto viewer = ask("POST", "/v1/billing", {{"Authorization", "Bearer v-token"}});
  EXPECT_EQ(viewer.status, 403);
  EXPECT_EQ(text_at(viewer, "code"), "OW6008");
  EXPECT_EQ(ask("POST", "/v1/billing", {{"Authorization", "Bearer s-token"}}).status, 400);
}

TEST_F(ReadRoutesTest, page_of_another_site_cannot_change_anything) {
  EXPECT_EQ(
      ask("POST", "/v1/billing", {{"Host", "127.0.0.1:8080"}, {"Origin", "http://evil.example"}})
          .status,
      403);
  EXPECT_EQ(
      ask("POST", "/v1/billing", {{"Host", "127.0.0.1:8080"}, {"Origin", "http://127.0.0.1:8080"}})
          .status,
      400);
}

}  // namespace
}  // namespace onceward::ingress
