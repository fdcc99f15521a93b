// What the tests of StripeProvider share: a provider aimed at a scripted server, calls that wait
// for their answer, and bodies as the real provider sends them.
#pragma once

#include <onceward/provider/stripe_provider.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/raw_server.hpp"

namespace onceward::provider::test {

using namespace std::chrono_literals;
using onceward::test::http_reply;
using onceward::test::RawEnd;
using onceward::test::RawReply;
using onceward::test::RawRequest;
using onceward::test::RawServer;

inline constexpr const char* secret_key = "sk_test_onceward";

inline StripeProviderOptions options_for(const std::string& url) {
  StripeProviderOptions options;
  options.base_url = url;
  options.secret_key = platform::Secret(secret_key);
  options.timeout = 20s;
  options.rate_per_second = 0;
  options.max_in_flight = 4;
  return options;
}

inline std::unique_ptr<StripeProvider> open_provider(StripeProviderOptions options) {
  auto provider = StripeProvider::create(std::move(options));
  if (!provider) {
    ADD_FAILURE() << provider.error().context;
    std::abort();
  }
  return std::move(provider).value();
}

inline constexpr std::int64_t never_expires = std::int64_t{1} << 60;

inline ExternalRequest request_of(Operation operation, std::string target = {}) {
  ExternalRequest request;
  request.key = IdempotencyKey("0123456789abcdef0123456789abcdef");
  request.operation = operation;
  request.target = std::move(target);
  request.not_after_boottime_ms = never_expires;
  return request;
}

inline ExternalRequest charge_request() {
  auto request = request_of(Operation::create_charge);
  request.params = {
      {"amount", "4990"}, {"currency", "usd"}, {"metadata[onceward_period]", "2026-08"}};
  return request;
}

/// Takes a permit, calls, and waits for the one answer, which must come.
inline ExternalAnswer perform(Provider& provider, ExternalRequest request) {
  std::promise<void> granted;
  provider.acquire([&] { granted.set_value(); });
  if (granted.get_future().wait_for(30s) != std::future_status::ready) std::abort();
  auto promise = std::make_shared<std::promise<ExternalAnswer>>();
  auto future = promise->get_future();
  provider.call(std::move(request),
                [promise](ExternalAnswer&& answer) { promise->set_value(std::move(answer)); });
  if (future.wait_for(30s) != std::future_status::ready) {
    ADD_FAILURE() << "no answer";
    std::abort();
  }
  return future.get();
}

inline ExternalAnswer perform_once(const std::string& url, ExternalRequest request) {
  const auto provider = open_provider(options_for(url));
  return perform(*provider, std::move(request));
}

inline std::string charge_json(const std::string& id, const std::string& status = "succeeded") {
  return R"({"id":")" + id + R"(","object":"charge","amount":4990,"amount_captured":4990,)" +
         R"("currency":"usd","customer":"cus_1","created":1700000000,"status":")" + status +
         R"(","payment_intent":null,"metadata":{"onceward_period":"2026-08"}})";
}

inline std::string intent_json(const std::string& id, const std::string& status = "succeeded") {
  return R"({"id":")" + id + R"(","object":"payment_intent","amount":4990,"amount_received":)" +
         (status == "succeeded" ? "4990" : "0") +
         R"(,"currency":"usd","customer":"cus_1","created":1700000000,"status":")" + status +
         R"(","latest_charge":"ch_9","last_payment_error":null,"metadata":{}})";
}

inline std::string error_json(const std::string& type, const std::string& code,
                              const std::string& more = {}) {
  return R"({"error":{"type":")" + type + R"(","code":")" + code + R"(","message":"No.")" + more +
         "}}";
}

/// Always the same answer.
inline RawServer::Script always(RawReply reply) {
  return [reply = std::move(reply)](const RawRequest&) { return reply; };
}

}  // namespace onceward::provider::test
