// make_entity_type: turns a Decider and its codec into an EntityType, the non-template form that
// the runtime, the harness and the command line pump. The typed half of a machine lives here.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <onceward/core/entity_machine.hpp>

namespace onceward {

template <Decider D>
class TypedMachine final : public EntityMachine {
 public:
  using Event = typename D::Event;
  using Command = typename D::Command;
  using Reply = typename D::Reply;

  TypedMachine(std::shared_ptr<const D> decider, EventCodec<Event> codec, MachineOptions options)
      : EntityMachine(std::move(options)),
        decider_(std::move(decider)),
        codec_(codec),
        state_(decider_->initial(this->options().persistence_id)) {}

  /// For tests and inspection.
  [[nodiscard]] const typename D::State& state() const noexcept { return state_; }

 protected:
  ErasedDecision decide_command(const std::any& command, const Context& context) override {
    return erase(decider_->decide(state_, typed(command), context));
  }
  ErasedDecision decide_answer(const ExternalAnswer& answer, const Context& context) override {
    return erase(decider_->decide_answer(state_, answer, context));
  }
  ErasedDecision decide_resume(const Context& context) override {
    return erase(decider_->resume(state_, context));
  }
  Result<Unit> apply() override {
    for (const auto& event : undecided_) {
      auto applied = decider_->evolve(state_, event);
      if (!applied) return applied;
    }
    if constexpr (TakesNotes<D>) {
      for (const auto& note : notes_) decider_->take_note(state_, note);
    }
    drop();
    return ok();
  }
  void drop() override {
    undecided_.clear();
    notes_.clear();
  }
  Result<Unit> replay(const EncodedEvent& event) override {
    auto decoded = codec_.decode(event);
    if (!decoded) return Unexpected{std::move(decoded).error()};
    return decider_->evolve(state_, *decoded);
  }
  std::optional<std::any> answer_waiter(const std::any& command) override {
    auto answer = decider_->answer_waiter(state_, typed(command));
    if (!answer) return std::nullopt;
    return std::any(std::move(*answer));
  }
  std::any turn_down(const std::any& command, Turndown why) override {
    return std::any(decider_->turn_down(typed(command), why));
  }

 private:
  static const Command& typed(const std::any& command) {
    const auto* typed_command = std::any_cast<Command>(&command);
    ONCEWARD_CHECK(typed_command != nullptr, "a command of another entity type was routed here");
    return *typed_command;
  }

  ErasedDecision erase(DecisionOf<D>&& decision) {
    ErasedDecision erased;
    erased.facts.events.reserve(decision.events.size());
    for (const auto& event : decision.events) erased.facts.events.push_back(codec_.encode(event));
    undecided_ = std::move(decision.events);
    notes_ = std::move(decision.notes);
    erased.has_notes = !notes_.empty();
    erased.facts.rows = std::move(decision.rows);
    erased.facts.refunds = std::move(decision.refunds);
    erased.facts.marks = std::move(decision.marks);
    erased.facts.caps = std::move(decision.caps);
    erased.facts.limits = std::move(decision.limits);
    erased.effects = std::move(decision.effects);
    if (decision.reply) erased.reply = std::any(std::move(*decision.reply));
    erased.wait = decision.wait;
    erased.wants_permit = decision.wants_permit;
    erased.quarantine = std::move(decision.quarantine);
    return erased;
  }

  std::shared_ptr<const D> decider_;  // shared with the EntityType and its other machines
  EventCodec<Event> codec_;
  typename D::State state_;
  std::vector<Event> undecided_;  // of the unit that is being committed
  std::vector<NoteOf<D>> notes_;  // of the same decision
};

/// `name` is for logs ("billing"). The decider is shared by all machines and must be immutable.
template <Decider D>
[[nodiscard]] EntityType make_entity_type(std::string name, std::shared_ptr<const D> decider,
                                          EventCodec<typename D::Event> codec) {
  EntityType type;
  type.name = std::move(name);
  type.create = [decider, codec](const MachineOptions& options) -> std::unique_ptr<Machine> {
    return std::make_unique<TypedMachine<D>>(decider, codec, options);
  };
  type.turn_down = [decider](const std::any& command, Turndown why) {
    const auto* typed = std::any_cast<typename D::Command>(&command);
    ONCEWARD_CHECK(typed != nullptr, "a command of another entity type was routed here");
    return std::any(decider->turn_down(*typed, why));
  };
  return type;
}

}  // namespace onceward
