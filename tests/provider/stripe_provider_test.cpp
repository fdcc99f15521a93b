// StripeProvider end to end against a scripted server: what goes out, and what each way of
// answering, or failing to, is observed as.
#include <onceward/platform/system_clock.hpp>
#include <onceward/provider/classification.hpp>

#include "tests/provider/stripe_provider_fixture.hpp"
#include "tests/support/tls_server.hpp"

namespace onceward::provider::test {
namespace {

// --- what goes out ---

TEST(StripeProvider, SendsAFrozenRequestWithKeyVersionAndCredentials) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  const auto answer = perform_once(server.url(), charge_request());
  ASSERT_EQ(answer.observation, Observation::object) << answer.message;
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].line(), "POST /v1/charges HTTP/1.1");
  EXPECT_EQ(requests[0].body, "amount=4990&currency=usd&metadata[onceward_period]=2026-08");
  EXPECT_EQ(requests[0].header("Idempotency-Key"), charge_request().key.value());
  EXPECT_EQ(requests[0].header("Authorization"), std::string("Bearer ") + secret_key);
  EXPECT_EQ(requests[0].header("Stripe-Version"), "2024-06-20");
  EXPECT_EQ(requests[0].header("Content-Type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(requests[0].header("Expect"), "");
}

TEST(StripeProvider, ResendsAreByteEqual) {
  RawServer server(always(http_reply(500, "")));
  const auto provider = open_provider(options_for(server.url()));
  (void)perform(*provider, charge_request());
  (void)perform(*provider, charge_request());
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].head, requests[1].head);
  EXPECT_EQ(requests[0].body, requests[1].body);
}

TEST(StripeProvider, AnswersWithTheObjectOfItsRequest) {
  RawServer server(always(http_reply(200, intent_json("pi_1"))));
  const auto answer = perform_once(server.url(), request_of(Operation::confirm_intent, "pi_1"));
  EXPECT_EQ(server.requests().at(0).line(), "POST /v1/payment_intents/pi_1/confirm HTTP/1.1");
  EXPECT_EQ(answer.observation, Observation::object);
  EXPECT_EQ(answer.key, charge_request().key);
  EXPECT_EQ(answer.operation, Operation::confirm_intent);
  EXPECT_TRUE(answer.single_wire_send);
  ASSERT_EQ(answer.objects.size(), 1U);
  EXPECT_EQ(answer.objects[0].id, "pi_1");
  EXPECT_EQ(answer.objects[0].charge, "ch_9");
}

TEST(StripeProvider, ALookUpCarriesNoKey) {
  RawServer server(always(http_reply(200, intent_json("pi_1", "processing"))));
  const auto answer = perform_once(server.url(), request_of(Operation::get_intent, "pi_1"));
  EXPECT_EQ(answer.observation, Observation::object);
  EXPECT_EQ(server.requests().at(0).line(), "GET /v1/payment_intents/pi_1 HTTP/1.1");
  EXPECT_EQ(server.requests().at(0).header("Idempotency-Key"), "");
}

TEST(StripeProvider, WhatCannotBeSentIsRefusedUnsent) {
  RawServer server(always(http_reply(200, intent_json("pi_1"))));
  const auto provider = open_provider(options_for(server.url()));
  auto bad_key = charge_request();
  bad_key.key = IdempotencyKey("key\r\nX-Injected: 1");
  for (const auto& request : {bad_key, request_of(Operation::get_intent, ""),
                              request_of(Operation::confirm_intent, "")}) {
    const auto answer = perform(*provider, request);
    EXPECT_EQ(answer.observation, Observation::invalid_request);
    EXPECT_EQ(answer.code, "unsendable");
    EXPECT_TRUE(answer.single_wire_send);
  }
  EXPECT_EQ(server.requests().size(), 0U);
  EXPECT_EQ(provider->stats().in_flight, 0U);
}

TEST(StripeProviderDeathTest, APostWithoutKeyAborts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto request = charge_request();
  request.key = IdempotencyKey();
  EXPECT_DEATH(
      {
        const auto provider = open_provider(options_for("http://127.0.0.1:1"));
        (void)perform(*provider, request);
      },
      "a POST without idempotency key");
}

// --- the table, row by row ---

struct TableCase {
  const char* name;
  int status;
  std::string body;
  Observation expected;
  const char* code;
};

std::ostream& operator<<(std::ostream& out, const TableCase& row) {
  return out << row.name;
}

class AnswerTable : public testing::TestWithParam<TableCase> {};

TEST_P(AnswerTable, IsObservedEndToEnd) {
  const TableCase& row = GetParam();
  RawServer server(always(http_reply(row.status, row.body)));
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(to_text(answer.observation), to_text(row.expected)) << answer.message;
  EXPECT_EQ(answer.code, row.code);
  EXPECT_TRUE(answer.single_wire_send);
  EXPECT_EQ(server.requests().size(), 1U) << "nothing is retried by the port";
}

constexpr const char* request_error = "invalid_request_error";

INSTANTIATE_TEST_SUITE_P(
    Rows, AnswerTable,
    testing::Values(
        TableCase{"object", 200, charge_json("ch_1"), Observation::object, ""},
        TableCase{"failed_charge_is_an_object", 200, charge_json("ch_1", "failed"),
                  Observation::object, ""},
        TableCase{"unknown_status_is_an_object", 200, charge_json("ch_1", "brand_new"),
                  Observation::object, ""},
        TableCase{"garbage", 200, "garbage", Observation::bad_body, "unreadable"},
        TableCase{"html", 200, "<html>ok</html>", Observation::bad_body, "unreadable"},
        TableCase{"empty", 200, "", Observation::bad_body, "unreadable"},
        TableCase{"truncated", 200, charge_json("ch_1").substr(0, 50), Observation::bad_body,
                  "unreadable"},
        TableCase{"other_kind", 200, intent_json("pi_1"), Observation::bad_body, "unreadable"},
        TableCase{"validation", 400, error_json(request_error, "parameter_missing"),
                  Observation::invalid_request, "parameter_missing"},
        TableCase{"unexpected_state", 400,
                  error_json(request_error, "payment_intent_unexpected_state"),
                  Observation::unexpected_state, "payment_intent_unexpected_state"},
        TableCase{"key_mismatch", 400, error_json("idempotency_error", "mismatch"),
                  Observation::key_mismatch, "mismatch"},
        TableCase{"html_400", 400, "<html>", Observation::other_client_error, ""},
        TableCase{"unauthorized", 401, error_json(request_error, "api_key_expired"),
                  Observation::unauthorized, "api_key_expired"},
        TableCase{"declined", 402, error_json("card_error", "card_declined"), Observation::declined,
                  "card_declined"},
        TableCase{"html_402", 402, "<html>", Observation::other_client_error, ""},
        TableCase{"forbidden", 403, error_json(request_error, "more_permissions"),
                  Observation::unauthorized, "more_permissions"},
        TableCase{"not_found", 404, error_json(request_error, "resource_missing"),
                  Observation::not_found, "resource_missing"},
        TableCase{"key_in_use", 409, error_json(request_error, "idempotency_key_in_use"),
                  Observation::key_in_use, "idempotency_key_in_use"},
        TableCase{"failed_dependency", 424, error_json("api_error", "dependency"),
                  Observation::other_client_error, "dependency"},
        TableCase{"rate_limited", 429, error_json(request_error, "rate_limit"),
                  Observation::rate_limited, "rate_limit"},
        TableCase{"lock_timeout", 429, error_json(request_error, "lock_timeout"),
                  Observation::lock_timeout, "lock_timeout"},
        TableCase{"server_error", 500, error_json("api_error", "oops"), Observation::server_error,
                  "oops"},
        TableCase{"html_502", 502, "<html>", Observation::gateway_error, ""},
        TableCase{"unavailable", 503, "", Observation::gateway_error, ""},
        TableCase{"gateway_timeout", 504, "", Observation::gateway_error, ""}),
    [](const testing::TestParamInfo<TableCase>& row) { return row.param.name; });

TEST(StripeProvider, ARedirectIsReportedNotFollowed) {
  RawServer elsewhere(always(http_reply(200, charge_json("ch_1"))));
  RawServer server(always(http_reply(308, "", "Location: " + elsewhere.url() + "/v1/charges\r\n")));
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(answer.observation, Observation::redirect);
  EXPECT_EQ(elsewhere.requests().size(), 0U);
}

// --- declines and refusals in detail ---

TEST(StripeProvider, ADeclinedIntentComesWithTheIntentAndItsFailedCharge) {
  RawServer server(always(http_reply(
      402, error_json("card_error", "card_declined",
                      R"(,"decline_code":"insufficient_funds","charge":"ch_7","payment_intent":)" +
                          intent_json("pi_1", "requires_payment_method")))));
  const auto answer = perform_once(server.url(), request_of(Operation::confirm_intent, "pi_1"));
  EXPECT_EQ(answer.observation, Observation::declined);
  EXPECT_EQ(answer.decline_code, "insufficient_funds");
  ASSERT_EQ(answer.objects.size(), 1U);
  EXPECT_EQ(answer.objects[0].id, "pi_1");
  EXPECT_EQ(answer.objects[0].status, "requires_payment_method");
  EXPECT_EQ(answer.objects[0].failure_charge, "ch_7");
}

TEST(StripeProvider, ADeclinedChargeNamesTheCharge) {
  RawServer server(
      always(http_reply(402, error_json("card_error", "card_declined",
                                        R"(,"decline_code":"lost_card","charge":"ch_7")"))));
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(answer.observation, Observation::declined);
  ASSERT_EQ(answer.objects.size(), 1U);
  EXPECT_EQ(answer.objects[0].object, "charge");
  EXPECT_EQ(answer.objects[0].id, "ch_7");
  EXPECT_EQ(answer.objects[0].decline_code, "lost_card");
  EXPECT_EQ(answer.objects[0].status, "") << "not told by the provider";
}

TEST(StripeProvider, HandsOnHowLongToWaitAndWhomToAsk) {
  for (const auto& [header, expected] :
       std::vector<std::pair<std::string, std::optional<std::chrono::milliseconds>>>{
           {"Retry-After: 3\r\n", 3s},
           {"Retry-After: 99999999999999999999\r\n", 3'600s},
           {"Retry-After: soon\r\n", std::nullopt},
           {"Retry-After: -1\r\n", std::nullopt},
           {"", std::nullopt}}) {
    RawServer server(always(http_reply(429, error_json(request_error, "rate_limit"),
                                       header + "Request-Id: req_77\r\n")));
    const auto answer = perform_once(server.url(), charge_request());
    EXPECT_EQ(answer.retry_after, expected) << header;
    EXPECT_NE(answer.message.find("req_77"), std::string::npos);
    EXPECT_NE(answer.message.find("429"), std::string::npos);
  }
}

TEST(StripeProvider, NeverRepeatsTheSecretInAMessage) {
  RawServer server(always(
      http_reply(401, R"({"error":{"type":"invalid_request_error","message":"Invalid API Key: )" +
                          std::string(secret_key) + R"("}})")));
  const auto provider = open_provider(options_for(server.url()));
  const auto answer = perform(*provider, charge_request());
  EXPECT_EQ(answer.message.find(secret_key), std::string::npos);
  EXPECT_EQ(provider->stats().paused_reason.find(secret_key), std::string::npos);
  EXPECT_NE(provider->stats().paused_reason, "");
}

// --- answers to somebody else ---

TEST(StripeProvider, AnAnswerUnderAnotherKeyIsNobodysAnswer) {
  for (const int status : {200, 400, 402}) {
    const std::string body =
        status == 200 ? charge_json("ch_1") : error_json("card_error", "card_declined");
    RawServer server(always(http_reply(status, body, "Idempotency-Key: another\r\n")));
    const auto answer = perform_once(server.url(), charge_request());
    EXPECT_EQ(answer.observation, Observation::bad_body);
    EXPECT_EQ(answer.code, "foreign_answer");
    EXPECT_TRUE(answer.objects.empty());
  }
  const auto own = "Idempotency-Key: " + charge_request().key.value() + "\r\n";
  RawServer server(always(http_reply(200, charge_json("ch_1"), own)));
  EXPECT_EQ(perform_once(server.url(), charge_request()).observation, Observation::object);
}

TEST(StripeProvider, AnotherObjectIsNobodysAnswer) {
  RawServer server([](const RawRequest& request) {
    if (request.head.starts_with("GET")) return http_reply(200, intent_json("pi_2"));
    return http_reply(402, error_json("card_error", "card_declined",
                                      ",\"payment_intent\":" + intent_json("pi_2", "canceled")));
  });
  const auto provider = open_provider(options_for(server.url()));
  for (const Operation operation : {Operation::get_intent, Operation::confirm_intent}) {
    const auto answer = perform(*provider, request_of(operation, "pi_1"));
    EXPECT_EQ(answer.observation, Observation::bad_body);
    EXPECT_EQ(answer.code, "foreign_answer");
    EXPECT_TRUE(answer.objects.empty());
  }
}

TEST(StripeProvider, AReplayedAnswerIsNoProofOfASingleSend) {
  RawServer server(always(http_reply(400, error_json(request_error, "amount_too_small"),
                                     "Idempotent-Replayed: true\r\n")));
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(answer.observation, Observation::invalid_request);
  EXPECT_FALSE(answer.single_wire_send);
}

// --- transport ---

TEST(StripeProvider, ARefusedConnectionIsNotSent) {
  const auto url = "http://127.0.0.1:" + std::to_string(onceward::test::refusing_port());
  const auto answer = perform_once(url, charge_request());
  EXPECT_EQ(answer.observation, Observation::not_sent);
  EXPECT_EQ(answer.code, "connect");
  EXPECT_TRUE(answer.single_wire_send);
}

TEST(StripeProvider, AServerThatNobodyVouchesForIsNotSent) {
  const onceward::test::TlsServer server("IP:127.0.0.1", http_reply(200, charge_json("x")).bytes);
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(answer.observation, Observation::not_sent);
  EXPECT_EQ(answer.code, "tls");
  EXPECT_EQ(server.requests(), 0);
}

TEST(StripeProvider, AnEndWithoutAnswerOnAFreshConnectionIsBrokenButSentOnce) {
  for (const RawEnd end : {RawEnd::fin, RawEnd::rst}) {
    RawServer server(always({"", end}));
    const auto answer = perform_once(server.url(), charge_request());
    EXPECT_EQ(answer.observation, Observation::broken);
    EXPECT_EQ(answer.code, end == RawEnd::fin ? "empty_answer" : "reset");
    EXPECT_TRUE(answer.single_wire_send);
    EXPECT_EQ(server.requests().size(), 1U);
  }
}

TEST(StripeProvider, AHiddenReSendKeepsTheKeyAndIsConfessed) {
  for (const RawEnd end : {RawEnd::fin, RawEnd::rst}) {
    RawServer server([end](const RawRequest& request) {
      if (request.connection == 1 && request.nr_on_connection == 2) return RawReply{"", end};
      return http_reply(200, charge_json("ch_1"));
    });
    const auto provider = open_provider(options_for(server.url()));
    EXPECT_TRUE(perform(*provider, charge_request()).single_wire_send);
    const auto answer = perform(*provider, charge_request());
    EXPECT_EQ(answer.observation, Observation::object);
    EXPECT_FALSE(answer.single_wire_send);
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_EQ(requests[1].header("Idempotency-Key"), requests[2].header("Idempotency-Key"));
    EXPECT_EQ(provider->stats().wire_requests, 3U);
    EXPECT_EQ(provider->stats().calls, 2U);
  }
}

TEST(StripeProvider, ASuccessStatusWithHalfABodyIsBroken) {
  RawReply half = http_reply(200, charge_json("ch_1"));
  half.bytes.resize(half.bytes.size() - 10);
  half.end = RawEnd::rst;
  RawServer server(always(half));
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(answer.observation, Observation::broken);
  EXPECT_TRUE(answer.objects.empty());
}

TEST(StripeProvider, ATimeoutIsBroken) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  RawServer server([released](const RawRequest&) {
    released.wait();
    return http_reply(200, charge_json("ch_1"));
  });
  auto options = options_for(server.url());
  options.timeout = 100ms;
  const auto provider = open_provider(std::move(options));
  const auto answer = perform(*provider, charge_request());
  release.set_value();
  EXPECT_EQ(answer.observation, Observation::broken);
  EXPECT_EQ(answer.code, "timeout");
  EXPECT_EQ(provider->stats().in_flight, 0U) << "the permit comes back whatever happens";
}

TEST(StripeProvider, AHugeBodyIsCutAndBroken) {
  RawServer server(always(http_reply(200, std::string(5 * 1024 * 1024, ' '))));
  const auto answer = perform_once(server.url(), charge_request());
  EXPECT_EQ(answer.observation, Observation::broken);
  EXPECT_EQ(answer.code, "too_large");
}

// --- not_after ---

TEST(StripeProvider, AfterItsLastMomentARequestDoesNotEvenConnect) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  const auto provider = open_provider(options_for(server.url()));
  auto request = charge_request();
  for (const std::int64_t not_after : {std::int64_t{0}, platform::boottime_ms() - 1}) {
    request.not_after_boottime_ms = not_after;
    const auto answer = perform(*provider, request);
    EXPECT_EQ(answer.observation, Observation::not_sent);
    EXPECT_EQ(answer.code, "expired");
  }
  EXPECT_EQ(server.accepted(), 0U);
}

/// A clock that tests set; shared with the provider, which reads it from its own thread.
using FakeClock = std::shared_ptr<std::atomic<std::int64_t>>;

StripeProviderOptions options_with_clock(const std::string& url, const FakeClock& clock) {
  auto options = options_for(url);
  options.boottime_ms = [clock] { return clock->load(); };
  return options;
}

TEST(StripeProvider, ARequestThatExpiresWhileConnectingStaysUnsent) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  const auto reads = std::make_shared<std::atomic<int>>(0);
  auto options = options_for(server.url());
  // 1,000 when call() looks, later when the connection stands.
  const auto clock = std::make_shared<std::atomic<std::int64_t>>(1'000);
  options.boottime_ms = [clock, reads] {
    const auto now = clock->load();
    if (reads->load() == 1) clock->store(5'000);
    return now;
  };
  const auto provider = open_provider(std::move(options));
  ASSERT_TRUE(provider->try_acquire());
  reads->store(1);
  auto request = charge_request();
  request.not_after_boottime_ms = 2'000;
  std::promise<ExternalAnswer> promise;
  provider->call(request, [&](ExternalAnswer&& answer) { promise.set_value(std::move(answer)); });
  const auto answer = promise.get_future().get();
  EXPECT_EQ(answer.observation, Observation::not_sent);
  EXPECT_EQ(answer.code, "expired");
  EXPECT_TRUE(answer.single_wire_send);
  // The connection stood, perhaps still in the backlog of the server.
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (server.accepted() == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(server.accepted(), 1U);
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST(StripeProvider, ARequestThatExpiresIsNotReSentByTheLibrary) {
  const auto clock = std::make_shared<std::atomic<std::int64_t>>(1'000);
  RawServer server([clock](const RawRequest& request) {
    if (request.nr_on_connection == 1) return http_reply(200, charge_json("ch_1"));
    clock->store(5'000);
    return RawReply{"", RawEnd::fin};
  });
  const auto provider = open_provider(options_with_clock(server.url(), clock));
  (void)perform(*provider, charge_request());
  auto request = charge_request();
  request.not_after_boottime_ms = 2'000;
  const auto answer = perform(*provider, request);
  EXPECT_EQ(answer.observation, Observation::broken) << "its first send left";
  EXPECT_EQ(answer.code, "expired");
  EXPECT_TRUE(answer.single_wire_send);
  EXPECT_EQ(server.requests().size(), 2U);
}

// --- lists ---

/// Serves the ids in pages of two, newest first, as the provider does.
RawServer::Script pages_of(std::vector<std::string> ids) {
  return [ids = std::move(ids)](const RawRequest& request) {
    const std::string line = request.line();
    std::size_t first = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (line.find("starting_after=" + ids[i] + " ") != std::string::npos) first = i + 1;
    }
    std::string data;
    for (std::size_t i = first; i < std::min(first + 2, ids.size()); ++i) {
      data += (data.empty() ? "" : ",") + charge_json(ids[i]);
    }
    const bool more = first + 2 < ids.size();
    return http_reply(200, R"({"object":"list","has_more":)" +
                               std::string(more ? "true" : "false") + R"(,"data":[)" + data + "]}");
  };
}

ExternalRequest list_request() {
  auto request = request_of(Operation::list_charges);
  request.params = {{"customer", "cus_1"}, {"created[gte]", "1700000000"}};
  return request;
}

TEST(StripeProvider, AListIsAllItsPagesInOrder) {
  RawServer server(pages_of({"ch_5", "ch_4", "ch_3", "ch_2", "ch_1"}));
  const auto answer = perform_once(server.url(), list_request());
  EXPECT_EQ(answer.observation, Observation::object) << answer.message;
  ASSERT_EQ(answer.objects.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(answer.objects[i].id, "ch_" + std::to_string(5 - i));
  }
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  const std::string first = "/v1/charges?customer=cus_1&created[gte]=1700000000&limit=100";
  EXPECT_EQ(requests[0].line(), "GET " + first + " HTTP/1.1");
  EXPECT_EQ(requests[1].line(), "GET " + first + "&starting_after=ch_4 HTTP/1.1");
  EXPECT_EQ(requests[2].line(), "GET " + first + "&starting_after=ch_2 HTTP/1.1");
}

TEST(StripeProvider, AnEmptyListIsAnObjectAnswerWithoutObjects) {
  RawServer server(pages_of({}));
  const auto answer = perform_once(server.url(), list_request());
  EXPECT_EQ(answer.observation, Observation::object);
  EXPECT_TRUE(answer.objects.empty());
}

TEST(StripeProvider, AListOfWhichAPageIsMissingIsNoList) {
  for (const int status : {200, 500, 0}) {
    const auto good = pages_of({"ch_5", "ch_4", "ch_3"});
    RawServer server([&](const RawRequest& request) {
      if (request.line().find("starting_after") == std::string::npos) return good(request);
      if (status == 0) return RawReply{"", RawEnd::rst};
      return http_reply(status, "<html>");
    });
    const auto answer = perform_once(server.url(), list_request());
    EXPECT_NE(answer.observation, Observation::object) << status;
    EXPECT_TRUE(answer.objects.empty());
  }
}

TEST(StripeProvider, AListThatDoesNotGoOnIsABadBody) {
  // Always the same page, always with more behind it.
  RawServer stalled(always(http_reply(
      200, R"({"object":"list","has_more":true,"data":[)" + charge_json("ch_1") + "]}")));
  auto answer = perform_once(stalled.url(), list_request());
  EXPECT_EQ(answer.observation, Observation::bad_body);
  EXPECT_EQ(answer.code, "stalled_list");
  EXPECT_EQ(stalled.requests().size(), 2U);
  RawServer empty(always(http_reply(200, R"({"object":"list","has_more":true,"data":[]})")));
  answer = perform_once(empty.url(), list_request());
  EXPECT_EQ(answer.code, "stalled_list");
}

TEST(StripeProvider, AListWithoutEndIsABadBodyAfterAHundredPages) {
  const auto page = std::make_shared<std::atomic<int>>(0);
  RawServer server([page](const RawRequest&) {
    return http_reply(200, R"({"object":"list","has_more":true,"data":[)" +
                               charge_json("ch_" + std::to_string(++*page)) + "]}");
  });
  const auto answer = perform_once(server.url(), list_request());
  EXPECT_EQ(answer.observation, Observation::bad_body);
  EXPECT_EQ(answer.code, "too_many_pages");
  EXPECT_TRUE(answer.objects.empty());
  EXPECT_EQ(server.requests().size(), 100U);
}

}  // namespace
}  // namespace onceward::provider::test
