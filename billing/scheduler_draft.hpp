// Parts of a scheduler's decisions that several of its files use. Private to billing.
#pragma once

#include <cstdint>
#include <vector>

#include <onceward/billing/scheduler_entity.hpp>
#include <onceward/core/decider.hpp>

namespace onceward::billing {

/// A row of a run as the correlation of its Tell: stale answers of other runs are told by it.
[[nodiscard]] inline std::uint64_t to_correlation(RunNr run, std::uint64_t ordinal) noexcept {
  ONCEWARD_CHECK(ordinal >= 1 && ordinal <= plan_rows_max, "rows of a plan count from 1");
  return std::uint64_t{run.value()} << 32U | ordinal;
}
[[nodiscard]] inline std::uint32_t run_of_correlation(std::uint64_t correlation) noexcept {
  return static_cast<std::uint32_t>(correlation >> 32U);
}
[[nodiscard]] inline std::uint64_t ordinal_of_correlation(std::uint64_t correlation) noexcept {
  return correlation & plan_rows_max;
}

[[nodiscard]] RunsTold runs_told(const SchedulerState& state);
[[nodiscard]] SchedulerEntity::Decided decide_tick(const SchedulerState& state,
                                                   const Context& context);
[[nodiscard]] SchedulerEntity::Decided decide_rows_loaded(const SchedulerState& state,
                                                          const PlanRowsLoaded& command);
[[nodiscard]] SchedulerEntity::Decided decide_told(const SchedulerState& state,
                                                   const CustomerTold& command);

/// Appends the CursorMoved events that bring the stored cursor to what is covered; none if it is
/// there already.
void move_cursor(const Run& run, const Context& context, std::vector<SchedulerEvent>& events);

}  // namespace onceward::billing
