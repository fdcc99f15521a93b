// The shell of one machine, by hand: outputs in their order, every durable step a place to die.
#include "tests/support/customer_pump.hpp"

#include <utility>

namespace onceward::testing {

CustomerPump::CustomerPump(const billing::BillingPolicy& policy, CustomerId customer)
    : type_(billing::billing_entity_type(policy)), customer_(std::move(customer)) {
  journal_.script([this] { return fate_of_commit(); });
}

void CustomerPump::stop() {
  machine_.reset();
  inputs_.clear();
  outputs_.clear();
  answers_in_hand_.clear();
  commands_in_hand_.clear();
  permits_out_ = 0;
}

std::unique_ptr<journal::JournalReader> CustomerPump::reader() const {
  auto reader = const_cast<journal::MemoryJournal&>(journal_).reader();
  ONCEWARD_CHECK(reader.has_value(), "the memory journal has readers");
  return std::move(*reader);
}

void CustomerPump::start() {
  const PersistenceId id = customer_persistence_id(customer_);
  // A fresh process raises the epoch before it reads; this also resolves an unknown commit.
  const auto raised = journal_.barrier();
  ONCEWARD_CHECK(raised.has_value(), "the memory journal's barrier succeeds");
  machine_ = type_.create({id, ShardNr{}, Incarnation{++incarnation_}, WriterId{"world"}});
  std::vector<StoredEvent> events;
  auto end = reader()->replay(id, SequenceNr{}, [&events](const PersistenceId&, StoredEvent&& e) {
    events.push_back(std::move(e));
    return true;
  });
  ONCEWARD_CHECK(end.has_value(), "the memory journal replays");
  step(input::Replayed{std::move(events)});
  if (machine_ && !outputs_.empty()) broken_ = "replay alone had an effect";
  for (auto& answer : std::exchange(answers_in_hand_, {})) {
    step(input::CallAnswered{std::move(answer)});
  }
  for (auto& command : std::exchange(commands_in_hand_, {})) step(std::move(command));
  step(input::RecoveryDone{end->last, end->head, end->epoch});
}

void CustomerPump::step(Input input) {
  if (!machine_ || machine_->is_stopped()) return;
  const bool offered = std::holds_alternative<input::Command>(input) ||
                       std::holds_alternative<input::CallAnswered>(input) ||
                       std::holds_alternative<input::RecoveryDone>(input) ||
                       std::holds_alternative<input::Wake>(input);
  const StepContext context{now(), offered && offers_permit()};
  if (context.permit_offered) ++permits_out_;
  std::vector<Output> outputs;
  machine_->step(std::move(input), context, outputs);
  for (auto& output : outputs) outputs_.push_back(std::move(output));
}

void CustomerPump::perform(Output output) {
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
    if (dies("before reply")) return;
    told(reply->to, *std::any_cast<billing::BillingReply>(&reply->reply), reply->last);
  } else if (auto* stopped = std::get_if<output::Stop>(&output)) {
    if (stopped->why == output::Stop::Why::quarantine) quarantined(stopped->error.context);
    answers_in_hand_ = std::move(stopped->answers_in_hand);
    commands_in_hand_ = std::move(stopped->commands_in_hand);
    machine_.reset();
  }
}

void CustomerPump::commit(output::Commit commit) {
  if (dies("before commit")) return;
  auto answers = journal_.commit({&commit.unit, 1});
  if (!journal_.barrier_pending()) committed(commit.unit);
  if (dies("after commit")) return;
  inputs_.push_back(input::CommitAnswered{commit.incarnation, std::move(answers.front())});
}

void CustomerPump::call(output::Call call) {
  --permits_out_;
  if (dies("before send")) return;
  // What the provider port does: past its not_after nothing is put on the wire.
  const bool is_too_late = now().boottime_ms > call.request.not_after_boottime_ms;
  const Fate fate = is_too_late ? Fate::not_sent : fate_of(call.request);
  ExternalAnswer answer = provider_.handle(call.request, fate, true_now());
  called(call.request, answer);
  if (dies("after provider")) return;
  inputs_.push_back(input::CallAnswered{std::move(answer)});
}

std::optional<ObligationRow> CustomerPump::row(const ObligationKey& key) const {
  if (journal_.barrier_pending()) return std::nullopt;
  auto row = reader()->row(key);
  return row ? *row : std::nullopt;
}

}  // namespace onceward::testing
