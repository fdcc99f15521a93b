// The pump of RunWorld: performs the machine's outputs in order and keeps the books of customers.
#include "tests/support/run_world.hpp"

#include <algorithm>
#include <utility>

namespace onceward::testing {

using billing::BillCustomer;
using billing::BillingReply;
using billing::RunRow;
using billing::SchedulerCommand;

namespace {

const PersistenceId scheduler_id{"scheduler/monthly"};

CustomerId name_of(int n) {
  std::string digits = std::to_string(n);
  digits.insert(0, 5 - digits.size(), '0');
  return CustomerId{"c" + digits};
}

RunWorld::Key key_of(const RunRow& row) {
  return {row.customer.value(), row.purpose.value()};
}

}  // namespace

RunWorld::RunWorld(billing::SchedulerPolicy policy)
    : decider_(std::make_shared<const billing::SchedulerEntity>(policy)) {
  now_.wall = parse_iso("2026-08-03T10:00:00Z").value();
  now_.boottime_ms = 1'000'000;
  boot();
}

std::vector<RunRow> RunWorld::rows(int n) {
  std::vector<RunRow> rows;
  for (int i = 1; i <= n; ++i) {
    RunRow row;
    row.customer = name_of(i);
    row.purpose = Purpose{"subscription"};
    row.amount = {1000, Currency::parse("usd").value()};
    row.payment_method = PaymentMethod{"pm_card_visa"};
    row.provider_customer = ProviderCustomer{row.customer.value()};
    rows.push_back(std::move(row));
  }
  return rows;
}

billing::ApprovedPlan RunWorld::add_plan(const std::string& hash, std::vector<RunRow> rows) {
  billing::ApprovedPlan plan;
  plan.plan = billing::PlanHash{hash};
  plan.period = BillingPeriod::parse("2026-08").value();
  plan.customers = rows.size();
  Money total{0, Currency::parse("usd").value()};
  for (const RunRow& row : rows) {
    if (row.billable) {
      ++plan.to_bill;
      total.minor += row.amount.minor;
    } else {
      ++plan.skipped["no_payment_method"];
    }
  }
  plan.totals = {total};
  plans_[hash] = std::move(rows);
  return plan;
}

billing::StartRun RunWorld::start_of(const billing::ApprovedPlan& plan) const {
  billing::StartRun start;
  start.plan = plan;
  for (const auto& run : state().runs) start.united_with.push_back(run.plan.plan);
  start.united_totals = plan.totals;
  start.who = "operator:jane";
  return start;
}

std::optional<billing::SchedulerReply> RunWorld::command(SchedulerCommand command) {
  reply_.reset();
  step(input::Command{std::any(std::move(command)), ReplyTo{1}, false, false});
  return reply_;
}

bool RunWorld::deliver() {
  if (messages_.empty()) return false;
  const std::size_t index = pick ? pick(messages_.size()) % messages_.size() : 0;
  Message message = std::move(messages_[index]);
  messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(index));
  if (const auto* key = std::get_if<Key>(&message.body)) {
    settle(*key, ObligationStatus::completed);
  } else {
    step(input::Command{std::any(std::get<SchedulerCommand>(std::move(message.body))), ReplyTo{},
                        false, true});
  }
  return true;
}

void RunWorld::run() {
  while (deliver()) continue;
}

void RunWorld::run_to_end(int ticks) {
  run();
  for (int i = 0; i < ticks && billing::is_active(newest().status); ++i) {
    tick();
    run();
  }
}

void RunWorld::tick(std::int64_t after_ms) {
  now_.wall = now_.wall.plus(std::chrono::milliseconds(after_ms));
  now_.boottime_ms += after_ms;
  (void)command(billing::Tick{});  // its reply is for the driver
}

void RunWorld::settle(const Key& key, ObligationStatus status) {
  WorldCustomer& customer = customers_[key];
  if (customer.status != ObligationStatus::in_progress) return;
  customer.status = status;
  customer.hangs = false;
  --open_now_;
  for (const std::uint64_t waiter : std::exchange(customer.waiters, {})) {
    answer(key, waiter, told(key));
  }
}

void RunWorld::crash() {
  // Customers are of the same process: what they would have told is lost, what they stored is not.
  std::erase_if(messages_, [](const Message& message) {
    return std::holds_alternative<SchedulerCommand>(message.body);
  });
  for (auto& [key, customer] : customers_) customer.waiters.clear();
  outputs_.clear();
  died_ = true;
  boot();
}

void RunWorld::boot() {
  ++incarnation_;
  machine_ = std::make_unique<TypedMachine<billing::SchedulerEntity>>(
      decider_, billing::scheduler_event_codec(),
      MachineOptions{scheduler_id, ShardNr{0}, Incarnation{incarnation_}, WriterId{"test"}});
  const SequenceNr last{journal_.size()};
  const Digest head = journal_.empty() ? Digest{} : journal_.back().head;
  step(input::Replayed{journal_});
  step(input::RecoveryDone{last, head, Epoch{incarnation_}});
}

void RunWorld::step(Input input) {
  const auto* machine = machine_.get();
  std::vector<Output> outputs;
  machine_->step(std::move(input), StepContext{now_, false}, outputs);
  std::move(outputs.begin(), outputs.end(), std::back_inserter(outputs_));
  // A crash on the way replaces the machine and clears the outputs of the old one.
  while (!outputs_.empty() && machine == machine_.get()) {
    Output next = std::move(outputs_.front());
    outputs_.pop_front();
    perform(std::move(next));
  }
}

void RunWorld::perform(Output&& output) {
  if (auto* commit_output = std::get_if<output::Commit>(&output)) {
    commit(std::move(*commit_output));
  } else if (auto* reply = std::get_if<output::Reply>(&output)) {
    reply_ = std::any_cast<billing::SchedulerReply>(std::move(reply->reply));
  } else if (const auto* tell = std::get_if<output::Tell>(&output)) {
    ask(*tell);
  } else if (const auto* load_output = std::get_if<output::Load>(&output)) {
    ++loads_;
    const auto query = std::any_cast<billing::LoadPlanRows>(load_output->query);
    if (deliver_loads) messages_.push_back({SchedulerCommand{load(query)}});
  } else if (const auto* stop = std::get_if<output::Stop>(&output)) {
    quarantined_ = stop->why == output::Stop::Why::quarantine;
    if (quarantined_) ONCEWARD_CHECK(false, "the scheduler was quarantined");
    crash();
  }
}

void RunWorld::commit(output::Commit&& commit) {
  ++commits_;
  const RunCommit what = fate ? fate(commit.unit) : RunCommit::stored;
  const auto answer = [&](CommitAnswer a) {
    step(input::CommitAnswered{commit.incarnation, std::move(a)});
  };
  switch (what) {
    case RunCommit::stored:
      return answer(store(commit.unit));
    case RunCommit::crash_before:
      return crash();
    case RunCommit::crash_after:
      (void)store(commit.unit);  // nobody is left to hear the answer
      return crash();
    case RunCommit::unknown_lost:
      return answer(CommitUnknown{});
    case RunCommit::unknown_stored:
      (void)store(commit.unit);  // on disk, but the answer is unknown
      return answer(CommitUnknown{});
    case RunCommit::cap_refused:
      return answer(CapRefused{BillingPeriod::parse("2026-08").value(), CustomerId{},
                               commit.unit.limits.at(0).limit, 999'999, 0});
  }
}

CommitAnswer RunWorld::store(const CommitUnit& unit) {
  ONCEWARD_CHECK(unit.expected.value == journal_.size(), "the scheduler writes at its end");
  SequenceNr last = unit.expected;
  for (const auto& event : unit.events) {
    last = last.plus(1);
    Digest head;
    head.bytes[0] = static_cast<std::uint8_t>(last.value);
    journal_.push_back({last, event, unit.epoch, unit.writer, unit.at, head});
  }
  limits_.insert(limits_.end(), unit.limits.begin(), unit.limits.end());
  return Stored{last, journal_.empty() ? Digest{} : journal_.back().head};
}

void RunWorld::ask(const output::Tell& tell) {
  ++asks_;
  const auto command = std::any_cast<billing::BillingCommand>(tell.command);
  const auto& bill = std::get<BillCustomer>(command);
  ONCEWARD_CHECK(tell.to == customer_persistence_id(bill.key.customer), "asked at its address");
  const Key key{bill.key.customer.value(), bill.key.purpose.value()};
  WorldCustomer& customer = customers_[key];
  customer.request_ids.push_back(bill.request_id);
  customer.amounts.push_back(bill.amount);
  const auto reply = [&](BillingReply r) { answer(key, tell.correlation, std::move(r)); };
  std::optional<CustomerMood> mood;
  if (!customer.moods.empty()) {
    mood = customer.moods.front();
    customer.moods.pop_front();
  }
  using billing::Conflict;
  if (mood == CustomerMood::busy) return reply(billing::TurnedDown{Turndown::busy});
  if (mood == CustomerMood::uncertain_lost) return reply(billing::TurnedDown{Turndown::uncertain});
  if (mood == CustomerMood::quarantined) return reply(billing::TurnedDown{Turndown::quarantined});
  if (mood == CustomerMood::conflict) return reply(Conflict{});
  if (mood == CustomerMood::refused) return reply(billing::Refused{"no"});
  if (mood == CustomerMood::granularity) {
    return reply(Conflict{Conflict::Kind::granularity, std::nullopt, ""});
  }
  if (mood == CustomerMood::not_begun) {
    return reply(Conflict{Conflict::Kind::period_not_begun, std::nullopt, ""});
  }
  if (!customer.status) {
    customer.status = ObligationStatus::in_progress;
    open_max_ = std::max(open_max_, ++open_now_);
    if (mood == CustomerMood::hangs) customer.hangs = true;
    if (!customer.hangs) messages_.push_back({key});
  }
  if (mood == CustomerMood::silent) return;
  if (mood == CustomerMood::uncertain_stored) {
    return reply(billing::TurnedDown{Turndown::uncertain});
  }
  reply(told(key));
  if (customer.status == ObligationStatus::in_progress) {
    customer.waiters.push_back(tell.correlation);
  }
}

void RunWorld::answer(const Key& key, std::uint64_t correlation, BillingReply reply) {
  messages_.push_back({billing::customer_told(customer_persistence_id(CustomerId{key.first}),
                                              correlation, std::any(std::move(reply)))});
}

BillingReply RunWorld::told(const Key& key) const {
  billing::Told told;
  told.row.key.customer = CustomerId{key.first};
  told.row.key.purpose = Purpose{key.second};
  told.row.status = customers_.at(key).status.value();
  return told;
}

billing::PlanRowsLoaded RunWorld::load(const billing::LoadPlanRows& query) const {
  billing::PlanRowsLoaded loaded{query.run, query.after.ordinal, {}, false, load_error};
  if (load_error) return loaded;
  const auto& rows = plans_.at(query.plan.value());
  // Continues from the key alone, as the store does.
  const Key after{query.after.customer.value(), query.after.purpose.value()};
  auto next = std::upper_bound(rows.begin(), rows.end(), after,
                               [](const Key& key, const RunRow& r) { return key < key_of(r); });
  for (; next != rows.end(); ++next) {
    if (loaded.rows.size() == query.limit) return loaded;
    loaded.rows.push_back(*next);
    const auto customer = customers_.find(key_of(*next));
    if (customer != customers_.end()) loaded.rows.back().status = customer->second.status;
  }
  loaded.complete = true;
  return loaded;
}

billing::RunView RunWorld::newest() {
  // Read from the machine's state, so that no message is needed.
  ONCEWARD_CHECK(!state().runs.empty(), "a run was started");
  return billing::view_of(state().runs.back());
}

std::vector<billing::SchedulerEvent> RunWorld::events() const {
  std::vector<billing::SchedulerEvent> events;
  for (const auto& stored : journal_) {
    events.push_back(billing::scheduler_event_codec().decode(stored.event).value());
  }
  return events;
}

WorldCustomer& RunWorld::customer(int n) {
  return customers_[{name_of(n).value(), "subscription"}];
}

std::string RunWorld::verdict() const {
  std::map<std::uint32_t, std::uint64_t> cursors;
  std::map<std::uint32_t, int> completed;
  for (const auto& event : events()) {
    if (const auto* moved = std::get_if<billing::CursorMoved>(&event)) {
      std::uint64_t& cursor = cursors[moved->run.value()];
      if (moved->cursor.ordinal < cursor) return "the cursor moved back";
      cursor = moved->cursor.ordinal;
    } else if (const auto* done = std::get_if<billing::RunCompleted>(&event)) {
      if (++completed[done->run.value()] > 1) return "a run completed twice";
    }
  }
  for (const auto& [key, customer] : customers_) {
    const ObligationKey obligation{CustomerId{key.first}, BillingPeriod::parse("2026-08").value(),
                                   Purpose{key.second}};
    const RequestId expected = billing::run_request_id("monthly", obligation);
    for (const RequestId& id : customer.request_ids) {
      if (id != expected) return "a request id changed for " + key.first;
    }
  }
  return {};
}

}  // namespace onceward::testing
