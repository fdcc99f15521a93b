// RateLimiter: a token bucket of one second's worth, on driver time.
#pragma once

#include <algorithm>
#include <cstdint>

#include <onceward/core/clock.hpp>

namespace onceward::provider::simulator {

class RateLimiter {
 public:
  /// 0 per second: no limit.
  explicit RateLimiter(std::uint32_t per_second = 0)
      : per_second_(per_second), thousandths_(std::int64_t{per_second} * 1000) {}

  void set(std::uint32_t per_second) {
    per_second_ = per_second;
    thousandths_ = std::int64_t{per_second} * 1000;
  }
  [[nodiscard]] bool admit(Timestamp now) {
    if (per_second_ == 0) return true;
    const std::int64_t full = std::int64_t{per_second_} * 1000;
    // A first call, or a long pause, fills the bucket; it never holds more than one second.
    const std::int64_t elapsed_ms = std::clamp<std::int64_t>(now.ms - last_.ms, 0, 1000);
    thousandths_ = std::min(full, thousandths_ + elapsed_ms * std::int64_t{per_second_});
    last_ = now;
    if (thousandths_ < 1000) return false;
    thousandths_ -= 1000;
    return true;
  }

 private:
  std::uint32_t per_second_;
  std::int64_t thousandths_;
  Timestamp last_;
};

}  // namespace onceward::provider::simulator
