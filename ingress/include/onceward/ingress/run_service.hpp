// RunService: billing runs for people and programs: plans from customer files, starting, steering
// and watching runs, and the completeness report. It sends commands to the scheduler's entity and
// keeps it ticking; what is decided is decided there. The HTTP API and the verbs call it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/actors/runtime.hpp>
#include <onceward/billing/scheduler_entity.hpp>
#include <onceward/journal/plan_store.hpp>

namespace onceward::ingress {

struct RunServiceOptions {
  /// Name of the billing cycle; the scheduler's persistence id is `scheduler/<cycle>`.
  std::string cycle = "monthly";
  /// The configured customer file, for plans without an upload. Empty: there is none.
  std::string customers_path;
  billing::SchedulerPolicy scheduler;
  /// Between two ticks of an active run.
  std::chrono::milliseconds tick{1'000};
  /// A command that the runtime has not answered by then fails as store_uncertain.
  std::chrono::milliseconds answer_max{30'000};
};

/// What the service works on; all of it must outlive the service.
struct RunServicePorts {
  journal::Journal& journal;
  /// Opens plan stores on the journal's store; called several times, from any thread.
  std::function<Result<std::unique_ptr<journal::PlanStore>>()> plan_stores;
  const Clock& clock;
};

/// A run with how far it is. Rows are counted by what became of them.
struct RunShown {
  billing::RunView run;
  journal::PlanStore::Tally tally;  ///< obligations of the planned rows, by status
  /// Rows that got an outcome, per minute, over the last minute that this process has seen; absent
  /// while the run is not active or was not watched long enough.
  std::optional<std::uint64_t> rows_per_minute;
  std::optional<std::chrono::seconds> remaining;  ///< at that rate
  /// How long the row that is outstanding for longest has been asked; its customer is run.oldest.
  std::optional<std::chrono::seconds> oldest_age;
};

/// Who started or stopped something and why; both are stored with it.
struct WhoAndWhy {
  std::string who;
  std::string why;
};

/// One planned row and what became of it.
struct ReportLine {
  journal::PlanRow row;
  /// An obligation status, a run outcome, or `not_asked`.
  std::string outcome;
  std::string charge_id;
  /// Why: of the obligation, or the plan's reason not to bill. Empty if obvious.
  std::string reason;
  /// The amount on record where it differs from the plan's.
  std::optional<Money> recorded;
};

/// Everyone expected, by outcome; the counts sum up to the customers of the plan.
struct ReportSummary {
  billing::RunView run;
  std::map<std::string, std::uint64_t> by_outcome;
};

/// All members are thread-safe. Those that return a Result block on disk or on the runtime's
/// answer. Errors beside those named at the members: not_ready before attach() and after stop(),
/// busy if the runtime takes no more (nothing was recorded; the same may be sent again),
/// store_uncertain if it is not known whether a command was recorded (send the same again: all of
/// them may be repeated), quarantined, store_* if a read failed.
class RunService {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RunService>> create(RunServiceOptions options,
                                                                  RunServicePorts ports);
  /// stop().
  virtual ~RunService() = default;

  /// Serves `scheduler/` in the runtime; refers to this service, which must outlive the runtime.
  [[nodiscard]] virtual actors::EntityBinding binding() = 0;
  /// Once, when the runtime has started: takes up the runs that were active and keeps them ticking.
  virtual void attach(actors::Runtime& runtime) = 0;
  /// Sends nothing any more; before the runtime is drained. Idempotent.
  virtual void stop() = 0;

  /// Plans the CSV text (docs/runs.md) for a period: calls no provider, starts nothing. The plan is
  /// a snapshot in the store, so that later changes of the source do not change it; an equal plan
  /// is found, not made again. invalid_argument with line, column and what to do for bad input;
  /// conflict for a customer and purpose that come twice. `source` names the text in messages.
  [[nodiscard]] virtual Result<journal::PlanSummary> plan(std::string_view csv,
                                                          const BillingPeriod& period,
                                                          std::string_view source) = 0;
  /// The same with the configured file; invalid_config if there is none, io if it cannot be read.
  [[nodiscard]] virtual Result<journal::PlanSummary> plan_configured(
      const BillingPeriod& period) = 0;
  /// A plan by 8 or more digits of its hash; not_found.
  [[nodiscard]] virtual Result<journal::PlanSummary> find_plan(std::string_view hash) = 0;

  /// Starts the run of a plan, once: `existed` tells that it was started before. not_found without
  /// such a plan; invalid_argument if the plan is of another period or the period has not begun;
  /// conflict while another run of the period is active or the spend cap stands against it.
  [[nodiscard]] virtual Result<billing::RunTold> start(const BillingPeriod& period,
                                                       std::string_view plan_hash,
                                                       std::string_view who) = 0;
  /// `run` is an id, or its beginning if only one run has it: not_found, conflict if several do.
  /// conflict if the run cannot change in this way.
  [[nodiscard]] virtual Result<billing::RunTold> pause(std::string_view run,
                                                       const WhoAndWhy& by) = 0;
  [[nodiscard]] virtual Result<billing::RunTold> resume(std::string_view run,
                                                        const WhoAndWhy& by) = 0;
  [[nodiscard]] virtual Result<billing::RunTold> cancel(std::string_view run,
                                                        const WhoAndWhy& by) = 0;

  /// All runs, oldest first.
  [[nodiscard]] virtual Result<std::vector<billing::RunView>> list() = 0;
  [[nodiscard]] virtual Result<RunShown> show(std::string_view run) = 0;
  /// The completeness report: one line per planned row in the order of the plan, at most a page of
  /// them in memory. `line` returns false to end early. May be read while the run is active.
  [[nodiscard]] virtual Result<ReportSummary> report(
      std::string_view run, const std::function<bool(const ReportLine&)>& line) = 0;
};

}  // namespace onceward::ingress
