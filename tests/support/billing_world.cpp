// The world's loop. Every durable step, send and answer is a place where the process may die.
#include "tests/support/billing_world.hpp"

#include <utility>

#include <onceward/recovery/verify.hpp>

namespace onceward::testing {

int Odometer::choose(const char* label, int options) {
  if (at_ == digits_.size()) digits_.push_back({label, 0, options});
  ONCEWARD_CHECK(digits_[at_].options == options, "a schedule is replayed without divergence");
  return digits_[at_++].value;
}

bool Odometer::next() {
  digits_.resize(at_);
  at_ = 0;
  while (!digits_.empty() && digits_.back().value + 1 == digits_.back().options) {
    digits_.pop_back();
  }
  if (digits_.empty()) return false;
  ++digits_.back().value;
  return true;
}

std::string Odometer::schedule() const {
  std::string text;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    if (digits_[i].value == 0) continue;
    text += std::string(text.empty() ? "" : " ") + std::to_string(i) + ":" + digits_[i].label +
            "=" + std::to_string(digits_[i].value);
  }
  return text;
}

BillingWorld::BillingWorld(const WorldOptions& options, Odometer& chooser)
    : options_(options),
      chooser_(chooser),
      type_(billing::billing_entity_type(options.policy)),
      key_{CustomerId{"cust_1"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}},
      now_(*parse_iso("2026-09-01T00:00:00Z")),
      crashes_left_(options.crashes),
      faults_left_(options.faults),
      duplicates_left_(options.duplicates),
      ambiguities_left_(options.ambiguities) {
  journal_.script([this] {
    if (ambiguities_left_ == 0) return journal::CommitFate::normal;
    const int fate = chooser_.choose("ambiguous commit", 3);
    if (fate > 0) --ambiguities_left_;
    return static_cast<journal::CommitFate>(fate);
  });
}

bool BillingWorld::crashes_here(const char* label) {
  ++crash_points_;
  if (crashes_left_ == 0 || chooser_.choose(label, 2) == 0) return false;
  --crashes_left_;
  stop();
  now_ = now_.plus(options_.downtime);
  boottime_ms_ += options_.downtime.count();
  return true;
}

void BillingWorld::stop() {
  machine_.reset();
  inputs_.clear();
  outputs_.clear();
  answers_in_hand_.clear();
  commands_in_hand_.clear();
  permits_out_ = 0;
}

StepContext BillingWorld::context() const {
  Now now{now_, boottime_ms_, boot_, now_};
  return StepContext{now, false};
}

void BillingWorld::start() {
  const PersistenceId id = customer_persistence_id(key_.customer);
  // A fresh process raises the epoch before it reads; this also resolves an unknown commit.
  const auto raised = journal_.barrier();
  ONCEWARD_CHECK(raised.has_value(), "the memory journal's barrier succeeds");
  machine_ = type_.create({id, ShardNr{}, Incarnation{++incarnation_}, WriterId{"world"}});
  auto reader = journal_.reader();
  ONCEWARD_CHECK(reader.has_value(), "the memory journal has readers");
  std::vector<StoredEvent> events;
  auto end = (*reader)->replay(id, SequenceNr{}, [&events](const PersistenceId&, StoredEvent&& e) {
    events.push_back(std::move(e));
    return true;
  });
  ONCEWARD_CHECK(end.has_value(), "the memory journal replays");
  step(input::Replayed{std::move(events)});
  for (auto& answer : std::exchange(answers_in_hand_, {})) {
    step(input::CallAnswered{std::move(answer)});
  }
  for (auto& command : std::exchange(commands_in_hand_, {})) step(std::move(command));
  step(input::RecoveryDone{end->last, end->head, end->epoch});
}

void BillingWorld::step(Input input) {
  if (!machine_ || machine_->is_stopped()) return;
  StepContext ctx = context();
  ctx.permit_offered = std::holds_alternative<input::Command>(input) ||
                       std::holds_alternative<input::CallAnswered>(input) ||
                       std::holds_alternative<input::RecoveryDone>(input) ||
                       std::holds_alternative<input::Wake>(input);
  if (ctx.permit_offered) ++permits_out_;
  std::vector<Output> outputs;
  machine_->step(std::move(input), ctx, outputs);
  for (auto& output : outputs) outputs_.push_back(std::move(output));
}

void BillingWorld::perform(Output output) {
  if (auto* commit_out = std::get_if<output::Commit>(&output)) {
    commit(std::move(*commit_out));
  } else if (auto* call_out = std::get_if<output::Call>(&output)) {
    call(std::move(*call_out));
  } else if (const auto* acquire = std::get_if<output::AcquirePermit>(&output)) {
    ++permits_out_;
    inputs_.push_back(input::PermitGranted{acquire->incarnation});
  } else if (std::holds_alternative<output::ReleasePermit>(output)) {
    --permits_out_;
  } else if (auto* reply = std::get_if<output::Reply>(&output)) {
    if (crashes_here("before reply")) return;
    check_reply(*std::any_cast<billing::BillingReply>(&reply->reply));
  } else if (auto* stopped = std::get_if<output::Stop>(&output)) {
    if (stopped->why == output::Stop::Why::quarantine) {
      broken_ = "quarantined: " + stopped->error.context;
    }
    answers_in_hand_ = std::move(stopped->answers_in_hand);
    commands_in_hand_ = std::move(stopped->commands_in_hand);
    machine_.reset();
  }
}

void BillingWorld::commit(output::Commit commit) {
  if (crashes_here("before commit")) return;
  auto answers = journal_.commit({&commit.unit, 1});
  if (crashes_here("after commit")) return;
  inputs_.push_back(input::CommitAnswered{commit.incarnation, std::move(answers.front())});
}

void BillingWorld::call(output::Call call) {
  --permits_out_;
  if (crashes_here("before send")) return;
  // Every POST has its committed RequestStarted: read it back as the wire sees the request.
  Fate fate = Fate::ok;
  if (faults_left_ > 0 && !is_look_up(call.request.operation)) {
    const int options = static_cast<int>(options_.fates.size()) + 1;
    const int chosen = chooser_.choose("fault", options);
    if (chosen > 0) {
      --faults_left_;
      fate = options_.fates[static_cast<std::size_t>(chosen - 1)];
    }
  }
  ExternalAnswer answer = provider_.handle(call.request, fate, now_);
  if (crashes_here("after provider")) return;
  inputs_.push_back(input::CallAnswered{std::move(answer)});
}

void BillingWorld::send_command() {
  billing::BillCustomer bill;
  bill.key = key_;
  bill.amount = Money{options_.amount_minor, *Currency::parse("usd")};
  bill.payment_method = PaymentMethod{"pm_1"};
  bill.provider_customer = ProviderCustomer{"cus_1"};
  bill.request_id = RequestId{"req-1"};
  step(input::Command{billing::BillingCommand{bill}, ReplyTo{1}, false});
}

std::optional<ObligationRow> BillingWorld::row() const {
  auto& journal = const_cast<journal::MemoryJournal&>(journal_);
  if (journal.barrier_pending()) return std::nullopt;
  auto reader = journal.reader();
  auto row = (*reader)->row(key_);
  return row ? *row : std::nullopt;
}

void BillingWorld::check_reply(const billing::BillingReply& reply) {
  replies_.push_back(reply);
  const auto* told = std::get_if<billing::Told>(&reply);
  if (told == nullptr) return;
  if (told->row.status == ObligationStatus::completed &&
      (provider_.ledger().size() != 1 || provider_.ledger()[0].charge != told->row.charge_id)) {
    broken_ = "a reply says completed without exactly that charge in the ledger";
  }
  const auto stored = row();
  if (stored && told->row.updated_at > stored->updated_at)
    broken_ = "a reply ran ahead of the store";
}

// The alarm clock of the node: takes the row when it is due, also if no caller is left.
bool BillingWorld::wake_if_due() {
  const auto open = row();
  if (!open || !open->next_action_at) return false;
  if (now_ < *open->next_action_at) {
    boottime_ms_ += open->next_action_at->ms - now_.ms;
    now_ = *open->next_action_at;
  }
  if (!machine_) start();
  step(input::Wake{});
  return true;
}

void BillingWorld::run() {
  constexpr int steps_max = 2'000;
  start();
  send_command();
  for (int steps = 0; steps < steps_max && broken_.empty(); ++steps) {
    if (provider_.ledger().size() > 1) broken_ = "charged twice";
    if (!machine_) {
      start();
      // The caller of a command without a real answer asks again with the same ids.
      if (replies_.empty() || std::holds_alternative<billing::TurnedDown>(replies_.back())) {
        send_command();
      }
    } else if (!outputs_.empty()) {
      Output next = std::move(outputs_.front());
      outputs_.pop_front();
      perform(std::move(next));
    } else if (!inputs_.empty()) {
      Input next = std::move(inputs_.front());
      inputs_.pop_front();
      step(std::move(next));
    } else if (duplicates_left_ > 0 && chooser_.choose("duplicate", 2) == 1) {
      --duplicates_left_;
      send_command();
    } else if (!wake_if_due()) {
      if (permits_out_ != 0) broken_ = "permits leaked: " + std::to_string(permits_out_);
      return;
    }
  }
  if (broken_.empty()) broken_ = "did not come to rest";
}

std::string BillingWorld::verdict() const {
  if (!broken_.empty()) return broken_;
  auto reader = const_cast<journal::MemoryJournal&>(journal_).reader();
  const auto verified = recovery::verify(**reader, nullptr);
  if (!verified) return "verify failed: " + verified.error().context;
  if (!verified->differences.empty()) {
    return verified->differences[0].where + ": " + verified->differences[0].what;
  }
  if (provider_.ledger().size() > 1) return "charged twice";
  const auto end = row();
  if (!end) return "never recorded";
  const bool charged = provider_.ledger().size() == 1;
  if (end->status == ObligationStatus::completed) {
    if (!charged) return "completed without a charge";
    return provider_.ledger()[0].charge == end->charge_id ? "" : "completed with another charge";
  }
  if (is_operator_owned(end->status)) return {};  // visible, with its reason
  return "ended as " + std::string(to_text(end->status)) + (charged ? ", charged" : ", unbilled");
}

}  // namespace onceward::testing
