// Commands to the scheduler of a billing cycle, the replies it gives and the query it makes.
// Commands are never stored; all of them may be repeated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/billing/run.hpp>
#include <onceward/core/error.hpp>

namespace onceward::billing {

/// Starts the run of an approved plan, once: a repeat answers the run that exists. Refused while
/// another run of the period is active.
struct StartRun {
  ApprovedPlan plan;
  /// Plans of this period that were approved earlier, ordered as the scheduler lists them, and the
  /// sums over the union of them and `plan`: per (customer, purpose) the largest amount of a
  /// currency. If the list is out of date the answer is OtherPlansApproved.
  std::vector<PlanHash> united_with;
  std::vector<Money> united_totals;
  /// Limits of the period in the store now; the run only ever raises them.
  std::vector<Money> limits_now;
  std::string who;
};
/// No further customer is asked. What was asked goes on to its end.
struct PauseRun {
  RunId run;
  std::string who;
  std::string why;
};
/// Takes a paused or cancelled run up at its cursor.
struct ResumeRun {
  RunId run;
  std::string who;
  std::string why;
};
/// As a pause, and another run of the period may start.
struct CancelRun {
  RunId run;
  std::string who;
  std::string why;
};
/// Reads only.
struct ShowRuns {};
/// Time has passed: what is overdue is asked again. Sent about once a second while a run is active.
struct Tick {};

/// Result of LoadPlanRows. `after` repeats the query's; `complete`: there are no rows beyond these.
struct PlanRowsLoaded {
  RunNr run;
  std::uint64_t after = 0;
  std::vector<RunRow> rows;
  bool complete = false;
  std::optional<Error> error;
};
/// Result of asking a customer's entity; may come twice (accepted, left in_progress), late or
/// never.
struct CustomerTold {
  CustomerId customer;
  std::uint64_t correlation = 0;
  BillingReply reply;
};

using SchedulerCommand = std::variant<StartRun, PauseRun, ResumeRun, CancelRun, ShowRuns, Tick,
                                      PlanRowsLoaded, CustomerTold>;

/// The query of the scheduler's Load effect: rows after a place of the plan with the status of
/// their obligations, at most `limit`.
struct LoadPlanRows {
  RunNr run;
  PlanHash plan;
  PlanPosition after;
  std::size_t limit = 0;
};

/// A run as it is now. Counts up to `cursor` are durable, the others of this incarnation.
struct RunView {
  RunId id;
  RunNr nr;
  ApprovedPlan plan;
  RunStatus status = RunStatus::running;
  std::uint64_t cursor = 0;   ///< rows with an outcome, durable
  std::uint64_t covered = 0;  ///< rows with an outcome, not all of them stored in the run yet
  std::map<RunOutcome, std::uint64_t> outcomes;  ///< exceptional ones up to the cursor
  Timestamp started_at;
  std::string started_by;
  Timestamp changed_at;  ///< of the newest change of status
  std::string changed_by;
  std::string why;
  std::vector<Money> limits;  ///< that this run set

  std::uint64_t asked = 0;        ///< asked, not answered yet
  std::uint64_t in_progress = 0;  ///< answered as in progress
  std::uint64_t held = 0;         ///< answered as busy or uncertain, to be asked again
  /// The customer that is outstanding for longest and since when (CLOCK_BOOTTIME); empty: none.
  CustomerId oldest;
  std::int64_t oldest_since_boottime_ms = 0;
  std::string problem;  ///< why the plan cannot be read at the moment; empty: it can
};

/// `existed`: the command changed nothing.
struct RunTold {
  RunView run;
  bool existed = false;
};
/// All runs, oldest first.
struct RunsTold {
  std::vector<RunView> runs;
};
/// Not in this state of the run, not beside `active`, or not below what the period has spent.
struct RunConflict {
  std::string detail;
  std::optional<RunView> active;
};
/// The plan cannot be run; `detail` says why and what to do.
struct RunRefused {
  std::string detail;
};
struct NoSuchRun {};
/// `united_with` was out of date: unite with these and start again.
struct OtherPlansApproved {
  std::vector<PlanHash> approved;
};
/// Not decided, or not known whether it was recorded.
struct RunTurnedDown {
  Turndown why = Turndown::busy;
};

using SchedulerReply = std::variant<RunTold, RunsTold, RunConflict, RunRefused, NoSuchRun,
                                    OtherPlansApproved, RunTurnedDown>;

}  // namespace onceward::billing
