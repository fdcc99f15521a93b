// StripeProvider's permits, pause, time and stop, against a scripted server.
#include "tests/provider/stripe_provider_fixture.hpp"

#include <condition_variable>
#include <mutex>

namespace onceward::provider::test {
namespace {

using FakeClock = std::shared_ptr<std::atomic<std::int64_t>>;

StripeProviderOptions options_with_clock(const std::string& url, const FakeClock& clock) {
  auto options = options_for(url);
  options.boottime_ms = [clock] { return clock->load(); };
  return options;
}

/// Counts events and lets a test wait for a number of them.
class Counter {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  [[nodiscard]] bool reaches(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 30s, [&] { return count_ >= count; });
  }
  [[nodiscard]] int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(StripePermits, NeverMoreOnTheWireThanAllowed) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  const auto provider = open_provider(options_for(server.url()));
  Counter answers;
  constexpr int calls = 400;
  for (int i = 0; i < calls; ++i) {
    provider->acquire([&] {
      provider->call(charge_request(), [&](ExternalAnswer&& answer) {
        EXPECT_EQ(answer.observation, Observation::object);
        answers.add();
      });
    });
  }
  ASSERT_TRUE(answers.reaches(calls));
  EXPECT_LE(server.concurrent_max(), 4U);
  EXPECT_LE(server.accepted(), 4U);
  EXPECT_EQ(server.requests().size(), static_cast<std::size_t>(calls));
  EXPECT_EQ(provider->stats().calls, static_cast<std::uint64_t>(calls));
}

TEST(StripePermits, AreGrantedInTheOrderOfAsking) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  auto options = options_for(server.url());
  options.max_in_flight = 1;
  const auto provider = open_provider(std::move(options));
  ASSERT_TRUE(provider->try_acquire());
  std::vector<int> order;
  Counter answers;
  for (int i = 0; i < 20; ++i) {
    provider->acquire([&, i] {
      order.push_back(i);  // one slot: never two at once
      provider->call(charge_request(), [&](ExternalAnswer&&) { answers.add(); });
    });
  }
  EXPECT_FALSE(provider->try_acquire());
  EXPECT_EQ(provider->stats().waiting_for_permit, 20U);
  provider->release();
  ASSERT_TRUE(answers.reaches(20));
  ASSERT_EQ(order.size(), 20U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(StripePermits, FollowTheRateOfTheGivenClock) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  const auto clock = std::make_shared<std::atomic<std::int64_t>>(0);
  auto options = options_with_clock(server.url(), clock);
  options.rate_per_second = 10;
  options.max_in_flight = 100;
  const auto provider = open_provider(std::move(options));
  EXPECT_TRUE(provider->try_acquire());
  EXPECT_FALSE(provider->try_acquire());
  clock->store(99);
  EXPECT_FALSE(provider->try_acquire());
  clock->store(100);
  EXPECT_TRUE(provider->try_acquire());
  EXPECT_FALSE(provider->try_acquire());
}

TEST(StripePermits, WaitersAreWokenWhenTheRateAllowsThem) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  auto options = options_for(server.url());
  options.rate_per_second = 100;
  options.max_in_flight = 100;
  const auto provider = open_provider(std::move(options));
  Counter granted;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30; ++i) provider->acquire([&] { granted.add(); });
  ASSERT_TRUE(granted.reaches(30));
  // 10 at once, 20 more at 100 per second.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 190ms);
}

TEST(StripePermits, PagesOfAListCountForTheRate) {
  const auto page = std::make_shared<std::atomic<int>>(0);
  RawServer server([page](const RawRequest&) {
    const int nr = ++*page;
    return http_reply(200, R"({"object":"list","has_more":)" +
                               std::string(nr < 4 ? "true" : "false") + R"(,"data":[)" +
                               charge_json("ch_" + std::to_string(nr)) + "]}");
  });
  const auto clock = std::make_shared<std::atomic<std::int64_t>>(0);
  auto options = options_with_clock(server.url(), clock);
  options.rate_per_second = 10;
  const auto provider = open_provider(std::move(options));
  EXPECT_EQ(perform(*provider, request_of(Operation::list_charges)).objects.size(), 4U);
  clock->store(399);
  EXPECT_FALSE(provider->try_acquire());
  clock->store(400);
  EXPECT_TRUE(provider->try_acquire());
}

TEST(StripePermits, AreFreeAgainInsideTheAnswer) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  auto options = options_for(server.url());
  options.max_in_flight = 1;
  const auto provider = open_provider(std::move(options));
  ASSERT_TRUE(provider->try_acquire());
  std::promise<bool> free;
  provider->call(charge_request(),
                 [&](ExternalAnswer&&) { free.set_value(provider->try_acquire()); });
  EXPECT_TRUE(free.get_future().get());
}

// --- pause ---

TEST(StripePause, RefusedCredentialsLetOneProbeThroughUntilTheyAreGood) {
  const auto good = std::make_shared<std::atomic<bool>>(false);
  RawServer server([good](const RawRequest&) {
    if (*good) return http_reply(200, charge_json("ch_1"));
    return http_reply(401, error_json("invalid_request_error", "api_key_expired"));
  });
  const auto clock = std::make_shared<std::atomic<std::int64_t>>(0);
  auto options = options_with_clock(server.url(), clock);
  options.probe_interval = 1'000ms;
  const auto provider = open_provider(std::move(options));
  EXPECT_EQ(perform(*provider, charge_request()).observation, Observation::unauthorized);
  EXPECT_NE(provider->stats().paused_reason.find("401"), std::string::npos);
  EXPECT_FALSE(provider->try_acquire());
  clock->store(1'000);
  EXPECT_EQ(perform(*provider, charge_request()).observation, Observation::unauthorized);
  EXPECT_FALSE(provider->try_acquire());
  *good = true;
  clock->store(2'000);
  ASSERT_TRUE(provider->try_acquire());
  EXPECT_FALSE(provider->try_acquire()) << "one probe at a time";
  std::promise<ExternalAnswer> answer;
  provider->call(charge_request(),
                 [&](ExternalAnswer&& given) { answer.set_value(std::move(given)); });
  EXPECT_EQ(answer.get_future().get().observation, Observation::object);
  EXPECT_EQ(provider->stats().paused_reason, "");
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(provider->try_acquire());
}

TEST(StripePause, OnlyAnAnswerForWhichCredentialsWereCheckedEndsIt) {
  struct Row {
    int status;
    std::string body;
    bool ends_pause;
  };
  for (const Row& row : {Row{402, error_json("card_error", "card_declined"), true},
                         Row{404, error_json("invalid_request_error", "resource_missing"), true},
                         Row{429, error_json("invalid_request_error", "rate_limit"), false},
                         Row{500, "", false}, Row{502, "<html>", false}, Row{200, "x", false}}) {
    const auto first = std::make_shared<std::atomic<bool>>(true);
    RawServer server([first, row](const RawRequest&) {
      if (first->exchange(false)) return http_reply(403, error_json("invalid_request_error", "x"));
      return http_reply(row.status, row.body);
    });
    const auto clock = std::make_shared<std::atomic<std::int64_t>>(0);
    const auto provider = open_provider(options_with_clock(server.url(), clock));
    (void)perform(*provider, charge_request());
    ASSERT_NE(provider->stats().paused_reason, "");
    clock->store(60'000);
    (void)perform(*provider, charge_request());
    EXPECT_EQ(provider->stats().paused_reason.empty(), row.ends_pause) << row.status;
  }
}

// --- time ---

TEST(StripeTime, StartAsksOnceAndTheClockGoesOn) {
  RawServer server(always(
      http_reply(200, R"({"object":"list","has_more":true,"data":[)" + intent_json("pi_1") + "]}",
                 "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n")));
  const auto clock = std::make_shared<std::atomic<std::int64_t>>(1'000);
  const auto provider = open_provider(options_with_clock(server.url(), clock));
  EXPECT_EQ(provider->provider_now(), std::nullopt);
  provider->start();
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!provider->provider_now() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(provider->provider_now(), Timestamp{784'111'777'000});
  clock->store(3'500);
  EXPECT_EQ(provider->provider_now(), Timestamp{784'111'779'500});
  ASSERT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(server.requests()[0].line(), "GET /v1/payment_intents?limit=1 HTTP/1.1");
  EXPECT_EQ(provider->stats().in_flight, 0U) << "needs no permit";
}

TEST(StripeTime, EveryWholeAnswerTellsTheTimeAndNothingElseDoes) {
  RawServer server([](const RawRequest& request) {
    RawReply reply = http_reply(500, "{}", "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    if (request.connection == 1) {
      reply.bytes.pop_back();
      reply.end = RawEnd::rst;
    }
    return reply;
  });
  const auto provider = open_provider(options_for(server.url()));
  EXPECT_EQ(perform(*provider, charge_request()).observation, Observation::broken);
  EXPECT_EQ(provider->provider_now(), std::nullopt);
  EXPECT_EQ(perform(*provider, charge_request()).observation, Observation::server_error);
  EXPECT_NE(provider->provider_now(), std::nullopt);
}

TEST(StripeTime, AFailedStartIsNoError) {
  const auto url = "http://127.0.0.1:" + std::to_string(onceward::test::refusing_port());
  const auto provider = open_provider(options_for(url));
  provider->start();
  EXPECT_EQ(perform(*provider, charge_request()).observation, Observation::not_sent);
  EXPECT_EQ(provider->provider_now(), std::nullopt);
  EXPECT_EQ(provider->stats().paused_reason, "");
  EXPECT_NE(provider->stats().unreachable_reason.find("onnect"), std::string::npos);
}

// --- reach ---

TEST(StripeReach, SaysWhyNobodyAnsweredUntilTheProviderDoes) {
  std::vector<RawReply> replies = {{"", RawEnd::fin},
                                   http_reply(200, "<html>a portal</html>"),
                                   http_reply(500, "{}"),
                                   http_reply(302, ""),
                                   http_reply(200, charge_json("ch_1"))};
  std::size_t next = 0;
  RawServer server([&](const RawRequest&) { return replies.at(next++); });
  const auto provider = open_provider(options_for(server.url()));
  const auto reason_after_call = [&] {
    (void)perform(*provider, charge_request());  // what it is answered is tested elsewhere
    return provider->stats().unreachable_reason;
  };
  EXPECT_EQ(reason_after_call().empty(), false) << "cut";
  EXPECT_EQ(reason_after_call().empty(), false) << "not a provider";
  EXPECT_EQ(reason_after_call(), "") << "an error of the provider is an answer";
  EXPECT_EQ(reason_after_call().empty(), false) << "sent elsewhere";
  EXPECT_EQ(reason_after_call(), "");
  auto expired = charge_request();
  expired.not_after_boottime_ms = 0;
  EXPECT_EQ(perform(*provider, expired).code, "expired");
  EXPECT_EQ(provider->stats().unreachable_reason, "") << "no fault of the provider";
}

// --- stop ---

TEST(StripeStop, AnswersEveryCallAndGrantsNothingMore) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  Counter arrived;
  RawServer server([&, released](const RawRequest&) {
    arrived.add();
    released.wait();
    return http_reply(200, charge_json("ch_1"));
  });
  auto options = options_for(server.url());
  options.max_in_flight = 1;
  const auto provider = open_provider(std::move(options));
  ASSERT_TRUE(provider->try_acquire());
  std::vector<ExternalAnswer> answers;
  const auto sink = [&](ExternalAnswer&& answer) { answers.push_back(std::move(answer)); };
  provider->call(charge_request(), sink);
  provider->acquire([] { ADD_FAILURE() << "granted after stop"; });
  ASSERT_TRUE(arrived.reaches(1));
  provider->stop(0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].observation, Observation::broken);
  EXPECT_EQ(answers[0].code, "stopped");
  EXPECT_FALSE(provider->try_acquire());
  provider->acquire([] { ADD_FAILURE() << "granted after stop"; });
  EXPECT_EQ(provider->stats().in_flight, 0U);
  release.set_value();
  provider->stop(0);
}

TEST(StripeStop, ACallAfterStopIsAnsweredNotSent) {
  RawServer server(always(http_reply(200, charge_json("ch_1"))));
  const auto provider = open_provider(options_for(server.url()));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(provider->try_acquire());
  provider->stop(1'000);
  std::vector<ExternalAnswer> answers;
  const auto sink = [&](ExternalAnswer&& answer) { answers.push_back(std::move(answer)); };
  provider->call(charge_request(), sink);
  auto expired = charge_request();
  expired.not_after_boottime_ms = 0;
  provider->call(expired, sink);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].observation, Observation::not_sent);
  EXPECT_EQ(answers[0].code, "stopped");
  EXPECT_EQ(answers[1].observation, Observation::not_sent);
  EXPECT_EQ(server.requests().size(), 0U);
}

TEST(StripeStop, WaitsForAnswersWithinItsGrace) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  Counter arrived;
  RawServer server([&, released](const RawRequest&) {
    arrived.add();
    released.wait();
    return http_reply(200, charge_json("ch_1"));
  });
  const auto provider = open_provider(options_for(server.url()));
  ASSERT_TRUE(provider->try_acquire());
  std::atomic<bool> good{false};
  provider->call(charge_request(), [&](ExternalAnswer&& answer) {
    good = answer.observation == Observation::object;
  });
  ASSERT_TRUE(arrived.reaches(1));
  auto stopped = std::async(std::launch::async, [&] { provider->stop(30'000); });
  EXPECT_EQ(stopped.wait_for(20ms), std::future_status::timeout);
  release.set_value();
  ASSERT_EQ(stopped.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(good);
}

}  // namespace
}  // namespace onceward::provider::test
