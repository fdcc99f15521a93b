// What HttpClient proves about each request, against servers that misbehave on purpose.
#include <onceward/platform/http_client.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "tests/support/raw_server.hpp"
#include "tests/support/tls_server.hpp"

namespace onceward::platform {
namespace {

using namespace std::chrono_literals;
using test::http_reply;
using test::RawEnd;
using test::RawReply;
using test::RawRequest;
using test::RawServer;

HttpClientOptions options_with(std::size_t connections_max) {
  HttpClientOptions options;
  options.connections_max = connections_max;
  options.kept_headers = {"date", "request-id"};
  options.common_headers = {"X-Common: yes"};
  return options;
}

std::unique_ptr<HttpClient> start_client(HttpClientOptions options) {
  auto client = HttpClient::start(std::move(options));
  EXPECT_TRUE(client.has_value());
  return std::move(client).value();
}

HttpClientRequest post(const std::string& url, std::string body = "amount=1") {
  HttpClientRequest request;
  request.method = HttpMethod::post;
  request.url = url;
  request.headers = {"Idempotency-Key: key_1"};
  request.body = std::move(body);
  request.timeout = 20s;
  return request;
}

/// Sends and waits for the end, which must come.
HttpClientResult perform(HttpClient& client, HttpClientRequest request) {
  auto promise = std::make_shared<std::promise<HttpClientResult>>();
  auto future = promise->get_future();
  client.send(std::move(request),
              [promise](HttpClientResult&& result) { promise->set_value(std::move(result)); });
  if (future.wait_for(30s) != std::future_status::ready) {
    ADD_FAILURE() << "no answer";
    std::abort();
  }
  return future.get();
}

HttpClientResult perform_once(const std::string& url) {
  const auto client = start_client(options_with(4));
  return perform(*client, post(url));
}

TEST(HttpClient, HandsBackTheWholeAnswerAndTheKeptHeaders) {
  RawServer server([](const RawRequest&) {
    return http_reply(402, "{\"a\":1}",
                      "DATE: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Other: 1\r\nRequest-Id:  r1 \r\n");
  });
  const auto result = perform_once(server.url());
  EXPECT_EQ(result.outcome, HttpOutcome::complete);
  EXPECT_EQ(result.status, 402);
  EXPECT_EQ(result.body, "{\"a\":1}");
  EXPECT_EQ(result.header("date"), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(result.header("request-id"), "r1");
  EXPECT_EQ(result.header("x-other"), std::nullopt);
  EXPECT_EQ(result.wire_requests, 1U);
  EXPECT_EQ(result.failure, "");
}

TEST(HttpClient, SendsAFormWithItsHeadersAndNothingElse) {
  RawServer server([](const RawRequest&) { return http_reply(200, "{}"); });
  const auto client = start_client(options_with(1));
  (void)perform(*client, post(server.url() + "/v1/x", "a[b]=c"));
  HttpClientRequest get;
  get.url = server.url() + "/v1/y?created[gte]=1";
  (void)perform(*client, std::move(get));
  (void)perform(*client, post(server.url() + "/v1/z", std::string(2'000'000, 'x')));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].line(), "POST /v1/x HTTP/1.1");
  EXPECT_EQ(requests[0].body, "a[b]=c");
  EXPECT_EQ(requests[0].header("Content-Type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(requests[0].header("Idempotency-Key"), "key_1");
  EXPECT_EQ(requests[0].header("X-Common"), "yes");
  EXPECT_EQ(requests[1].line(), "GET /v1/y?created[gte]=1 HTTP/1.1");
  EXPECT_EQ(requests[1].body, "");
  EXPECT_EQ(requests[1].header("Idempotency-Key"), "");
  EXPECT_EQ(requests[1].header("Content-Type"), "");
  EXPECT_EQ(requests[1].header("X-Common"), "yes");
  // A large body too leaves in one go, without asking first.
  EXPECT_EQ(requests[2].header("Expect"), "");
  EXPECT_EQ(requests[2].body.size(), 2'000'000U);
  EXPECT_EQ(server.accepted(), 1U) << "the connection is kept";
}

TEST(HttpClient, ARefusedConnectionIsNotSent) {
  const auto result = perform_once("http://127.0.0.1:" + std::to_string(test::refusing_port()));
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(result.failure, "connect");
  EXPECT_EQ(result.wire_requests, 0U);
  EXPECT_NE(result.detail.find("127.0.0.1"), std::string::npos) << result.detail;
}

TEST(HttpClient, AnUnknownHostIsNotSent) {
  const auto result = perform_once("http://no-such-host.invalid/");
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(result.failure, "dns");
}

TEST(HttpClient, AnEndBeforeTheFirstByteOfAFreshConnectionIsBrokenAfterOneSend) {
  for (const RawEnd end : {RawEnd::fin, RawEnd::rst}) {
    RawServer server([end](const RawRequest&) { return RawReply{"", end}; });
    const auto result = perform_once(server.url());
    EXPECT_EQ(result.outcome, HttpOutcome::broken);
    EXPECT_EQ(result.failure, end == RawEnd::fin ? "empty_answer" : "reset");
    EXPECT_EQ(result.wire_requests, 1U);
    EXPECT_EQ(server.requests().size(), 1U);
  }
}

/// Answers each connection's first request; the second one on connection 1 meets `end`.
RawServer::Script stale_after_first(RawEnd end) {
  return [end](const RawRequest& request) {
    if (request.connection == 1 && request.nr_on_connection == 2) return RawReply{"", end};
    return http_reply(200, "{}");
  };
}

TEST(HttpClient, CountsTheReSendThatTheLibraryHidesOnADeadKeptConnection) {
  for (const RawEnd end : {RawEnd::fin, RawEnd::rst}) {
    RawServer server(stale_after_first(end));
    const auto client = start_client(options_with(1));
    EXPECT_EQ(perform(*client, post(server.url())).wire_requests, 1U);
    const auto result = perform(*client, post(server.url(), "amount=2"));
    EXPECT_EQ(result.outcome, HttpOutcome::complete);
    EXPECT_EQ(result.wire_requests, 2U);
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 3U);
    EXPECT_EQ(requests[1].header("Idempotency-Key"), requests[2].header("Idempotency-Key"));
    EXPECT_EQ(requests[1].body, requests[2].body);
  }
}

TEST(HttpClient, AsksBeforeTheHiddenReSendTooAndThenSendsNothing) {
  for (const RawEnd end : {RawEnd::fin, RawEnd::rst}) {
    RawServer server(stale_after_first(end));
    const auto client = start_client(options_with(1));
    (void)perform(*client, post(server.url()));
    auto request = post(server.url());
    auto asked = std::make_shared<std::atomic<int>>(0);
    request.may_send = [asked] { return ++*asked == 1; };
    const auto result = perform(*client, std::move(request));
    EXPECT_EQ(asked->load(), 2);
    EXPECT_EQ(result.outcome, HttpOutcome::broken) << "the first send left";
    EXPECT_EQ(result.failure, "not_allowed");
    EXPECT_EQ(result.wire_requests, 1U);
    EXPECT_EQ(server.requests().size(), 2U);
  }
}

TEST(HttpClient, WithoutLeaveNothingGoesOnTheWire) {
  RawServer server([](const RawRequest&) { return http_reply(200, "{}"); });
  const auto client = start_client(options_with(1));
  auto request = post(server.url());
  request.may_send = [] { return false; };
  const auto result = perform(*client, std::move(request));
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(result.failure, "not_allowed");
  EXPECT_EQ(server.requests().size(), 0U);
  EXPECT_EQ(perform(*client, post(server.url())).outcome, HttpOutcome::complete);
}

TEST(HttpClient, ASuccessStatusWithABrokenBodyIsBroken) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":";
  const std::string chunk =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"id\":\r\n";
  for (const std::string& bytes : {head, chunk}) {
    for (const RawEnd end : {RawEnd::fin, RawEnd::rst}) {
      RawServer server([&](const RawRequest&) { return RawReply{bytes, end}; });
      const auto result = perform_once(server.url());
      EXPECT_EQ(result.outcome, HttpOutcome::broken);
      EXPECT_EQ(result.status, 200);
      EXPECT_NE(result.failure, "");
      EXPECT_EQ(server.requests().size(), 1U) << "must not be re-sent";
    }
  }
}

TEST(HttpClient, GarbageInsteadOfHttpIsBroken) {
  RawServer server([](const RawRequest&) { return RawReply{"hello\r\n\r\n", RawEnd::fin}; });
  const auto result = perform_once(server.url());
  EXPECT_EQ(result.outcome, HttpOutcome::broken);
  EXPECT_EQ(result.wire_requests, 1U);
}

TEST(HttpClient, ASilentServerEndsInATimeoutThatIsBroken) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  RawServer server([&](const RawRequest&) {
    released.wait();
    return http_reply(200, "{}");
  });
  const auto client = start_client(options_with(1));
  auto request = post(server.url());
  request.timeout = 100ms;
  const auto result = perform(*client, std::move(request));
  release.set_value();
  EXPECT_EQ(result.outcome, HttpOutcome::broken);
  EXPECT_EQ(result.failure, "timeout");
  EXPECT_EQ(result.wire_requests, 1U);
}

TEST(HttpClient, RedirectsAreHandedBackNotFollowed) {
  RawServer elsewhere([](const RawRequest&) { return http_reply(200, "{}"); });
  RawServer server([&](const RawRequest&) {
    return http_reply(307, "", "Location: " + elsewhere.url() + "/stolen\r\n");
  });
  const auto result = perform_once(server.url());
  EXPECT_EQ(result.outcome, HttpOutcome::complete);
  EXPECT_EQ(result.status, 307);
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(elsewhere.requests().size(), 0U);
}

TEST(HttpClient, CutsABodyAboveTheLimit) {
  RawServer server([](const RawRequest& request) {
    return http_reply(200, std::string(request.body == "fits" ? 1'000U : 1'001U, 'x'));
  });
  auto options = options_with(1);
  options.response_bytes_max = 1'000;
  const auto client = start_client(std::move(options));
  EXPECT_EQ(perform(*client, post(server.url(), "fits")).body.size(), 1'000U);
  const auto result = perform(*client, post(server.url(), "too large"));
  EXPECT_EQ(result.outcome, HttpOutcome::broken);
  EXPECT_EQ(result.failure, "too_large");
  EXPECT_EQ(perform(*client, post(server.url(), "fits")).outcome, HttpOutcome::complete);
}

TEST(HttpClient, BytesThatAServerSendsUnaskedAreNeverTheNextAnswer) {
  // A second answer behind the first would be read as the answer to somebody else's request.
  RawServer server([](const RawRequest& request) {
    RawReply reply = http_reply(200, request.body);
    if (request.body == "first") reply.bytes += http_reply(200, "forged").bytes;
    return reply;
  });
  const auto client = start_client(options_with(1));
  EXPECT_EQ(perform(*client, post(server.url(), "first")).body, "first");
  EXPECT_EQ(perform(*client, post(server.url(), "second")).body, "second");
}

TEST(HttpClient, BytesThatArriveOnAnIdleConnectionAreNeverTheNextAnswer) {
  RawServer server([](const RawRequest& request) { return http_reply(200, request.body); });
  const auto client = start_client(options_with(1));
  EXPECT_EQ(perform(*client, post(server.url(), "first")).body, "first");
  server.push(http_reply(200, "forged").bytes);
  EXPECT_EQ(perform(*client, post(server.url(), "second")).body, "second");
}

TEST(HttpClient, InterimAnswersLeaveNoHeadersBehind) {
  RawServer server([](const RawRequest&) {
    RawReply reply{"HTTP/1.1 102 Wait\r\nRequest-Id: interim\r\n\r\n", RawEnd::keep};
    reply.bytes += http_reply(200, "{}", "Request-Id: final\r\n").bytes;
    return reply;
  });
  const auto result = perform_once(server.url());
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.header("request-id"), "final");
}

TEST(HttpClient, IgnoresProxiesOfTheEnvironment) {
  const std::string nobody = "http://127.0.0.1:" + std::to_string(test::refusing_port());
  ::setenv("http_proxy", nobody.c_str(), 1);
  ::setenv("ALL_PROXY", nobody.c_str(), 1);
  RawServer server([](const RawRequest&) { return http_reply(200, "{}"); });
  const auto result = perform_once(server.url());
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  EXPECT_EQ(result.outcome, HttpOutcome::complete) << result.detail;
}

TEST(HttpClient, RefusesForeignProtocolsAndHeadersWithLineBreaks) {
  RawServer server([](const RawRequest&) { return http_reply(200, "{}"); });
  const auto client = start_client(options_with(1));
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/", "not a url", ""}) {
    const auto result = perform(*client, post(url));
    EXPECT_EQ(result.outcome, HttpOutcome::not_sent) << url;
    EXPECT_EQ(result.failure, "malformed") << url;
  }
  for (const char* line : {"Idempotency-Key: a\r\nX-Injected: 1", "Idempotency-Key: a\n", "none"}) {
    auto request = post(server.url());
    request.headers = {line};
    const auto result = perform(*client, std::move(request));
    EXPECT_EQ(result.outcome, HttpOutcome::not_sent) << line;
    EXPECT_EQ(result.failure, "malformed") << line;
  }
  EXPECT_EQ(server.requests().size(), 0U);
}

/// Sends `count` requests at once and returns the order in which they were answered.
std::vector<int> perform_many(HttpClient& client, const std::string& url, int count) {
  std::vector<int> order;
  std::promise<void> all;
  for (int i = 0; i < count; ++i) {
    client.send(post(url, std::to_string(i)), [&, i](HttpClientResult&& result) {
      EXPECT_EQ(result.outcome, HttpOutcome::complete);
      EXPECT_EQ(result.body, std::to_string(i));
      order.push_back(i);
      if (order.size() == static_cast<std::size_t>(count)) all.set_value();
    });
  }
  EXPECT_EQ(all.get_future().wait_for(30s), std::future_status::ready);
  return order;
}

TEST(HttpClient, NeverUsesMoreConnectionsThanAllowedAndKeepsThem) {
  RawServer server([](const RawRequest& request) { return http_reply(200, request.body); });
  const auto client = start_client(options_with(3));
  EXPECT_EQ(perform_many(*client, server.url(), 300).size(), 300U);
  EXPECT_LE(server.accepted(), 3U) << "a connection in use was taken for an idle one";
  EXPECT_LE(server.concurrent_max(), 3U);
}

TEST(HttpClient, ServesFirstComeFirst) {
  RawServer server([](const RawRequest& request) { return http_reply(200, request.body); });
  const auto client = start_client(options_with(1));
  const auto order = perform_many(*client, server.url(), 100);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(HttpClient, AFullLineIsAnsweredBusyAtOnce) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  RawServer server([&](const RawRequest&) {
    released.wait();
    return http_reply(200, "{}");
  });
  auto options = options_with(1);
  options.waiting_max = 1;
  const auto client = start_client(std::move(options));
  std::promise<void> both;
  std::atomic<int> answered{0};
  const auto done = [&](HttpClientResult&& result) {
    EXPECT_EQ(result.outcome, HttpOutcome::complete);
    if (++answered == 2) both.set_value();
  };
  client->send(post(server.url()), done);
  client->send(post(server.url()), done);
  std::string failure;
  client->send(post(server.url()), [&](HttpClientResult&& result) {
    EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
    failure = result.failure;
  });
  EXPECT_EQ(failure, "busy") << "answered inside send()";
  release.set_value();
  ASSERT_EQ(both.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_EQ(perform(*client, post(server.url())).outcome, HttpOutcome::complete);
}

TEST(HttpClient, StopAnswersEverythingOutstandingWithWhatIsProven) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  std::promise<void> arrived;
  RawServer server([&](const RawRequest&) {
    arrived.set_value();
    released.wait();
    return http_reply(200, "{}");
  });
  const auto client = start_client(options_with(1));
  std::vector<HttpClientResult> results;
  const auto done = [&](HttpClientResult&& result) { results.push_back(std::move(result)); };
  client->send(post(server.url(), "on the wire"), done);
  client->send(post(server.url(), "in line"), done);
  arrived.get_future().wait();
  client->stop(0ms);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].outcome, HttpOutcome::not_sent);
  EXPECT_EQ(results[1].outcome, HttpOutcome::broken);
  EXPECT_EQ(results[1].failure, "stopped");
  client->send(post(server.url()), done);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[2].outcome, HttpOutcome::not_sent);
  EXPECT_EQ(results[2].failure, "stopped");
  release.set_value();
  client->stop(0ms);
}

TEST(HttpClient, StopWaitsForAnAnswerWithinItsGrace) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  std::promise<void> arrived;
  RawServer server([&](const RawRequest&) {
    arrived.set_value();
    released.wait();
    return http_reply(200, "{}");
  });
  const auto client = start_client(options_with(1));
  std::atomic<bool> complete{false};
  client->send(post(server.url()), [&](HttpClientResult&& result) {
    complete = result.outcome == HttpOutcome::complete;
  });
  arrived.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { client->stop(30s); });
  EXPECT_EQ(stopped.wait_for(20ms), std::future_status::timeout);
  release.set_value();
  ASSERT_EQ(stopped.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(complete);
}

TEST(HttpClient, TimersRunOnceInOrderAndNotAfterStop) {
  const auto client = start_client(options_with(1));
  std::vector<int> order;
  std::promise<void> third;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(client->call_after(30ms, [&] {
    order.push_back(3);
    third.set_value();
  }));
  EXPECT_TRUE(client->call_after(0ms, [&] { order.push_back(1); }));
  EXPECT_TRUE(client->call_after(0ms, [&] { order.push_back(2); }));
  bool ran = false;
  EXPECT_TRUE(client->call_after(1h, [&] { ran = true; }));
  ASSERT_EQ(third.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  client->stop(0ms);
  EXPECT_FALSE(client->call_after(0ms, [&] { ran = true; }));
  EXPECT_FALSE(ran);
}

TEST(HttpClient, ATaskThatIsDueWhenTheClientStopsStillRuns) {
  for (int round = 0; round < 50; ++round) {
    const auto client = start_client(options_with(1));
    bool ran = false;
    ASSERT_TRUE(client->call_after(0ms, [&] { ran = true; }));
    client->stop(0ms);
    ASSERT_TRUE(ran);
  }
}

TEST(HttpClient, ACallbackMaySendTheNextRequest) {
  RawServer server([](const RawRequest& request) { return http_reply(200, request.body); });
  const auto client = start_client(options_with(1));
  std::promise<std::string> second;
  client->send(post(server.url(), "1"), [&](HttpClientResult&&) {
    client->send(post(server.url(), "2"), [&](HttpClientResult&& r) { second.set_value(r.body); });
  });
  auto future = second.get_future();
  ASSERT_EQ(future.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(future.get(), "2");
}

class HttpClientTls : public testing::Test {
 protected:
  const std::string answer = http_reply(200, "{}", "Connection: close\r\n").bytes;
  const std::string ca_file = testing::TempDir() + "http_client_test_ca.pem";

  HttpClientResult perform_trusting(const test::TlsServer& server) {
    server.write_certificate(ca_file);
    auto options = options_with(1);
    options.ca_file = ca_file;
    const auto client = start_client(std::move(options));
    auto result = perform(*client, post(server.url()));
    std::remove(ca_file.c_str());
    return result;
  }
};

TEST_F(HttpClientTls, ACertificateThatNobodyVouchesForIsNotSent) {
  const test::TlsServer server("IP:127.0.0.1", answer);
  const auto result = perform_once(server.url());
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(result.failure, "tls");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HttpClientTls, ACertificateForAnotherHostIsNotSent) {
  const test::TlsServer server("DNS:elsewhere.example", answer);
  const auto result = perform_trusting(server);
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(result.failure, "tls");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HttpClientTls, ATrustedCertificateWorks) {
  const test::TlsServer server("IP:127.0.0.1", answer);
  const auto result = perform_trusting(server);
  EXPECT_EQ(result.outcome, HttpOutcome::complete) << result.detail;
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(HttpClientTls, PlainHttpBehindAnHttpsUrlIsNotSent) {
  RawServer server([](const RawRequest&) { return http_reply(200, "{}"); });
  // A TLS greeting has no end of headers: the script never runs.
  const auto client = start_client(options_with(1));
  auto request = post("https://127.0.0.1:" + std::to_string(server.port()));
  request.timeout = 200ms;
  const auto result = perform(*client, std::move(request));
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST(HttpClient, RefusesOptionsThatMakeNoSense) {
  EXPECT_EQ(HttpClient::start(options_with(0)).error().code, ErrorCode::invalid_argument);
  auto options = options_with(1);
  options.connect_timeout = 0ms;
  EXPECT_EQ(HttpClient::start(options).error().code, ErrorCode::invalid_argument);
}

TEST(HttpClientDeathTest, StopInsideACallbackAborts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const auto client = start_client(options_with(1));
        (void)client->call_after(0ms, [&] { client->stop(0ms); });
        std::promise<void>().get_future().wait();
      },
      "inside a callback");
}

}  // namespace
}  // namespace onceward::platform
