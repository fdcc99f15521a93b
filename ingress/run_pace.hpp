// RunPace: how fast a run goes, from what was covered at the ticks of the last minute. Private to
// the run service.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace onceward::ingress {

/// A value; not thread-safe.
class RunPace {
 public:
  /// A count that goes back begins anew.
  void observe(std::int64_t boottime_ms, std::uint64_t covered);
  /// Absent before two seconds were seen.
  [[nodiscard]] std::optional<std::uint64_t> rows_per_minute() const;
  /// Absent without a pace, or at none.
  [[nodiscard]] std::optional<std::chrono::seconds> remaining(std::uint64_t rows) const;

 private:
  struct Sample {
    std::int64_t boottime_ms = 0;
    std::uint64_t covered = 0;
  };
  std::deque<Sample> samples_;
};

}  // namespace onceward::ingress
