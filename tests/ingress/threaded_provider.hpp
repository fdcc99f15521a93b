// ThreadedProvider: the fake provider behind the port, answering from a thread of its own, at once
// or when the test lets it go.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <onceward/platform/system_clock.hpp>
#include <onceward/provider/provider.hpp>

#include "tests/support/fake_provider.hpp"

namespace onceward::testing {

/// Thread-safe. Permits are unlimited.
class ThreadedProvider final : public provider::Provider {
 public:
  ThreadedProvider() : thread_([this] { answer_calls(); }) {}
  ~ThreadedProvider() override {
    {
      const std::lock_guard guard(mutex_);
      is_stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  bool try_acquire() override { return true; }
  void acquire(provider::PermitSink granted) override { granted(); }
  void release() override {}
  void call(ExternalRequest request, provider::AnswerSink answer) override {
    const std::lock_guard guard(mutex_);
    calls_.push_back({std::move(request), std::move(answer)});
    changed_.notify_all();
  }
  std::optional<Timestamp> provider_now() const override { return clock_->now().wall; }
  provider::ProviderStats stats() const override { return {}; }
  void stop(std::int64_t) override { let_go(); }

  void hold() {
    const std::lock_guard guard(mutex_);
    left_ = 0;
  }
  /// Answers `n` more calls, then holds.
  void let_go(std::size_t n = SIZE_MAX) {
    const std::lock_guard guard(mutex_);
    left_ = n;
    changed_.notify_all();
  }
  /// Charges made, by customer and purpose.
  [[nodiscard]] std::map<std::string, int> charges() const {
    const std::lock_guard guard(mutex_);
    std::map<std::string, int> charges;
    for (const auto& row : fake_.ledger()) ++charges[row.customer + "/" + row.purpose];
    return charges;
  }
  [[nodiscard]] std::size_t charged() const {
    const std::lock_guard guard(mutex_);
    return fake_.ledger().size();
  }
  [[nodiscard]] std::int64_t charged_minor() const {
    const std::lock_guard guard(mutex_);
    std::int64_t sum = 0;
    for (const auto& row : fake_.ledger()) sum += row.amount_minor;
    return sum;
  }

 private:
  struct Waiting {
    ExternalRequest request;
    provider::AnswerSink answer;
  };

  void answer_calls() {
    std::unique_lock guard(mutex_);
    while (true) {
      changed_.wait(guard, [this] { return is_stopped_ || (left_ > 0 && !calls_.empty()); });
      if (is_stopped_) return;
      Waiting next = std::move(calls_.front());
      calls_.pop_front();
      if (left_ != SIZE_MAX) --left_;
      ExternalAnswer answer = fake_.handle(next.request, Fate::ok, clock_->now().wall);
      guard.unlock();
      next.answer(std::move(answer));
      guard.lock();
    }
  }

  const std::unique_ptr<platform::SystemClock> clock_ = platform::SystemClock::open({}).value();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> calls_;
  std::size_t left_ = SIZE_MAX;
  bool is_stopped_ = false;
  FakeProvider fake_;
  std::thread thread_;
};

}  // namespace onceward::testing
