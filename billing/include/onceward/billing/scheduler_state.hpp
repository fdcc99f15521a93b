// State of a billing cycle's scheduler: its runs, by their events, and their transient progress.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <onceward/billing/run_progress.hpp>
#include <onceward/billing/scheduler_events.hpp>

namespace onceward::billing {

/// One run. Everything but `progress` follows from the events.
struct Run {
  RunNr nr;
  RunId id;
  ApprovedPlan plan;
  bool started = false;
  RunStatus status = RunStatus::running;
  PlanPosition cursor;
  PlanPosition watched_from;
  std::map<RunOutcome, std::uint64_t> outcomes;
  std::vector<Money> limits;
  Timestamp started_at;
  std::string started_by;
  Timestamp changed_at;
  std::string changed_by;
  std::string why;

  RunProgress progress;  ///< transient: changed by notes, rebuilt by resume()
};

struct SchedulerState {
  PersistenceId id;
  std::string cycle;
  std::vector<Run> runs;  ///< runs[n] has the number n + 1
};

/// What changes the transient part; see Decision::notes. The run exists and is active.
namespace note {
struct TakenUp {
  RunNr run;
};
struct LoadStarted {
  RunNr run;
  std::int64_t at_boottime_ms = 0;
};
struct RowsArrived {
  RunNr run;
  std::vector<RunRow> rows;
  bool complete = false;
};
struct LoadFailed {
  RunNr run;
  std::string problem;
};
struct Asked {
  RunNr run;
  std::vector<std::uint64_t> ordinals;
  std::int64_t at_boottime_ms = 0;
};
struct Told {
  RunNr run;
  std::uint64_t ordinal = 0;
  Standing standing = Standing::held;
  std::optional<RunOutcome> outcome;
};
struct Ticked {
  RunNr run;
  std::int64_t at_boottime_ms = 0;
};
}  // namespace note

using SchedulerNote = std::variant<note::TakenUp, note::LoadStarted, note::RowsArrived,
                                   note::LoadFailed, note::Asked, note::Told, note::Ticked>;

/// Folds one event into the state; impossible_transition if the history cannot hold it.
[[nodiscard]] Result<Unit> evolve_runs(SchedulerState& state, const SchedulerEvent& event);

}  // namespace onceward::billing
