// A sliding minute of samples.
#include "ingress/run_pace.hpp"

namespace onceward::ingress {

namespace {
constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t shortest_ms = 2'000;
// Ticks come once a second; a faster clock must not make the window grow.
constexpr std::size_t samples_max = 256;
}  // namespace

void RunPace::observe(std::int64_t boottime_ms, std::uint64_t covered) {
  // A new incarnation of the scheduler begins at the stored cursor, behind what was seen.
  if (!samples_.empty() && covered < samples_.back().covered) samples_.clear();
  samples_.push_back({boottime_ms, covered});
  while (boottime_ms - samples_.front().boottime_ms > minute_ms || samples_.size() > samples_max) {
    samples_.pop_front();
  }
}

std::optional<std::uint64_t> RunPace::rows_per_minute() const {
  if (samples_.empty()) return std::nullopt;
  const std::int64_t span_ms = samples_.back().boottime_ms - samples_.front().boottime_ms;
  if (span_ms < shortest_ms) return std::nullopt;
  const std::uint64_t rows = samples_.back().covered - samples_.front().covered;
  return rows * static_cast<std::uint64_t>(minute_ms) / static_cast<std::uint64_t>(span_ms);
}

std::optional<std::chrono::seconds> RunPace::remaining(std::uint64_t rows) const {
  const auto pace = rows_per_minute();
  if (!pace || *pace == 0) return std::nullopt;
  const std::uint64_t seconds = (rows * 60 + *pace - 1) / *pace;
  return std::chrono::seconds(static_cast<std::int64_t>(seconds));
}

}  // namespace onceward::ingress
