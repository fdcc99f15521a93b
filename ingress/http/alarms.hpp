// Alarms: callbacks at given times, for the ends of waits and for repeated looks at a row. One
// thread; bounded.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <onceward/core/clock.hpp>

namespace onceward::ingress {

/// Thread-safe. The clock must outlive it.
class Alarms {
 public:
  /// Names one alarm; unique for the life of the object.
  using Id = std::pair<std::int64_t, std::uint64_t>;

  Alarms(const Clock& clock, std::size_t alarms_max);
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  /// stop().
  ~Alarms();
  /// Drops what is left without calling it and ends the thread; set() sets nothing from then on.
  /// Idempotent; by the owner only.
  void stop();

  /// Calls `ring` once at `boottime_ms` or later, on the alarm thread; it must not block. Absent if
  /// as many alarms as allowed are set: then it is never called.
  [[nodiscard]] std::optional<Id> set(std::int64_t boottime_ms, std::function<void()> ring);
  /// Nothing happens if it rang or was cancelled before.
  void cancel(const Id& id);
  [[nodiscard]] std::size_t size() const;

 private:
  void run();

  const Clock& clock_;
  const std::size_t alarms_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Id, std::function<void()>> alarms_;  // guarded; earliest first
  std::uint64_t next_ = 1;                      // guarded
  bool stopping_ = false;                       // guarded
  std::thread thread_;
};

}  // namespace onceward::ingress
