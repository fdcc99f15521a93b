// entity_under_test: a user's entity made ready for the harness. What a decider may not do is found
// and reported by name: throw, store what its codec cannot read back, or decide by chance.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <onceward/core/entity_type.hpp>

namespace onceward::harness {

/// Forwards to a decider. A fault of it becomes a quarantine with a reason that names the member;
/// the world reports it as a violation of I17.
template <Decider D>
class CheckedDecider {
 public:
  using State = typename D::State;
  using Event = typename D::Event;
  using Command = typename D::Command;
  using Reply = typename D::Reply;
  using Note = NoteOf<D>;
  using Decided = DecisionOf<D>;

  CheckedDecider(std::string name, std::shared_ptr<const D> inner, EventCodec<Event> codec)
      : name_(std::move(name)), inner_(std::move(inner)), codec_(codec) {}

  [[nodiscard]] State initial(const PersistenceId& id) const { return inner_->initial(id); }
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const {
    return checked("decide", [&] { return inner_->decide(state, command, context); });
  }
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const {
    return checked("decide_answer", [&] { return inner_->decide_answer(state, answer, context); });
  }
  [[nodiscard]] Decided resume(const State& state, const Context& context) const {
    return checked("resume", [&] { return inner_->resume(state, context); });
  }
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const {
    try {
      return inner_->evolve(state, event);
    } catch (const std::exception& thrown) {
      return fail(ErrorCode::impossible_transition,
                  name_ + ": evolve threw `" + thrown.what() + "`; it must return a result");
    }
  }
  void take_note(State& state, const Note& note) const {
    if constexpr (TakesNotes<D>) inner_->take_note(state, note);
  }
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const {
    return inner_->answer_waiter(state, command);
  }
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const {
    return inner_->turn_down(command, why);
  }

 private:
  template <class F>
  Decided checked(const char* member, F decide) const {
    Decided decided;
    try {
      decided = decide();
      // Pure: the same question has the same answer, byte by byte.
      const std::string difference = difference_of(decided, decide());
      if (!difference.empty()) {
        decided.quarantine = name_ + ": " + member + " is not deterministic: " + difference;
      }
    } catch (const std::exception& thrown) {
      decided = Decided{};
      decided.quarantine = name_ + ": " + member + " threw `" + thrown.what() +
                           "`; a decider is total and answers every input";
    }
    if (decided.quarantine) return decided;
    for (const auto& event : decided.events) {
      const EncodedEvent bytes = codec_.encode(event);
      const auto back = codec_.decode(bytes);
      if (!back || codec_.encode(*back) != bytes) {
        decided.quarantine = name_ + ": the codec does not round-trip " + bytes.manifest.name +
                             (back ? ": it reads back as something else"
                                   : ": it cannot read it back: " + back.error().context);
      }
    }
    return decided;
  }

  std::string difference_of(const Decided& first, const Decided& second) const {
    if (first.events.size() != second.events.size()) return "another number of events";
    for (std::size_t i = 0; i < first.events.size(); ++i) {
      const EncodedEvent a = codec_.encode(first.events[i]);
      const EncodedEvent b = codec_.encode(second.events[i]);
      if (a != b) return a.manifest.name + " `" + a.payload + "` / `" + b.payload + "`";
    }
    if (first.effects.size() != second.effects.size()) return "another number of effects";
    for (std::size_t i = 0; i < first.effects.size(); ++i) {
      const auto* a = std::get_if<CallProvider>(&first.effects[i]);
      const auto* b = std::get_if<CallProvider>(&second.effects[i]);
      if ((a == nullptr) != (b == nullptr) || (a != nullptr && a->request != b->request)) {
        return "another request";
      }
    }
    return {};
  }

  std::string name_;
  std::shared_ptr<const D> inner_;
  EventCodec<Event> codec_;
};

/// The entity type for Scenario::type. Use make_entity_type() in production.
template <Decider D>
[[nodiscard]] EntityType entity_under_test(const std::string& name,
                                           std::shared_ptr<const D> decider,
                                           EventCodec<typename D::Event> codec) {
  using Checked = CheckedDecider<D>;
  return make_entity_type<Checked>(
      name, std::make_shared<const Checked>(name, std::move(decider), codec), codec);
}

}  // namespace onceward::harness
