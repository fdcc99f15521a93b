// DuePlan: which of the rows that a due query returned are woken now, and how many to ask for next
// time. Rows that were just woken and have not moved since do not hide those behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <onceward/core/obligation.hpp>

namespace onceward::actors {

/// Used by the reader's thread only.
class DuePlan {
 public:
  explicit DuePlan(std::size_t batch) : batch_(batch) {}

  /// How many rows to ask for: one batch beyond those that would be skipped again.
  [[nodiscard]] std::size_t query_limit() const noexcept { return batch_ + skipped_; }
  /// Called once per tick with the rows of the query. Returns each entity at most once, at most
  /// min(batch, room) of them. A row that was woken is woken again only when its next_action_at has
  /// changed or after `patience` ticks: its entity is at work, or out of memory.
  [[nodiscard]] std::vector<PersistenceId> choose(std::span<const ObligationRow> rows,
                                                  std::size_t room);

  static constexpr std::uint64_t patience = 10;
  /// At most this many batches of skipped rows are read again; a bound for the worst case.
  static constexpr std::size_t skipped_batches_max = patience;

 private:
  struct Woken {
    Timestamp next_action_at;
    std::uint64_t tick = 0;
  };
  const std::size_t batch_;
  std::size_t skipped_ = 0;
  std::uint64_t tick_ = 0;
  std::unordered_map<std::string, Woken> woken_;  // by display text of the obligation
};

}  // namespace onceward::actors
