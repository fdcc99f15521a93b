// The life of one machine: recovery, steps, outputs in their order.
#include "tests/support/machine_pump.hpp"

#include <utility>

namespace onceward::testing {

MachinePump::MachinePump(EntityType type, PersistenceId id, WriterId writer)
    : type_(std::move(type)), id_(std::move(id)), writer_(std::move(writer)) {}

void MachinePump::stop() {
  machine_.reset();
  inputs_.clear();
  outputs_.clear();
  answers_in_hand_.clear();
  commands_in_hand_.clear();
  permits_out_ = 0;
}

void MachinePump::recover(journal::JournalReader& reader, ShardNr shard, Epoch epoch) {
  machine_ = type_.create({id_, shard, Incarnation{++incarnation_}, writer_});
  std::vector<StoredEvent> events;
  auto end = reader.replay(id_, SequenceNr{}, [&events](const PersistenceId&, StoredEvent&& e) {
    events.push_back(std::move(e));
    return true;
  });
  if (!end) return step(input::RecoveryFailed{std::move(end).error()});
  step(input::Replayed{std::move(events)});
  if (machine_ && !outputs_.empty()) broken_ = "replay alone had an effect";
  for (auto& answer : std::exchange(answers_in_hand_, {})) {
    step(input::CallAnswered{std::move(answer)});
  }
  for (auto& command : std::exchange(commands_in_hand_, {})) step(std::move(command));
  step(input::RecoveryDone{end->last, end->head, epoch});
}

void MachinePump::step(Input input) {
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

void MachinePump::perform(Output output) {
  if (auto* commit_out = std::get_if<output::Commit>(&output)) {
    commit(std::move(*commit_out));
  } else if (auto* call_out = std::get_if<output::Call>(&output)) {
    --permits_out_;
    call(std::move(*call_out));
  } else if (const auto* wanted = std::get_if<output::AcquirePermit>(&output)) {
    permit_wanted(*wanted);
  } else if (std::holds_alternative<output::ReleasePermit>(output)) {
    --permits_out_;
    permit_returned();
  } else if (auto* reply = std::get_if<output::Reply>(&output)) {
    replied(std::move(*reply));
  } else if (auto* tell = std::get_if<output::Tell>(&output)) {
    tells(std::move(*tell));
  } else if (auto* load = std::get_if<output::Load>(&output)) {
    loads(std::move(*load));
  } else if (auto* stopped = std::get_if<output::Stop>(&output)) {
    if (stopped->why == output::Stop::Why::quarantine) quarantined(stopped->error.context);
    answers_in_hand_ = std::move(stopped->answers_in_hand);
    commands_in_hand_ = std::move(stopped->commands_in_hand);
    machine_.reset();
  }
}

}  // namespace onceward::testing
