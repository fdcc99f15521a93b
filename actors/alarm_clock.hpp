// AlarmClock: the only timer of the runtime, one plain thread with a few fixed alarms. It replaces
// CAF's delayed messages, which cannot be called off and keep their receiver alive.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace onceward::actors {

enum class Alarm : std::uint8_t {
  tick,      ///< due rows, commands that wait too long, trimming
  start_up,  ///< next page of open rows of older epochs
  recovery,  ///< recoveries that were put off
  barrier,   ///< next try to resolve an unknown commit
};
inline constexpr std::size_t alarms = 4;

/// Thread-safe. Paces the shell only; everything that is stored or compared takes its time from
/// the Clock.
class AlarmClock {
 public:
  /// `ring` is called on the clock's thread, never while the clock is locked; must not block.
  explicit AlarmClock(std::function<void(Alarm)> ring);
  ~AlarmClock();
  AlarmClock(const AlarmClock&) = delete;
  AlarmClock& operator=(const AlarmClock&) = delete;

  /// Rings once after `delay_ms`, or earlier if the alarm was already set to ring earlier.
  void set(Alarm alarm, std::int64_t delay_ms);
  /// No ring begins after this returns. Idempotent; not from within a ring.
  void stop();
  /// Monotonic time since the clock was made.
  [[nodiscard]] std::int64_t elapsed_ms() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void run();

  const std::function<void(Alarm)> ring_;
  const Instant start_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::optional<Instant>, alarms> armed_;  // guarded by mutex_
  bool stopped_ = false;                              // guarded by mutex_

  std::thread thread_;  // last: starts when all else is there
};

}  // namespace onceward::actors
