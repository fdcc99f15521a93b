// What a scheduler learns: rows it read, customers' replies and the passing of time become notes;
// what is covered becomes CursorMoved.
#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/scheduler_entity.hpp>

#include "billing/scheduler_draft.hpp"

namespace onceward::billing {

namespace {

using Decided = SchedulerEntity::Decided;

const Run* taken_up_run(const SchedulerState& state, std::uint32_t nr) {
  if (nr == 0 || nr > state.runs.size()) return nullptr;
  const Run& run = state.runs[nr - 1];
  return is_active(run.status) && run.progress.is_taken_up() ? &run : nullptr;
}

struct Classified {
  Standing standing = Standing::left;
  std::optional<RunOutcome> outcome;
};

RunOutcome outcome_of(Conflict::Kind kind) {
  switch (kind) {
    case Conflict::Kind::amount:
    case Conflict::Kind::provider_customer:
      return RunOutcome::conflict;
    case Conflict::Kind::granularity:
      return RunOutcome::granularity;
    case Conflict::Kind::period_not_begun:
      return RunOutcome::period_not_begun;
  }
  check_failed("kind", __FILE__, __LINE__, "a Conflict::Kind is one of its enumerators");
}

Classified classify(Turndown why) {
  switch (why) {
    case Turndown::busy:
    case Turndown::uncertain:
      return {Standing::held, std::nullopt};
    case Turndown::quarantined:
      return {Standing::left, RunOutcome::quarantined};
    case Turndown::invalid:
      return {Standing::left, RunOutcome::refused};
  }
  check_failed("why", __FILE__, __LINE__, "a Turndown is one of its enumerators");
}

struct Classify {
  Classified operator()(const Told& told) const {
    const bool waits = told.row.status == ObligationStatus::in_progress;
    return {waits ? Standing::in_progress : Standing::left, std::nullopt};
  }
  Classified operator()(const Conflict& conflict) const {
    return {Standing::left, outcome_of(conflict.kind)};
  }
  Classified operator()(const TurnedDown& turned_down) const { return classify(turned_down.why); }
  Classified operator()(const Refused&) const { return {Standing::left, RunOutcome::refused}; }
  // A run only bills and gives no caller key: an entity that answers anything else has refused.
  template <class OtherReply>
  Classified operator()(const OtherReply&) const {
    return {Standing::left, RunOutcome::refused};
  }
};

// One overload per note. Notes are made from this very state, so the run is there.
struct TakeNote {
  SchedulerState& state;
  const SchedulerPolicy& policy;

  void operator()(const note::TakenUp& n) const {
    Run& run = run_of(n.run);
    // A paused run was never put down.
    if (!run.progress.is_taken_up()) run.progress.take_up(run.watched_from, run.cursor);
  }
  void operator()(const note::LoadStarted& n) const {
    run_of(n.run).progress.load_started(n.at_boottime_ms);
  }
  void operator()(const note::RowsArrived& n) const {
    run_of(n.run).progress.rows_arrived(n.rows, n.complete);
  }
  void operator()(const note::LoadFailed& n) const {
    run_of(n.run).progress.load_failed(n.problem);
  }
  void operator()(const note::Asked& n) const {
    run_of(n.run).progress.asked(n.ordinals, n.at_boottime_ms);
  }
  void operator()(const note::Told& n) const {
    run_of(n.run).progress.told(n.ordinal, n.standing, n.outcome);
  }
  void operator()(const note::Ticked& n) const {
    run_of(n.run).progress.ticked(n.at_boottime_ms, policy.ask_again_after.count());
  }

  [[nodiscard]] Run& run_of(RunNr nr) const {
    ONCEWARD_CHECK(nr.value() >= 1 && nr.value() <= state.runs.size(), "a note is about a run");
    return state.runs[nr.value() - 1];
  }
};

}  // namespace

RunsTold runs_told(const SchedulerState& state) {
  RunsTold told;
  for (const Run& run : state.runs) told.runs.push_back(view_of(run));
  return told;
}

Decided decide_tick(const SchedulerState& state, const Context& context) {
  Decided decided;
  decided.reply = runs_told(state);
  for (const Run& run : state.runs) {
    if (!is_active(run.status) || !run.progress.is_taken_up()) continue;
    decided.notes.push_back(note::Ticked{run.nr, context.now.boottime_ms});
  }
  return decided;
}

Decided decide_rows_loaded(const SchedulerState& state, const PlanRowsLoaded& command) {
  Decided decided;
  const Run* run = taken_up_run(state, command.run.value());
  if (run == nullptr || !run->progress.is_loading()) return decided;
  if (command.after != run->progress.loaded_to().ordinal) return decided;
  if (command.error) {
    decided.notes.push_back(note::LoadFailed{run->nr, command.error->context});
    return decided;
  }
  const std::uint64_t rows = command.after + command.rows.size();
  if (rows > run->plan.customers || (command.complete && rows != run->plan.customers)) {
    decided.notes.push_back(note::LoadFailed{
        run->nr, "plan " + run->plan.plan.value() + " was approved with " +
                     std::to_string(run->plan.customers) + " rows, the store holds " +
                     (command.complete ? "" : "at least ") + std::to_string(rows)});
    return decided;
  }
  decided.notes.push_back(note::RowsArrived{run->nr, command.rows, command.complete});
  return decided;
}

Decided decide_told(const SchedulerState& state, const CustomerTold& command) {
  Decided decided;
  const Run* run = taken_up_run(state, run_of_correlation(command.correlation));
  if (run == nullptr) return decided;
  const std::uint64_t ordinal = ordinal_of_correlation(command.correlation);
  const RunRow* row = run->progress.row(ordinal);
  if (row == nullptr || row->customer != command.customer) return decided;
  const Classified answer = std::visit(Classify{}, command.reply);
  decided.notes.push_back(note::Told{run->nr, ordinal, answer.standing, answer.outcome});
  return decided;
}

void move_cursor(const Run& run, const Context& context, std::vector<SchedulerEvent>& events) {
  const RunProgress& progress = run.progress;
  if (!progress.is_taken_up() || progress.covered().ordinal == run.cursor.ordinal) return;
  const auto& exceptional = progress.exceptional();
  const PlanPosition watched_from = progress.watched_from();
  std::size_t next = 0;
  for (; exceptional.size() - next > exceptional_rows_max; next += exceptional_rows_max) {
    const auto begin = exceptional.begin() + static_cast<std::ptrdiff_t>(next);
    const auto end = begin + static_cast<std::ptrdiff_t>(exceptional_rows_max);
    const PlanPosition& reached = std::prev(end)->row;
    events.push_back(CursorMoved{run.nr,
                                 context.now.wall,
                                 reached,
                                 watched_from.ordinal < reached.ordinal ? watched_from : reached,
                                 {begin, end}});
  }
  events.push_back(
      CursorMoved{run.nr,
                  context.now.wall,
                  progress.covered(),
                  watched_from,
                  {exceptional.begin() + static_cast<std::ptrdiff_t>(next), exceptional.end()}});
}

void SchedulerEntity::take_note(State& state, const Note& note) const {
  std::visit(TakeNote{state, policy_}, note);
}

SchedulerCommand customer_told(const PersistenceId& from, std::uint64_t correlation,
                               const std::any& reply) {
  const auto* typed = std::any_cast<BillingReply>(&reply);
  ONCEWARD_CHECK(typed != nullptr, "a scheduler tells customers only");
  auto customer = customer_of(from);
  ONCEWARD_CHECK(customer.has_value(), "a scheduler tells customers only");
  return CustomerTold{std::move(*customer), correlation, *typed};
}

RunView view_of(const Run& run) {
  const RunCounts counts = run.progress.counts();
  RunView view;
  view.id = run.id;
  view.nr = run.nr;
  view.plan = run.plan;
  view.status = run.status;
  view.cursor = run.cursor.ordinal;
  view.covered = std::max(run.cursor.ordinal, run.progress.covered().ordinal);
  view.outcomes = run.outcomes;
  view.started_at = run.started_at;
  view.started_by = run.started_by;
  view.changed_at = run.changed_at;
  view.changed_by = run.changed_by;
  view.why = run.why;
  view.limits = run.limits;
  view.asked = counts.asked;
  view.in_progress = counts.in_progress;
  view.held = counts.held;
  view.oldest = counts.oldest;
  view.oldest_since_boottime_ms = counts.oldest_since_boottime_ms;
  view.problem = run.progress.problem();
  return view;
}

}  // namespace onceward::billing
