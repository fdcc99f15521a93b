// A decider whose decisions are written down by the test, and a bench that feeds one machine of it
// and counts its permits. For the tests of the machine's own rules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onceward/core/entity_type.hpp>

namespace onceward::testing {

/// Adds `n`; `n` below 0 is an event that no state can take.
struct Added {
  int n = 0;
};
/// A command by name; the script says what it decides. It waits until the sum reaches `until`.
struct Ask {
  std::string name;
  int until = 0;
};

struct Script;

/// Everything it decides comes from the script; the state is the sum of the stored events.
struct ScriptedDecider {
  struct State {
    int sum = 0;
  };
  using Event = Added;
  using Command = Ask;
  using Reply = std::string;
  using Decided = Decision<Event, Reply>;

  std::shared_ptr<Script> script;

  [[nodiscard]] State initial(const PersistenceId& /*id*/) const { return {}; }
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const;
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const;
  [[nodiscard]] Decided resume(const State& state, const Context& context) const;
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const {
    if (event.n < 0) return fail(ErrorCode::impossible_transition, "below zero");
    state.sum += event.n;
    return ok();
  }
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state, const Command& ask) const {
    if (state.sum < ask.until) return std::nullopt;
    return ask.name + " waited until " + std::to_string(state.sum);
  }
  [[nodiscard]] Reply turn_down(const Command& /*ask*/, Turndown why) const {
    constexpr const char* names[] = {"busy", "uncertain", "quarantined", "invalid"};
    return std::string("turned down: ") + names[static_cast<std::size_t>(why)];
  }
};

struct Script {
  using Decided = ScriptedDecider::Decided;
  using State = ScriptedDecider::State;

  std::function<Decided(const State&, const Ask&, const Context&)> on_command;
  std::function<Decided(const State&, const ExternalAnswer&, const Context&)> on_answer;
  std::function<Decided(const State&, const Context&)> on_resume;
  std::vector<std::string> log;  ///< what was decided, in order: names, keys, "resume"
};

inline ScriptedDecider::Decided ScriptedDecider::decide(const State& state, const Command& command,
                                                        const Context& context) const {
  script->log.push_back(command.name);
  return script->on_command ? script->on_command(state, command, context) : Decided{};
}
inline ScriptedDecider::Decided ScriptedDecider::decide_answer(const State& state,
                                                               const ExternalAnswer& answer,
                                                               const Context& context) const {
  script->log.push_back(answer.key.value());
  return script->on_answer ? script->on_answer(state, answer, context) : Decided{};
}
inline ScriptedDecider::Decided ScriptedDecider::resume(const State& state,
                                                        const Context& context) const {
  script->log.push_back("resume");
  return script->on_resume ? script->on_resume(state, context) : Decided{};
}

inline EncodedEvent encode_added(const Added& event) {
  return {{"Added", 1}, std::to_string(event.n)};
}
inline Result<Added> decode_added(const EncodedEvent& event) {
  if (event.manifest.name != "Added") return fail(ErrorCode::unknown_manifest, "not Added");
  return Added{std::stoi(event.payload)};
}

/// The outputs of one step, by kind.
class Outputs {
 public:
  explicit Outputs(std::vector<Output> all) : all_(std::move(all)) {}

  template <class T>
  [[nodiscard]] std::vector<T> all() const {
    std::vector<T> found;
    for (const auto& output : all_) {
      if (const auto* typed = std::get_if<T>(&output)) found.push_back(*typed);
    }
    return found;
  }
  template <class T>
  [[nodiscard]] std::size_t count() const {
    return all<T>().size();
  }
  /// Texts of the replies, in order.
  [[nodiscard]] std::vector<std::string> replies() const {
    std::vector<std::string> texts;
    for (const auto& reply : all<output::Reply>()) {
      texts.push_back(std::any_cast<std::string>(reply.reply));
    }
    return texts;
  }
  /// The one stop of this step.
  [[nodiscard]] output::Stop stop() const {
    const auto stops = all<output::Stop>();
    EXPECT_EQ(stops.size(), 1U);
    return stops.empty() ? output::Stop{} : stops.front();
  }
  [[nodiscard]] bool empty() const { return all_.empty(); }

 private:
  std::vector<Output> all_;
};

using Texts = std::vector<std::string>;

/// One machine; whatever the test does, no permit may be left in a machine that is idle or stopped.
class MachineBench : public ::testing::Test {
 protected:
  using Decided = ScriptedDecider::Decided;
  using State = ScriptedDecider::State;

  MachineBench() { create(Incarnation{1}); }
  void TearDown() override {
    const bool ended = machine_->is_idle() || machine_->is_stopped();
    EXPECT_TRUE(!ended || permits_ == 0) << permits_ << " permits leaked";
  }

  void create(Incarnation incarnation) {
    incarnation_ = incarnation;
    machine_ = std::make_unique<TypedMachine<ScriptedDecider>>(
        std::make_shared<const ScriptedDecider>(ScriptedDecider{script_}),
        EventCodec<Added>{&encode_added, &decode_added},
        MachineOptions{PersistenceId{"scripted/1"}, ShardNr{3}, incarnation, WriterId{"w"}});
    permits_ = 0;
  }
  /// Ends recovery of an empty history.
  Outputs recovered(bool permit = false) {
    return step(input::RecoveryDone{SequenceNr{0}, Digest{}, Epoch{5}}, permit);
  }
  Outputs step(Input input, bool permit = false) {
    std::vector<Output> all;
    StepContext context{now_, permit};
    permits_ += permit || std::holds_alternative<input::PermitGranted>(input) ? 1 : 0;
    machine_->step(std::move(input), context, all);
    Outputs outputs(std::move(all));
    permits_ -= static_cast<int>(outputs.count<output::ReleasePermit>());
    permits_ -= static_cast<int>(outputs.count<output::Call>());
    EXPECT_GE(permits_, 0) << "a permit was given back twice";
    return outputs;
  }
  Outputs ask(const std::string& name, bool permit = false, int until = 0) {
    return step(input::Command{Ask{name, until}, ReplyTo{++asked_}}, permit);
  }
  Outputs stored(std::uint64_t last, bool permit = false) {
    return step(input::CommitAnswered{incarnation_, Stored{SequenceNr{last}, head(last)}}, permit);
  }
  Outputs commit_answered(CommitAnswer answer) {
    return step(input::CommitAnswered{incarnation_, std::move(answer)});
  }
  static Digest head(std::uint64_t n) {
    Digest digest;
    digest.bytes[0] = static_cast<std::uint8_t>(n);
    return digest;
  }
  static StoredEvent event(std::uint64_t nr, int n) {
    return {SequenceNr{nr}, encode_added({n}), Epoch{1}, WriterId{"old"}, {}, head(nr)};
  }
  static input::CallAnswered answer_to(const std::string& key) {
    ExternalAnswer answer;
    answer.key = IdempotencyKey{key};
    return {answer};
  }
  ExternalRequest request(const std::string& key,
                          Operation operation = Operation::create_charge) const {
    return {IdempotencyKey{key}, operation, "", {}, now_.boottime_ms + 80'000};
  }
  /// A decision that stores one event and sends one POST.
  Decided posts(const std::string& key) const {
    Decided decided;
    decided.events.push_back({1});
    decided.effects.push_back(CallProvider{request(key)});
    return decided;
  }
  /// A decision that stores one event and replies.
  static Decided adds(int n, std::string reply = "added") {
    Decided decided;
    decided.events.push_back({n});
    decided.reply = std::move(reply);
    return decided;
  }
  static Decided replies(std::string text) {
    Decided decided;
    decided.reply = std::move(text);
    return decided;
  }
  static Decided waits() {
    Decided decided;
    decided.wait = true;
    return decided;
  }
  static Decided wants_permit() {
    Decided decided;
    decided.wants_permit = true;
    return decided;
  }
  void on_command(Decided decided) {
    script_->on_command = [decided](const State&, const Ask&, const Context&) { return decided; };
  }
  [[nodiscard]] int sum() const { return machine_->state().sum; }

  Now now_{Timestamp{1'000}, 50'000, 1, std::nullopt};
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<TypedMachine<ScriptedDecider>> machine_;
  Incarnation incarnation_;
  std::uint64_t asked_ = 0;
  int permits_ = 0;
};

}  // namespace onceward::testing
