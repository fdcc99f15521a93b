// Commands of operators to a scheduler: they start, pause, resume and cancel runs.
#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/scheduler_entity.hpp>

#include "billing/scheduler_draft.hpp"

namespace onceward::billing {

namespace {

using Decided = SchedulerEntity::Decided;

Decided answer_only(SchedulerReply reply) {
  Decided decided;
  decided.reply = std::move(reply);
  return decided;
}

const Run* find_run(const SchedulerState& state, const RunId& id) {
  const auto found = std::find_if(state.runs.begin(), state.runs.end(),
                                  [&id](const Run& run) { return run.id == id; });
  return found == state.runs.end() ? nullptr : &*found;
}

const Run* active_run_of(const SchedulerState& state, const BillingPeriod& period) {
  const auto found = std::find_if(state.runs.begin(), state.runs.end(), [&period](const Run& run) {
    return run.plan.period == period && is_active(run.status);
  });
  return found == state.runs.end() ? nullptr : &*found;
}

std::vector<PlanHash> plans_of(const SchedulerState& state, const BillingPeriod& period) {
  std::vector<PlanHash> plans;
  for (const Run& run : state.runs) {
    if (run.plan.period == period) plans.push_back(run.plan.plan);
  }
  return plans;
}

RunConflict conflict_with(const Run& active) {
  return {"run " + active.id.value() + " of period " + active.plan.period.text() + " is " +
              std::string(to_text(active.status)) +
              ": wait until it is completed, or cancel it first",
          view_of(active)};
}

RunConflict not_while(const Run& run, std::string_view what) {
  return {"run " + run.id.value() + " is " + std::string(to_text(run.status)) + ": it cannot be " +
              std::string(what),
          view_of(run)};
}

// The run as it will be once the events of the decision are stored.
RunTold told_after(const SchedulerState& state, RunNr nr,
                   const std::vector<SchedulerEvent>& events) {
  SchedulerState after{state.id, state.cycle, {}};
  for (const Run& run : state.runs) {
    after.runs.emplace_back();
    if (run.nr == nr) after.runs.back() = run;
  }
  for (const auto& event : events) {
    const auto evolved = evolve_runs(after, event);
    ONCEWARD_CHECK(evolved.has_value(), "a scheduler decides only events that its state can take");
  }
  return {view_of(after.runs[nr.value() - 1]), false};
}

std::vector<Money> limits_to_raise(const StartRun& command, const SchedulerPolicy& policy) {
  std::vector<Money> limits;
  if (policy.cap_mode == CapMode::off) return limits;
  for (const Money& total : command.united_totals) {
    const Money limit = cap_limit(total, policy.cap_factor);
    const bool is_reached = std::any_of(
        command.limits_now.begin(), command.limits_now.end(), [&limit](const Money& now) {
          return now.currency == limit.currency && now.minor >= limit.minor;
        });
    if (!is_reached) limits.push_back(limit);
  }
  return limits;
}

RunConflict refused_by_cap(const StartRun& command, const Context& context) {
  std::string figures;
  if (const auto* cap = std::get_if<CapRefused>(context.refusal)) {
    figures = ": " + to_display(Money{cap->used_minor, cap->limit.currency}) +
              " are reserved or settled, more than the plan's limit of " + to_display(cap->limit);
  }
  return {"plan " + command.plan.plan.value() + " cannot set the spend cap of period " +
              command.plan.period.text() + figures + "; set a higher cap for the period first",
          std::nullopt};
}

Decided pause(const SchedulerState& state, const PauseRun& command, const Context& context) {
  const Run* run = find_run(state, command.run);
  if (run == nullptr) return answer_only(NoSuchRun{});
  if (run->status == RunStatus::paused) return answer_only(RunTold{view_of(*run), true});
  if (run->status != RunStatus::running) return answer_only(not_while(*run, "paused"));
  Decided decided;
  move_cursor(*run, context, decided.events);
  decided.events.push_back(RunPaused{run->nr, context.now.wall, command.who, command.why});
  decided.reply = told_after(state, run->nr, decided.events);
  return decided;
}

Decided take_up(const SchedulerState& state, const ResumeRun& command, const Context& context) {
  const Run* run = find_run(state, command.run);
  if (run == nullptr) return answer_only(NoSuchRun{});
  if (run->status == RunStatus::running) return answer_only(RunTold{view_of(*run), true});
  if (run->status == RunStatus::completed) return answer_only(not_while(*run, "resumed"));
  const Run* active = active_run_of(state, run->plan.period);
  if (active != nullptr && active != run) return answer_only(conflict_with(*active));
  Decided decided;
  decided.events.push_back(RunResumed{run->nr, context.now.wall, command.who, command.why});
  decided.notes.push_back(note::TakenUp{run->nr});
  decided.reply = told_after(state, run->nr, decided.events);
  return decided;
}

Decided cancel(const SchedulerState& state, const CancelRun& command, const Context& context) {
  const Run* run = find_run(state, command.run);
  if (run == nullptr) return answer_only(NoSuchRun{});
  if (run->status == RunStatus::cancelled) return answer_only(RunTold{view_of(*run), true});
  if (run->status == RunStatus::completed) return answer_only(not_while(*run, "cancelled"));
  Decided decided;
  move_cursor(*run, context, decided.events);
  decided.events.push_back(RunCancelled{run->nr, context.now.wall, command.who, command.why});
  decided.reply = told_after(state, run->nr, decided.events);
  return decided;
}

}  // namespace

Decided SchedulerEntity::start(const State& state, const StartRun& command,
                               const Context& context) const {
  const ApprovedPlan& plan = command.plan;
  const RunId id = run_id_of(plan.period, plan.plan);
  if (const Run* run = find_run(state, id)) {
    if (run->plan.plan == plan.plan) return answer_only(RunTold{view_of(*run), true});
    return answer_only(RunRefused{"another plan of this period has the run id " + id.value() +
                                  ": change the plan and plan again"});
  }
  if (plan.customers > plan_rows_max) {
    return answer_only(RunRefused{"a plan holds at most " + std::to_string(plan_rows_max) +
                                  " rows: split it into several plans"});
  }
  if (!policy_.allow_future && context.now.wall < plan.period.start()) {
    return answer_only(RunRefused{"period " + plan.period.text() + " begins at " +
                                  to_iso(plan.period.start()) + ": start the run then"});
  }
  if (const Run* active = active_run_of(state, plan.period)) {
    return answer_only(conflict_with(*active));
  }
  auto approved = plans_of(state, plan.period);
  if (approved != command.united_with) return answer_only(OtherPlansApproved{std::move(approved)});

  const bool is_refused = context.refusal != nullptr;
  // Where the cap only observes, money beyond the plan is shown and keeps nobody from billing.
  if (is_refused && policy_.cap_mode == CapMode::enforce) {
    return answer_only(refused_by_cap(command, context));
  }
  Decided decided;
  const RunNr nr{static_cast<std::uint32_t>(state.runs.size() + 1)};
  auto limits = is_refused ? std::vector<Money>{} : limits_to_raise(command, policy_);
  for (const Money& limit : limits) {
    decided.limits.push_back(CapLimit{plan.period, CustomerId{}, limit});
  }
  decided.events.push_back(RunPlanned{nr, context.now.wall, plan});
  decided.events.push_back(RunStarted{nr, context.now.wall, command.who, std::move(limits)});
  decided.notes.push_back(note::TakenUp{nr});
  decided.reply = told_after(state, nr, decided.events);
  return decided;
}

Decided SchedulerEntity::decide(const State& state, const Command& command,
                                const Context& context) const {
  if (const auto* c = std::get_if<StartRun>(&command)) return start(state, *c, context);
  if (const auto* c = std::get_if<PauseRun>(&command)) return pause(state, *c, context);
  if (const auto* c = std::get_if<ResumeRun>(&command)) return take_up(state, *c, context);
  if (const auto* c = std::get_if<CancelRun>(&command)) return cancel(state, *c, context);
  if (std::holds_alternative<ShowRuns>(command)) return answer_only(runs_told(state));
  if (std::holds_alternative<Tick>(command)) return decide_tick(state, context);
  if (const auto* c = std::get_if<PlanRowsLoaded>(&command)) return decide_rows_loaded(state, *c);
  return decide_told(state, std::get<CustomerTold>(command));
}

std::optional<SchedulerReply> SchedulerEntity::answer_waiter(const State&, const Command&) const {
  return std::nullopt;
}

SchedulerReply SchedulerEntity::turn_down(const Command&, Turndown why) const {
  return RunTurnedDown{why};
}

}  // namespace onceward::billing
