// The scheduler's replies as results, and the wait for one. Private to the run service.
#pragma once

#include <any>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <onceward/billing/scheduler_commands.hpp>

namespace onceward::ingress {

/// Takes the first reply to one command and hands it to the one who waits. Thread-safe.
class ReplySlot {
 public:
  /// Does not block; later replies are dropped.
  void put(std::any reply);
  /// Blocks. Turned down: busy, store_uncertain, quarantined or invalid_argument; no reply in time:
  /// store_uncertain, since it may have been recorded.
  [[nodiscard]] Result<billing::SchedulerReply> take(std::chrono::milliseconds longest);

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<billing::SchedulerReply> reply_;
};

/// The told run; conflict, invalid_argument or not_found for the other replies. `what` names the
/// run or plan in messages.
[[nodiscard]] Result<billing::RunTold> told_or_error(billing::SchedulerReply reply,
                                                     std::string_view what);

/// The run with this id, or the only one whose id begins with the text.
[[nodiscard]] Result<billing::RunView> pick_run(std::vector<billing::RunView> runs,
                                                std::string_view text);

}  // namespace onceward::ingress
