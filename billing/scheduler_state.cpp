// The fold: what each event makes of a run, and which transitions no history may hold.
#include <onceward/billing/scheduler_state.hpp>

#include <string>
#include <utility>

namespace onceward::billing {

namespace {

// One overload per event; each returns an empty text, or what makes the transition impossible.
class Fold {
 public:
  explicit Fold(SchedulerState& state) : state_(state) {}

  std::string operator()(const RunPlanned& e) {
    if (e.run.value() != state_.runs.size() + 1) return "planned out of order";
    Run run;
    run.nr = e.run;
    run.id = run_id_of(e.plan.period, e.plan.plan);
    run.plan = e.plan;
    state_.runs.push_back(std::move(run));
    return {};
  }
  std::string operator()(const RunStarted& e) {
    Run* run = find(e.run);
    if (run == nullptr || run->started) return "started without a plan, or twice";
    run->started = true;
    run->limits = e.limits;
    run->started_at = e.at;
    run->started_by = e.who;
    change(*run, RunStatus::running, e.at, e.who, {});
    return {};
  }
  std::string operator()(const CursorMoved& e);
  std::string operator()(const RunPaused& e) {
    Run* run = find_started(e.run);
    if (run == nullptr || run->status != RunStatus::running) return "paused while not running";
    change(*run, RunStatus::paused, e.at, e.who, e.why);
    return {};
  }
  std::string operator()(const RunResumed& e) {
    Run* run = find_started(e.run);
    if (run == nullptr) return "resumed without having started";
    if (run->status != RunStatus::paused && run->status != RunStatus::cancelled) {
      return "resumed while neither paused nor cancelled";
    }
    change(*run, RunStatus::running, e.at, e.who, e.why);
    return {};
  }
  std::string operator()(const RunCancelled& e) {
    Run* run = find_started(e.run);
    if (run == nullptr || !is_active(run->status)) return "cancelled while not active";
    change(*run, RunStatus::cancelled, e.at, e.who, e.why);
    run->progress = {};
    return {};
  }
  std::string operator()(const RunCompleted& e) {
    Run* run = find_started(e.run);
    if (run == nullptr || run->status != RunStatus::running) return "completed while not running";
    if (run->cursor.ordinal != run->plan.customers) return "completed before its end";
    change(*run, RunStatus::completed, e.at, {}, {});
    run->progress = {};
    return {};
  }

 private:
  Run* find(RunNr nr) {
    if (nr.value() == 0 || nr.value() > state_.runs.size()) return nullptr;
    return &state_.runs[nr.value() - 1];
  }
  Run* find_started(RunNr nr) {
    Run* run = find(nr);
    return run != nullptr && run->started ? run : nullptr;
  }
  static void change(Run& run, RunStatus status, Timestamp at, std::string who, std::string why) {
    run.status = status;
    run.changed_at = at;
    run.changed_by = std::move(who);
    run.why = std::move(why);
  }

  SchedulerState& state_;
};

std::string Fold::operator()(const CursorMoved& e) {
  Run* run = find_started(e.run);
  if (run == nullptr || !is_active(run->status)) return "cursor moved while not active";
  if (e.cursor.ordinal < run->cursor.ordinal) return "cursor moved back";
  if (e.cursor.ordinal > run->plan.customers) return "cursor moved beyond the plan";
  if (e.watched_from.ordinal > e.cursor.ordinal) return "rows are watched beyond the cursor";
  run->cursor = e.cursor;
  run->watched_from = e.watched_from;
  for (const ExceptionalRow& row : e.exceptional) ++run->outcomes[row.outcome];
  run->progress.cursor_moved(e.cursor);
  return {};
}

}  // namespace

Result<Unit> evolve_runs(SchedulerState& state, const SchedulerEvent& event) {
  const std::string impossible = std::visit(Fold(state), event);
  if (impossible.empty()) return ok();
  const RunNr nr = std::visit([](const auto& e) { return e.run; }, event);
  return fail(ErrorCode::impossible_transition,
              state.id.value() + ", run " + std::to_string(nr.value()) + ": " + impossible);
}

}  // namespace onceward::billing
