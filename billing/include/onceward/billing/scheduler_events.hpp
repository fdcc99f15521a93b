// Events of the scheduler of a billing cycle: decided facts about its runs. Their stored form is
// docs/runs.md; scheduler_json_codec.cpp writes and reads it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <onceward/billing/run.hpp>
#include <onceward/core/decider.hpp>

namespace onceward::billing {

/// A plan was approved for its period; it counts in the spend cap from here on.
struct RunPlanned {
  RunNr run;
  Timestamp at;
  ApprovedPlan plan;
  friend bool operator==(const RunPlanned&, const RunPlanned&) = default;
};
/// The first customers may be asked. Stored together with RunPlanned and with the limits.
struct RunStarted {
  RunNr run;
  Timestamp at;
  std::string who;
  std::vector<Money> limits;  ///< of the period, raised with this event
  friend bool operator==(const RunStarted&, const RunStarted&) = default;
};
/// Every row up to `cursor` has an outcome. Rows of the run in (`watched_from`, `cursor`] may still
/// be in progress, none up to `watched_from` is.
struct CursorMoved {
  RunNr run;
  Timestamp at;
  PlanPosition cursor;
  PlanPosition watched_from;
  /// Rows that led to no obligation since the last one, in the order of the plan.
  std::vector<ExceptionalRow> exceptional;
  friend bool operator==(const CursorMoved&, const CursorMoved&) = default;
};
struct RunPaused {
  RunNr run;
  Timestamp at;
  std::string who;
  std::string why;
  friend bool operator==(const RunPaused&, const RunPaused&) = default;
};
struct RunResumed {
  RunNr run;
  Timestamp at;
  std::string who;
  std::string why;
  friend bool operator==(const RunResumed&, const RunResumed&) = default;
};
struct RunCancelled {
  RunNr run;
  Timestamp at;
  std::string who;
  std::string why;
  friend bool operator==(const RunCancelled&, const RunCancelled&) = default;
};
/// Every row has an outcome and none is in progress any more.
struct RunCompleted {
  RunNr run;
  Timestamp at;
  friend bool operator==(const RunCompleted&, const RunCompleted&) = default;
};

using SchedulerEvent = std::variant<RunPlanned, RunStarted, CursorMoved, RunPaused, RunResumed,
                                    RunCancelled, RunCompleted>;

/// JSON text under the event's name and version.
[[nodiscard]] EventCodec<SchedulerEvent> scheduler_event_codec();

}  // namespace onceward::billing
