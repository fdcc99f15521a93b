// The run service: asks the scheduler's entity and waits, keeps it ticking, reads plans for it.
#include <onceward/ingress/run_service.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "ingress/run_answers.hpp"
#include "ingress/run_pace.hpp"
#include "ingress/run_plans.hpp"
#include "ingress/run_report.hpp"

namespace onceward::ingress {

namespace {

using billing::RunTold;
using billing::RunView;
using billing::SchedulerCommand;
using billing::SchedulerReply;

// Other plans may be approved while a start unites them; more often than this is no coincidence.
constexpr int unite_attempts_max = 5;
// A tally counts all rows of a plan: one a second serves everybody who watches.
constexpr std::int64_t tally_age_ms_max = 1'000;

class RunServiceImpl final : public RunService {
 public:
  RunServiceImpl(RunServiceOptions options, RunServicePorts ports,
                 std::unique_ptr<journal::PlanStore> plans,
                 std::unique_ptr<journal::PlanStore> loader_plans)
      : options_(std::move(options)),
        ports_(std::move(ports)),
        scheduler_(scheduler_persistence_id(options_.cycle)),
        plans_(std::move(plans)),
        loader_plans_(std::move(loader_plans)) {}
  ~RunServiceImpl() override { stop(); }

  actors::EntityBinding binding() override;
  void attach(actors::Runtime& runtime) override;
  void stop() override;

  Result<journal::PlanSummary> plan(std::string_view csv, const BillingPeriod& period,
                                    std::string_view source) override;
  Result<journal::PlanSummary> plan_configured(const BillingPeriod& period) override;
  Result<journal::PlanSummary> find_plan(std::string_view hash) override;
  Result<RunTold> start(const BillingPeriod& period, std::string_view plan_hash,
                        std::string_view who) override;
  Result<RunTold> pause(std::string_view run, const WhoAndWhy& by) override {
    return steer<billing::PauseRun>(run, by);
  }
  Result<RunTold> resume(std::string_view run, const WhoAndWhy& by) override {
    return steer<billing::ResumeRun>(run, by);
  }
  Result<RunTold> cancel(std::string_view run, const WhoAndWhy& by) override {
    return steer<billing::CancelRun>(run, by);
  }
  Result<std::vector<RunView>> list() override;
  Result<RunShown> show(std::string_view run) override;
  Result<ReportSummary> report(std::string_view run,
                               const std::function<bool(const ReportLine&)>& line) override;

 private:
  [[nodiscard]] Result<SchedulerReply> ask(SchedulerCommand command);
  template <class Command>
  [[nodiscard]] Result<RunTold> steer(std::string_view run, const WhoAndWhy& by);
  [[nodiscard]] Result<RunView> find(std::string_view run);
  [[nodiscard]] Result<std::vector<Money>> limits_of(const BillingPeriod& period);
  [[nodiscard]] Result<journal::PlanStore::Tally> tally_of(const RunView& run);
  [[nodiscard]] SchedulerCommand load(const billing::LoadPlanRows& query);
  void tick_until(const std::stop_token& stopping);
  void send_tick(actors::Runtime& runtime);
  void ticked(const SchedulerReply& reply, std::uint64_t changes_seen);
  void keep_ticking();

  const RunServiceOptions options_;
  const RunServicePorts ports_;
  const PersistenceId scheduler_;

  std::mutex plans_mutex_;
  std::unique_ptr<journal::PlanStore> plans_;  // guarded by plans_mutex_
  struct TallyAt {
    journal::PlanStore::Tally tally;
    billing::RunStatus status{};  // of the run when it was counted
    std::int64_t boottime_ms = 0;
  };
  std::map<std::string, TallyAt> tallies_;  // guarded by plans_mutex_

  std::mutex planning_mutex_;                         // one plan is made at a time
  std::unique_ptr<journal::PlanStore> loader_plans_;  // the runtime's reader thread alone

  std::mutex mutex_;  // guards all below
  std::condition_variable_any wake_;
  actors::Runtime* runtime_ = nullptr;
  bool is_active_ = false;  // some run is, or it is not known
  bool is_tick_out_ = false;
  std::uint64_t changes_ = 0;  // of is_active_ to true by commands
  std::map<std::string, RunPace> paces_;

  std::jthread ticker_;
};

actors::EntityBinding RunServiceImpl::binding() {
  actors::EntityBinding binding;
  binding.prefix = "scheduler/";
  binding.type = billing::scheduler_entity_type(options_.scheduler);
  binding.tell_result = [](const PersistenceId& from, std::uint64_t correlation, std::any reply) {
    return std::any(billing::customer_told(from, correlation, reply));
  };
  binding.load = [this](const std::any& query) {
    const auto* rows = std::any_cast<billing::LoadPlanRows>(&query);
    ONCEWARD_CHECK(rows != nullptr, "a scheduler loads rows of plans only");
    return std::any(load(*rows));
  };
  return binding;
}

SchedulerCommand RunServiceImpl::load(const billing::LoadPlanRows& query) {
  billing::PlanRowsLoaded loaded{query.run, query.after.ordinal, {}, false, std::nullopt};
  auto page = loader_plans_->outcomes(query.plan.value(),
                                      {query.after.customer, query.after.purpose}, query.limit);
  if (!page) {
    loaded.error = std::move(page).error();
    return loaded;
  }
  loaded.complete = page->size() < query.limit;
  for (auto& [row, obligation] : *page) {
    billing::RunRow& added = loaded.rows.emplace_back();
    added.customer = std::move(row.customer);
    added.purpose = std::move(row.purpose);
    added.amount = row.amount;
    added.payment_method = std::move(row.payment_method);
    added.provider_customer = std::move(row.provider_customer);
    added.billable = row.skip_reason.empty();
    if (obligation) added.status = obligation->status;
  }
  return loaded;
}

void RunServiceImpl::attach(actors::Runtime& runtime) {
  const std::lock_guard guard(mutex_);
  ONCEWARD_CHECK(runtime_ == nullptr && !ticker_.joinable(), "a run service is attached once");
  runtime_ = &runtime;
  is_active_ = true;  // runs of an earlier process may be: the first tick tells
  ticker_ = std::jthread([this](const std::stop_token& stopping) { tick_until(stopping); });
}

void RunServiceImpl::stop() {
  {
    const std::lock_guard guard(mutex_);
    runtime_ = nullptr;
  }
  ticker_.request_stop();
  if (ticker_.joinable()) ticker_.join();
}

void RunServiceImpl::tick_until(const std::stop_token& stopping) {
  std::unique_lock guard(mutex_);
  while (!stopping.stop_requested()) {
    actors::Runtime* runtime = runtime_;
    if (runtime != nullptr && is_active_ && !is_tick_out_) {
      is_tick_out_ = true;
      guard.unlock();
      send_tick(*runtime);
      guard.lock();
    }
    (void)wake_.wait_for(guard, stopping, options_.tick, [] { return false; });  // or stopped
  }
}

void RunServiceImpl::send_tick(actors::Runtime& runtime) {
  std::uint64_t seen = 0;
  {
    const std::lock_guard guard(mutex_);
    seen = changes_;
  }
  runtime.ask(scheduler_, std::any(SchedulerCommand{billing::Tick{}}),
              [this, seen](std::any reply) {
                const auto* typed = std::any_cast<SchedulerReply>(&reply);
                ONCEWARD_CHECK(typed != nullptr, "a scheduler answers with its replies");
                ticked(*typed, seen);
              });
}

void RunServiceImpl::ticked(const SchedulerReply& reply, std::uint64_t changes_seen) {
  const std::lock_guard guard(mutex_);
  is_tick_out_ = false;
  const auto* told = std::get_if<billing::RunsTold>(&reply);
  if (told == nullptr) return;  // turned down: the next tick asks again
  const std::int64_t now_ms = ports_.clock.now().boottime_ms;
  bool is_active = false;
  for (const RunView& run : told->runs) {
    if (billing::is_active(run.status)) {
      is_active = true;
      paces_[run.id.value()].observe(now_ms, run.covered);
    } else {
      paces_.erase(run.id.value());
    }
  }
  // A run that started after this tick was sent is not in its answer.
  if (is_active || changes_ == changes_seen) is_active_ = is_active;
}

void RunServiceImpl::keep_ticking() {
  const std::lock_guard guard(mutex_);
  is_active_ = true;
  ++changes_;
}

Result<SchedulerReply> RunServiceImpl::ask(SchedulerCommand command) {
  actors::Runtime* runtime = nullptr;
  {
    const std::lock_guard guard(mutex_);
    runtime = runtime_;
  }
  if (runtime == nullptr) return fail(ErrorCode::not_ready, "the node is starting or stopping");
  auto waiting = std::make_shared<ReplySlot>();  // also held by the sink, which may come late
  runtime->ask(scheduler_, std::any(std::move(command)),
               [waiting](std::any reply) { waiting->put(std::move(reply)); });
  return waiting->take(options_.answer_max);
}

Result<journal::PlanSummary> RunServiceImpl::plan(std::string_view csv, const BillingPeriod& period,
                                                  std::string_view source) {
  auto store = ports_.plan_stores();
  if (!store) return Unexpected{std::move(store).error()};
  const std::lock_guard turn(planning_mutex_);
  return plan_text(**store, period, ports_.clock.now().wall, csv, source);
}

Result<journal::PlanSummary> RunServiceImpl::plan_configured(const BillingPeriod& period) {
  if (options_.customers_path.empty()) {
    return fail(ErrorCode::invalid_config,
                "no customer file is configured; set [schedule] customers or give a file");
  }
  auto store = ports_.plan_stores();
  if (!store) return Unexpected{std::move(store).error()};
  const std::lock_guard turn(planning_mutex_);
  return plan_file(**store, period, ports_.clock.now().wall, options_.customers_path);
}

Result<journal::PlanSummary> RunServiceImpl::find_plan(std::string_view hash) {
  const std::lock_guard guard(plans_mutex_);
  return plans_->find(hash);
}

Result<std::vector<Money>> RunServiceImpl::limits_of(const BillingPeriod& period) {
  auto reader = ports_.journal.reader();
  if (!reader) return Unexpected{std::move(reader).error()};
  const auto uses = (*reader)->cap_use(period);
  if (!uses) return Unexpected{uses.error()};
  std::vector<Money> limits;
  for (const auto& use : *uses) {
    if (!use.customer.value().empty() || !use.limit_minor) continue;
    limits.push_back(Money{*use.limit_minor, use.currency});
  }
  return limits;
}

Result<RunTold> RunServiceImpl::start(const BillingPeriod& period, std::string_view plan_hash,
                                      std::string_view who) {
  auto found = find_plan(plan_hash);
  if (!found) return Unexpected{std::move(found).error()};
  if (found->period != period) {
    return fail(ErrorCode::invalid_argument, "plan " + found->hash + " is of period " +
                                                 found->period.text() + ", not " + period.text());
  }
  billing::StartRun command;
  command.plan = to_approved(*found);
  command.united_totals = command.plan.totals;
  command.who = who;
  for (int attempt = 0; attempt < unite_attempts_max; ++attempt) {
    auto limits = limits_of(period);
    if (!limits) return Unexpected{std::move(limits).error()};
    command.limits_now = std::move(*limits);
    auto reply = ask(command);
    if (!reply) return Unexpected{std::move(reply).error()};
    auto* others = std::get_if<billing::OtherPlansApproved>(&*reply);
    if (others == nullptr) {
      keep_ticking();
      return told_or_error(std::move(*reply), found->hash);
    }
    command.united_with = std::move(others->approved);
    auto plans = command.united_with;
    plans.push_back(command.plan.plan);
    auto store = ports_.plan_stores();
    if (!store) return Unexpected{std::move(store).error()};
    auto totals = union_totals(**store, plans);
    if (!totals) return Unexpected{std::move(totals).error()};
    command.united_totals = std::move(*totals);
  }
  return fail(ErrorCode::busy, "other plans of period " + period.text() +
                                   " were started at the same time; start again");
}

template <class Command>
Result<RunTold> RunServiceImpl::steer(std::string_view run, const WhoAndWhy& by) {
  const auto view = find(run);
  if (!view) return Unexpected{view.error()};
  auto reply = ask(Command{view->id, by.who, by.why});
  if (!reply) return Unexpected{std::move(reply).error()};
  keep_ticking();
  return told_or_error(std::move(*reply), view->id.value());
}

Result<std::vector<RunView>> RunServiceImpl::list() {
  auto reply = ask(billing::ShowRuns{});
  if (!reply) return Unexpected{std::move(reply).error()};
  auto* told = std::get_if<billing::RunsTold>(&*reply);
  ONCEWARD_CHECK(told != nullptr, "runs are shown or the command is turned down");
  return std::move(told->runs);
}

Result<RunView> RunServiceImpl::find(std::string_view run) {
  auto runs = list();
  if (!runs) return Unexpected{std::move(runs).error()};
  return pick_run(std::move(*runs), run);
}

Result<journal::PlanStore::Tally> RunServiceImpl::tally_of(const RunView& run) {
  const std::lock_guard guard(plans_mutex_);
  const std::int64_t now_ms = ports_.clock.now().boottime_ms;
  std::erase_if(tallies_, [now_ms](const auto& entry) {
    return now_ms - entry.second.boottime_ms >= tally_age_ms_max;
  });
  const std::string& plan = run.plan.plan.value();
  const auto known = tallies_.find(plan);
  // A run that has ended meanwhile must not be shown with counts from before its end.
  if (known != tallies_.end() && known->second.status == run.status) return known->second.tally;
  auto tally = plans_->tally(plan);
  if (tally) tallies_[plan] = TallyAt{*tally, run.status, now_ms};
  return tally;
}

Result<RunShown> RunServiceImpl::show(std::string_view run) {
  auto view = find(run);
  if (!view) return Unexpected{std::move(view).error()};
  auto tally = tally_of(*view);
  if (!tally) return Unexpected{std::move(tally).error()};
  RunShown shown{std::move(*view), std::move(*tally), {}, {}, {}};
  if (!shown.run.oldest.value().empty()) {
    const std::int64_t age_ms = ports_.clock.now().boottime_ms - shown.run.oldest_since_boottime_ms;
    shown.oldest_age = std::chrono::seconds(age_ms / 1'000);
  }
  const std::lock_guard guard(mutex_);
  const auto pace = paces_.find(shown.run.id.value());
  if (pace == paces_.end()) return shown;
  shown.rows_per_minute = pace->second.rows_per_minute();
  shown.remaining = pace->second.remaining(shown.run.plan.customers - shown.run.covered);
  return shown;
}

Result<ReportSummary> RunServiceImpl::report(std::string_view run,
                                             const std::function<bool(const ReportLine&)>& line) {
  const auto view = find(run);
  if (!view) return Unexpected{view.error()};
  auto reader = ports_.journal.reader();
  if (!reader) return Unexpected{std::move(reader).error()};
  auto plans = ports_.plan_stores();
  if (!plans) return Unexpected{std::move(plans).error()};
  return report_run(*view, scheduler_, **reader, **plans, line);
}

}  // namespace

Result<std::unique_ptr<RunService>> RunService::create(RunServiceOptions options,
                                                       RunServicePorts ports) {
  ONCEWARD_CHECK(options.tick.count() > 0 && options.answer_max.count() > 0,
                 "a run service ticks and waits");
  auto plans = ports.plan_stores();
  if (!plans) return Unexpected{std::move(plans).error()};
  auto loader_plans = ports.plan_stores();
  if (!loader_plans) return Unexpected{std::move(loader_plans).error()};
  return std::unique_ptr<RunService>(std::make_unique<RunServiceImpl>(
      std::move(options), std::move(ports), std::move(*plans), std::move(*loader_plans)));
}

}  // namespace onceward::ingress
