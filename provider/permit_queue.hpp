// PermitQueue: who may call the provider now. In-flight slots, a rate, first come first served, and
// a pause while the provider refuses our credentials. Pure: time comes in as CLOCK_BOOTTIME
// milliseconds, grants go out as a list. Not thread-safe; a port holds its lock around it.
#pragma once

#include <onceward/provider/provider.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace onceward::provider {

struct PermitQueueOptions {
  std::size_t in_flight_max = 64;
  /// Wire requests per second on average; 0: unlimited. At most a tenth of it, and at least one,
  /// may leave at once.
  std::uint32_t rate_per_second = 20;
  /// While paused: one permit at a time, and at most one per this interval.
  std::int64_t probe_interval_ms = 30'000;
};

class PermitQueue {
 public:
  PermitQueue(const PermitQueueOptions& options, std::int64_t now_ms);

  /// Takes a permit if one is free and nobody waits for it.
  [[nodiscard]] bool try_take(std::int64_t now_ms);
  /// Unbounded: the entities that may ask are bounded by those resident, each asking once.
  void wait(PermitSink granted);
  /// Those whose turn it is now, oldest first; each holds a permit from here on. Call them without
  /// holding a lock.
  [[nodiscard]] std::vector<PermitSink> take_grants(std::int64_t now_ms);
  /// When time alone will let the next waiter in; absent if nobody waits or a permit must come back
  /// first.
  [[nodiscard]] std::optional<std::int64_t> next_grant_at_ms(std::int64_t now_ms) const;

  /// A permit came back without a call: its slot and its share of the rate are free again.
  void give_back_unused(std::int64_t now_ms);
  /// A call ended. What it sent beyond one wire request is charged to those who come next.
  void end_call(std::uint32_t wire_requests);

  /// Slow probing from now on; a reason given before stays.
  void pause(std::string reason, std::int64_t now_ms);
  void resume();
  /// Drops all waiters; nothing is granted any more.
  void close();

  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  /// Empty if not paused.
  [[nodiscard]] const std::string& paused_reason() const noexcept { return paused_reason_; }

 private:
  void refill(std::int64_t now_ms);
  [[nodiscard]] bool take(std::int64_t now_ms);
  [[nodiscard]] bool is_paused() const noexcept { return !paused_reason_.empty(); }

  const PermitQueueOptions options_;
  std::deque<PermitSink> waiting_;
  std::size_t in_flight_ = 0;
  /// Thousandths of a wire request; negative after calls that sent more than one.
  std::int64_t tokens_milli_ = 0;
  std::int64_t refilled_at_ms_ = 0;
  std::string paused_reason_;
  std::int64_t next_probe_ms_ = 0;
  bool closed_ = false;
};

}  // namespace onceward::provider
