// The simulator behind sockets, with a real client and a real receiver of webhooks: deliveries,
// refused and stale connections, and bodies that never end.
#include <gtest/gtest.h>

#include <future>
#include <mutex>

#include <onceward/platform/http_client.hpp>
#include <onceward/platform/http_server.hpp>
#include <onceward/provider/simulator/simulator.hpp>

#include "tests/provider/api_client.hpp"

namespace onceward::provider::simulator {
namespace {

using platform::HttpClientResult;
using platform::HttpOutcome;
using test::charge_form;

std::unique_ptr<Simulator> start() {
  auto simulator = Simulator::start({});
  EXPECT_TRUE(simulator.has_value()) << simulator.error().context;
  return std::move(simulator).value();
}

void set_faults(Simulator& simulator, std::string_view json) {
  const auto set = simulator.set_faults(json);
  ASSERT_TRUE(set.has_value()) << set.error().context;
}

class Client {
 public:
  Client() : client_(platform::HttpClient::start({}).value()) {}

  HttpClientResult charge(const std::string& base, const std::string& key) {
    platform::HttpClientRequest request;
    request.method = platform::HttpMethod::post;
    request.url = base + "/v1/charges";
    request.headers = {"Authorization: Bearer sk_test_1", "Idempotency-Key: " + key};
    request.body = charge_form;
    request.timeout = std::chrono::seconds(20);
    std::promise<HttpClientResult> done;
    client_->send(std::move(request),
                  [&](HttpClientResult&& result) { done.set_value(std::move(result)); });
    return done.get_future().get();
  }

 private:
  std::unique_ptr<platform::HttpClient> client_;
};

/// Takes webhooks on a port of its own.
class Receiver {
 public:
  explicit Receiver(std::vector<int> answers) : answers_(std::move(answers)) {
    server_ = platform::HttpServer::start({}, [this](platform::HttpRequest request,
                                                     platform::HttpResponder responder) {
                take(std::move(request), std::move(responder));
              }).value();
  }
  ~Receiver() { server_->stop(std::chrono::milliseconds::zero()); }
  [[nodiscard]] std::string url() const { return server_->url() + "/hook"; }
  /// The nr-th delivery, 0 first; waits for it.
  platform::HttpRequest wait(std::size_t nr) {
    std::unique_lock lock(mutex_);
    const bool came =
        came_.wait_for(lock, std::chrono::seconds(20), [&] { return got_.size() > nr; });
    EXPECT_TRUE(came) << "delivery " << nr << " did not come";
    return came ? got_[nr] : platform::HttpRequest{};
  }

 private:
  void take(platform::HttpRequest request, platform::HttpResponder responder) {
    platform::HttpResponse response;
    const std::lock_guard lock(mutex_);
    response.status = got_.size() < answers_.size() ? answers_[got_.size()] : 200;
    got_.push_back(std::move(request));
    responder.answer(std::move(response));
    came_.notify_all();
  }
  const std::vector<int> answers_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<platform::HttpRequest> got_;
  std::unique_ptr<platform::HttpServer> server_;
};

std::string add_receiver(Simulator& simulator, const Receiver& receiver) {
  const WireAnswer made = simulator.control(
      "POST", "/_sim/webhook_endpoints",
      R"({"url":")" + receiver.url() + R"(","enabled_events":["charge.succeeded"]})");
  EXPECT_EQ(made.status, 200) << made.body;
  return test::at(test::parse_json(made.body), "secret");
}

TEST(SimulatorSending, DeliversWebhooksAndTriesAgainOnItsOwnClock) {
  auto simulator = start();
  Receiver receiver({503});
  EXPECT_EQ(add_receiver(*simulator, receiver).substr(0, 6), "whsec_");
  Client client;
  EXPECT_EQ(client.charge(simulator->url(), "k1").status, 200);
  const platform::HttpRequest first = receiver.wait(0);
  EXPECT_EQ(first.method, "POST");
  EXPECT_EQ(platform::find_header(first.headers, "Content-Type"),
            "application/json; charset=utf-8");
  EXPECT_EQ(test::at(test::parse_json(first.body), "request.idempotency_key"), "k1");
  // The failed attempt is due again in a minute of the provider's time.
  while (simulator->control("GET", "/_sim/webhooks").body.find("answered") == std::string::npos) {
    std::this_thread::yield();
  }
  simulator->advance_clock(std::chrono::seconds(61));
  EXPECT_EQ(receiver.wait(1).body, first.body);
}

TEST(SimulatorSending, DeliversBeforeTheAnswerWhereARuleSaysSo) {
  auto simulator = start();
  Receiver receiver({});
  (void)add_receiver(*simulator, receiver);
  set_faults(*simulator, R"({"rules":[{"kind":"wh_before_response"}]})");
  Client client;
  EXPECT_EQ(client.charge(simulator->url(), "k1").status, 200);
  // It was there before the answer: no waiting.
  EXPECT_NE(simulator->control("GET", "/_sim/webhooks").body.find("answered"), std::string::npos);
  EXPECT_NE(receiver.wait(0).body.find("charge.succeeded"), std::string::npos);
}

TEST(SimulatorSending, RefusesConnectionsForAWhile) {
  auto simulator = start();
  set_faults(*simulator,
             R"({"rules":[{"kind":"drop_before","end":"refuse","for_ms":700,"count":1}]})");
  Client client;
  EXPECT_EQ(client.charge(simulator->url(), "k1").outcome, HttpOutcome::broken);
  HttpClientResult result;
  bool refused = false;
  do {
    result = client.charge(simulator->url(), "k1");
    refused = refused || (result.outcome == HttpOutcome::not_sent && result.failure == "connect");
  } while (result.outcome != HttpOutcome::complete);
  EXPECT_TRUE(refused);
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(simulator->ledger().size(), 1U);
}

TEST(SimulatorSending, FailsEveryTlsHandshake) {
  auto simulator = start();
  Client client;
  const HttpClientResult result =
      client.charge("https://127.0.0.1:" + std::to_string(simulator->port()), "k1");
  EXPECT_EQ(result.outcome, HttpOutcome::not_sent);
  EXPECT_EQ(result.failure, "tls");
  EXPECT_EQ(simulator->ledger().size(), 0U);
  EXPECT_EQ(client.charge(simulator->url(), "k1").status, 200);
}

TEST(SimulatorSending, ClosesAnIdleConnectionUnderTheClient) {
  auto simulator = start();
  set_faults(*simulator, R"({"rules":[{"kind":"silent_keepalive_close","after_ms":0,"count":1}]})");
  Client client;
  EXPECT_EQ(client.charge(simulator->url(), "k1").wire_requests, 1U);
  // The kept connection dies without a byte, and the client's library sends once more by itself.
  const HttpClientResult again = client.charge(simulator->url(), "k2");
  EXPECT_EQ(again.outcome, HttpOutcome::complete);
  EXPECT_EQ(again.wire_requests, 2U);
  EXPECT_EQ(simulator->ledger().size(), 2U);
}

TEST(SimulatorSending, LeavesBodiesUnfinishedInEveryFraming) {
  auto simulator = start();
  Client client;
  for (const char* framing : {"length", "chunked", "wrong_length"}) {
    set_faults(*simulator,
               R"({"rules":[{"kind":"commit_rst_mid","end":"fin","bytes":30,"framing":")" +
                   std::string(framing) + R"(","count":1}]})");
    const HttpClientResult result = client.charge(simulator->url(), framing);
    EXPECT_EQ(result.outcome, HttpOutcome::broken) << framing;
    EXPECT_EQ(result.status, 200) << framing;
  }
  EXPECT_EQ(simulator->ledger().size(), 3U);
}

}  // namespace
}  // namespace onceward::provider::simulator
