// Tally: a counter of things that are still going on, on which the runtime's stop can wait.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace onceward::actors {

/// Thread-safe. add() and subtract() are one atomic operation each; only the step to zero locks.
class Tally {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void subtract() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    // The lock keeps the step to zero from falling between the waiter's check and its sleep.
    const std::lock_guard lock(mutex_);
    zero_.notify_all();
  }
  [[nodiscard]] std::int64_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }
  /// Blocks until nothing is going on, at most `timeout`; false if something still is.
  [[nodiscard]] bool wait_zero(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    return zero_.wait_for(lock, timeout,
                          [this] { return count_.load(std::memory_order_acquire) == 0; });
  }

 private:
  std::atomic<std::int64_t> count_{0};
  std::mutex mutex_;
  std::condition_variable zero_;
};

}  // namespace onceward::actors
