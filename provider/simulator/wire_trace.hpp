// WireTrace: the append-only record of requests under /v1, bounded. Rows are completed in place
// when their answer is decided.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include <onceward/provider/simulator/simulated_provider.hpp>

namespace onceward::provider::simulator {

class WireTrace {
 public:
  explicit WireTrace(std::size_t rows_max) : rows_max_(rows_max) {}

  /// Numbers the row and keeps it; the oldest goes when there is no room.
  std::uint64_t append(WireTraceRow row) {
    row.nr = ++last_nr_;
    rows_.push_back(std::move(row));
    if (rows_.size() > rows_max_) rows_.pop_front();
    return last_nr_;
  }
  /// Null when the row has been dropped.
  [[nodiscard]] WireTraceRow* find(std::uint64_t nr) {
    const std::uint64_t first = last_nr_ - rows_.size() + 1;
    if (nr < first || nr > last_nr_) return nullptr;
    return &rows_[static_cast<std::size_t>(nr - first)];
  }
  [[nodiscard]] const std::deque<WireTraceRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t requests() const noexcept { return last_nr_; }
  void clear() {
    rows_.clear();
    last_nr_ = 0;
  }

 private:
  const std::size_t rows_max_;
  std::uint64_t last_nr_ = 0;
  std::deque<WireTraceRow> rows_;
};

}  // namespace onceward::provider::simulator
