// The books of a run in memory. Every row is in exactly one phase; `cover()` alone moves the
// in-memory cursor.
#include <onceward/billing/run_progress.hpp>

#include <algorithm>
#include <utility>

namespace onceward::billing {

void RunProgress::take_up(const PlanPosition& watched_from, const PlanPosition& cursor) {
  ONCEWARD_CHECK(watched_from.ordinal <= cursor.ordinal, "watched rows lie before the cursor");
  *this = RunProgress{};
  taken_up_ = true;
  loaded_to_ = watched_from;
  covered_ = cursor;
  moved_to_ = cursor.ordinal;
}

void RunProgress::load_started(std::int64_t now_ms) {
  loading_since_ms_ = now_ms;
}

void RunProgress::rows_arrived(const std::vector<RunRow>& rows, bool complete) {
  ONCEWARD_CHECK(is_loading() && !complete_, "rows arrive after they were asked for");
  loading_since_ms_.reset();
  problem_.clear();
  complete_ = complete;
  for (const RunRow& row : rows) add(row);
  cover();
}

void RunProgress::add(const RunRow& row) {
  PlanPosition before =
      std::exchange(loaded_to_, PlanPosition{loaded_to_.ordinal + 1, row.customer, row.purpose});
  const std::uint64_t ordinal = loaded_to_.ordinal;
  const bool is_watched = ordinal <= covered_.ordinal;
  if (is_watched && row.status != ObligationStatus::in_progress) return;
  Row& added = rows_[ordinal];
  added.row = row;
  added.before = std::move(before);
  if (is_watched) {
    // It was in the window before this incarnation; asking again brings its notification.
    added.has_outcome = true;
    added.in_window = true;
    ++window_used_;
    again_.insert(ordinal);
  } else if (row.billable) {
    fresh_.insert(ordinal);
  } else {
    added.has_outcome = true;  // the plan itself says why
    added.phase = Phase::left;
  }
}

void RunProgress::load_failed(std::string problem) {
  loading_since_ms_.reset();
  load_held_ = true;
  problem_ = std::move(problem);
}

void RunProgress::asked(const std::vector<std::uint64_t>& ordinals, std::int64_t now_ms) {
  for (const std::uint64_t ordinal : ordinals) {
    Row& row = rows_.at(ordinal);
    fresh_.erase(ordinal);
    again_.erase(ordinal);
    if (!row.in_window) {
      row.in_window = true;
      ++window_used_;
    }
    if (row.first_asked_ms == never) row.first_asked_ms = now_ms;
    row.asked_ms = now_ms;
    row.phase = Phase::asked;
  }
}

void RunProgress::told(std::uint64_t ordinal, Standing standing,
                       std::optional<RunOutcome> outcome) {
  const auto found = rows_.find(ordinal);
  if (found == rows_.end() || !found->second.in_window) return;
  Row& row = found->second;
  again_.erase(ordinal);
  switch (standing) {
    case Standing::held:
      row.phase = Phase::held;
      return;
    case Standing::in_progress:
      row.phase = Phase::in_progress;
      break;
    case Standing::left:
      row.phase = Phase::left;
      row.in_window = false;
      --window_used_;
      // A row that was in progress is told by its obligation, whatever its entity says now.
      if (!row.has_outcome) row.outcome = outcome;
      break;
  }
  row.has_outcome = true;
  if (ordinal > covered_.ordinal) {
    cover();
  } else if (!row.in_window) {
    rows_.erase(found);
  }
}

void RunProgress::cover() {
  for (auto next = rows_.find(covered_.ordinal + 1);
       next != rows_.end() && next->first == covered_.ordinal + 1 && next->second.has_outcome;) {
    const Row& row = next->second;
    covered_ = {next->first, row.row.customer, row.row.purpose};
    if (row.outcome) exceptional_.push_back({covered_, *row.outcome});
    next = row.in_window ? std::next(next) : rows_.erase(next);
  }
}

void RunProgress::ticked(std::int64_t now_ms, std::int64_t again_after_ms) {
  for (auto& [ordinal, row] : rows_) {
    const bool is_overdue = row.in_window && row.phase != Phase::held &&
                            row.phase != Phase::fresh && now_ms - row.asked_ms >= again_after_ms;
    if (row.phase == Phase::held || is_overdue) again_.insert(ordinal);
  }
  load_held_ = false;
  if (loading_since_ms_ && now_ms - *loading_since_ms_ >= again_after_ms) {
    loading_since_ms_.reset();
  }
  move_due_ = covered_.ordinal > moved_to_;
}

void RunProgress::cursor_moved(const PlanPosition& cursor) {
  move_due_ = false;
  moved_to_ = cursor.ordinal;
  std::erase_if(exceptional_, [&cursor](const ExceptionalRow& exceptional) {
    return exceptional.row.ordinal <= cursor.ordinal;
  });
}

bool RunProgress::wants_rows(std::size_t window) const {
  return taken_up_ && !complete_ && !load_held_ && !is_loading() && fresh_.size() < window &&
         loaded_to_.ordinal < covered_.ordinal + look_ahead_max;
}

std::vector<std::uint64_t> RunProgress::to_ask(std::size_t window) const {
  std::vector<std::uint64_t> ordinals;
  for (auto next = again_.begin(); next != again_.end() && ordinals.size() < ask_batch_max;
       ++next) {
    ordinals.push_back(*next);
  }
  std::size_t room = window > window_used_ ? window - window_used_ : 0;
  for (auto next = fresh_.begin();
       next != fresh_.end() && room > 0 && ordinals.size() < ask_batch_max; ++next, --room) {
    ordinals.push_back(*next);
  }
  return ordinals;
}

const RunRow* RunProgress::row(std::uint64_t ordinal) const {
  const auto found = rows_.find(ordinal);
  return found == rows_.end() ? nullptr : &found->second.row;
}

PlanPosition RunProgress::watched_from() const {
  if (rows_.empty() || rows_.begin()->first > covered_.ordinal) return covered_;
  return rows_.begin()->second.before;
}

bool RunProgress::is_finished() const noexcept {
  return complete_ && covered_.ordinal == loaded_to_.ordinal && window_used_ == 0;
}

RunCounts RunProgress::counts() const {
  RunCounts counts;
  for (const auto& [ordinal, row] : rows_) {
    if (!row.in_window) continue;
    if (row.phase == Phase::held) {
      ++counts.held;
    } else if (row.has_outcome) {
      ++counts.in_progress;
    } else {
      ++counts.asked;
    }
    if (row.first_asked_ms == never) continue;
    if (counts.oldest.value().empty() || row.first_asked_ms < counts.oldest_since_boottime_ms) {
      counts.oldest = row.row.customer;
      counts.oldest_since_boottime_ms = row.first_asked_ms;
    }
  }
  return counts;
}

}  // namespace onceward::billing
