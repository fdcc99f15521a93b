// The API over a FakeStore and a FakeRuntime that answers any command as a test scripts it.
#pragma once

#include <gtest/gtest.h>

#include <any>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ingress/fake_node.hpp"

namespace onceward::ingress {

class ApiFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    auto clock = platform::SystemClock::open({});
    ASSERT_TRUE(clock.has_value());
    clock_ = std::move(*clock);
    start({});
  }
  void start(HttpApiOptions options) {
    options.acceptance_max = std::chrono::milliseconds{300};
    auto api = HttpApi::start(
        std::move(options),
        {.runtime = runtime_,
         .journal = journal_,
         .clock = *clock_,
         .runs = nullptr,
         .not_ready = [this]() -> std::optional<std::string> { return not_ready_; }});
    ASSERT_TRUE(api.has_value());
    api_ = std::move(*api);
  }
  platform::HttpResponse ask(const std::string& method, const std::string& target,
                             std::vector<platform::HttpHeader> headers = {},
                             std::string body = "") {
    platform::HttpRequest request;
    request.method = method;
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    if (target.find('?') != std::string::npos) request.query = target.substr(target.find('?') + 1);
    request.headers = std::move(headers);
    request.body = std::move(body);
    test::Inbox inbox;
    api_->handle(std::move(request), inbox.answer());
    return inbox.wait();
  }
  /// Answers the n-th command with the n-th reply, the last one again and again; keeps what came.
  template <class Command, class Reply>
  void replies(std::vector<Reply> replies) {
    asked_.clear();
    runtime_.on_other = [this, replies = std::move(replies)](const PersistenceId& to,
                                                             const std::any& command,
                                                             const actors::ReplySink& sink) {
      EXPECT_NE(std::any_cast<Command>(&command), nullptr) << "a command of another kind";
      const std::size_t index = std::min(asked_.size(), replies.size() - 1);
      asked_.emplace_back(to, command);
      sink(std::any(replies[index]));
    };
  }
  void billing_replies(std::vector<billing::BillingReply> all) {
    replies<billing::BillingCommand>(std::move(all));
  }
  template <class T>
  [[nodiscard]] const T& command(std::size_t index) const {
    return std::get<T>(std::any_cast<const billing::BillingCommand&>(asked_.at(index).second));
  }

  static ObligationKey key_of(const std::string& customer, const std::string& period = "2026-08") {
    return {CustomerId{customer}, *BillingPeriod::parse(period), Purpose{"subscription"}};
  }
  static ObligationRow row_of(const std::string& customer, ObligationStatus status) {
    ObligationRow row;
    row.key = key_of(customer);
    row.amount = {4990, *Currency::parse("usd")};
    row.status = status;
    return row;
  }

  test::FakeStore store_;
  test::FakeJournal journal_{store_};
  test::FakeRuntime runtime_;
  std::unique_ptr<platform::SystemClock> clock_;
  std::optional<std::string> not_ready_;
  std::vector<std::pair<PersistenceId, std::any>> asked_;
  std::unique_ptr<HttpApi> api_;  // last: ends first
};

}  // namespace onceward::ingress
