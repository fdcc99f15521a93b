// What a scheduler owes now: whom to ask, which rows to read, when to store the cursor. Commands
// are decided in scheduler_commands.cpp.
#include <onceward/billing/scheduler_entity.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "billing/scheduler_draft.hpp"

namespace onceward::billing {

namespace {

using Decided = SchedulerEntity::Decided;

bool decides_nothing(const Decided& decided) {
  return decided.stores_nothing() && decided.effects.empty() && decided.notes.empty();
}

BillCustomer bill_of(const SchedulerState& state, const Run& run, const RunRow& row) {
  BillCustomer bill;
  bill.key = {row.customer, run.plan.period, row.purpose};
  bill.amount = row.amount;
  bill.payment_method = row.payment_method;
  bill.provider_customer = row.provider_customer;
  bill.request_id = run_request_id(state.cycle, bill.key);
  bill.notify = Notify::accepted_and_left;
  return bill;
}

}  // namespace

std::uint64_t cursor_step(std::uint64_t customers) noexcept {
  return std::clamp(customers / 256, cursor_step_min, cursor_step_max);
}

SchedulerEntity::SchedulerEntity(SchedulerPolicy policy) : policy_(policy) {
  ONCEWARD_CHECK(policy_.window >= 1, "a window of 0 would never ask anybody");
  static_assert(look_ahead_max > cursor_step_max + plan_page_rows, "a run must reach its step");
}

SchedulerState SchedulerEntity::initial(const PersistenceId& id) const {
  constexpr std::string_view prefix = "scheduler/";
  ONCEWARD_CHECK(id.value().starts_with(prefix), "schedulers are named scheduler/<cycle>");
  SchedulerState state;
  state.id = id;
  state.cycle = id.value().substr(prefix.size());
  return state;
}

Decided SchedulerEntity::decide_answer(const State&, const ExternalAnswer&, const Context&) const {
  return {};
}

Decided SchedulerEntity::resume(const State& state, const Context& context) const {
  for (const Run& run : state.runs) {
    if (!run.started || !is_active(run.status)) continue;
    Decided decided = owed_by(state, run, context);
    if (!decides_nothing(decided)) return decided;
  }
  return {};
}

// Asking and reading come before the cursor: customers are never idle while it is being stored.
Decided SchedulerEntity::owed_by(const State& state, const Run& run, const Context& context) const {
  Decided decided;
  const RunProgress& progress = run.progress;
  if (run.status == RunStatus::running) {
    if (!progress.is_taken_up()) {
      decided.notes.push_back(note::TakenUp{run.nr});
      return decided;
    }
    ask(state, run, context, decided);
    if (progress.wants_rows(policy_.window)) {
      decided.effects.push_back(
          Load{LoadPlanRows{run.nr, run.plan.plan, progress.loaded_to(), plan_page_rows}});
      decided.notes.push_back(note::LoadStarted{run.nr, context.now.boottime_ms});
    }
    if (!decides_nothing(decided)) return decided;
    if (progress.is_finished()) {
      move_cursor(run, context, decided.events);
      decided.events.push_back(RunCompleted{run.nr, context.now.wall});
      return decided;
    }
  }
  if (!progress.is_taken_up()) return decided;
  const std::uint64_t uncounted = progress.covered().ordinal - run.cursor.ordinal;
  if (uncounted >= cursor_step(run.plan.customers) || (uncounted > 0 && progress.is_move_due())) {
    move_cursor(run, context, decided.events);
  }
  return decided;
}

void SchedulerEntity::ask(const State& state, const Run& run, const Context& context,
                          Decided& decided) const {
  auto ordinals = run.progress.to_ask(policy_.window);
  if (ordinals.empty()) return;
  for (const std::uint64_t ordinal : ordinals) {
    const RunRow* row = run.progress.row(ordinal);
    ONCEWARD_CHECK(row != nullptr, "only known rows are asked");
    decided.effects.push_back(Tell{customer_persistence_id(row->customer),
                                   BillingCommand{bill_of(state, run, *row)},
                                   to_correlation(run.nr, ordinal)});
  }
  decided.notes.push_back(note::Asked{run.nr, std::move(ordinals), context.now.boottime_ms});
}

Result<Unit> SchedulerEntity::evolve(State& state, const Event& event) const {
  return evolve_runs(state, event);
}

EntityType scheduler_entity_type(const SchedulerPolicy& policy) {
  return make_entity_type<SchedulerEntity>(
      "scheduler", std::make_shared<const SchedulerEntity>(policy), scheduler_event_codec());
}

}  // namespace onceward::billing
