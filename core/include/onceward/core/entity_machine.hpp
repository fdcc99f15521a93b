// EntityMachine: the order of decide, commit, evolve, effects and replies, written once for every
// entity type. Typed parts are reached through a few virtual hooks (see entity_type.hpp).
#pragma once

#include <any>
#include <list>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <onceward/core/machine.hpp>

namespace onceward {

/// A Decision whose events are encoded and whose reply is erased; the typed events and notes stay
/// with the hooks until apply() or drop().
struct ErasedDecision {
  CommitUnit facts;  ///< events, rows, refunds, marks, caps, limits; the machine fills in the rest
  std::vector<Effect> effects;
  std::optional<std::any> reply;
  bool wait = false;
  bool wants_permit = false;
  bool has_notes = false;
  std::optional<std::string> quarantine;

  [[nodiscard]] bool stores_nothing() const noexcept;
};

/// See machine.hpp for the contract. Transient parts (stash, waiters, permits, calls in flight) are
/// all rebuilt or re-fed after a stop; nothing here is needed for correctness after a crash.
class EntityMachine : public Machine {
 public:
  explicit EntityMachine(MachineOptions options);

  void step(Input input, const StepContext& context, std::vector<Output>& outputs) final;
  [[nodiscard]] bool is_idle() const noexcept final;
  [[nodiscard]] bool is_stopped() const noexcept final { return phase_ == Phase::stopped; }
  [[nodiscard]] bool is_running() const noexcept final {
    return phase_ == Phase::running || phase_ == Phase::committing;
  }
  [[nodiscard]] SequenceNr last_sequence_nr() const noexcept final { return last_; }

 protected:
  [[nodiscard]] const MachineOptions& options() const noexcept { return options_; }

  // Hooks. decide_* keep their typed events and notes until exactly one of apply() and drop() is
  // called; apply() evolves the events, then takes the notes.
  virtual ErasedDecision decide_command(const std::any& command, const Context& context) = 0;
  virtual ErasedDecision decide_answer(const ExternalAnswer& answer, const Context& context) = 0;
  virtual ErasedDecision decide_resume(const Context& context) = 0;
  virtual Result<Unit> apply() = 0;
  virtual void drop() = 0;
  virtual Result<Unit> replay(const EncodedEvent& event) = 0;
  virtual std::optional<std::any> answer_waiter(const std::any& command) = 0;
  virtual std::any turn_down(const std::any& command, Turndown why) = 0;

 private:
  enum class Phase : std::uint8_t { recovering, running, committing, stopped };
  struct FromResume {};
  using Origin = std::variant<FromResume, input::Command, ExternalAnswer>;
  struct Pending {
    Origin origin;
    ErasedDecision decision;
    bool holds_permit = false;
    int refusals = 0;
  };

  void on(input::Replayed&& input);
  void on(input::RecoveryDone&& input);
  void on(input::RecoveryFailed&& input);
  void on(input::Command&& input);
  void on(input::CommitAnswered&& input);
  void on(input::PermitGranted&& input);
  void on(input::CallAnswered&& input);
  void on(input::Wake&& input);

  void decide(Origin origin, const Refusal* refusal, int refusals);
  void handle(Origin origin, ErasedDecision decision, int refusals);
  [[nodiscard]] std::optional<std::string> rule_broken_by(const ErasedDecision& decision) const;
  void commit(Origin origin, ErasedDecision decision, int refusals);
  void stored(const Stored& answer);
  void refused(Refusal refusal);
  void invalid(const InvalidUnit& answer);
  void unknown(const CommitUnknown& answer);
  void release(Origin origin, ErasedDecision decision);
  void perform(Effect effect);
  void forget_call(const IdempotencyKey& key);
  void forget_lost_calls();
  void answer_waiters();
  void go_on();
  void stop_to_recover(Error error);
  void quarantine(Error error);
  void reply(ReplyTo to, std::any reply, bool last = true);
  void turn_down_and_reply(const input::Command& command, Turndown why);
  void settle_permits();
  [[nodiscard]] Context context(const Refusal* refusal) const;

  MachineOptions options_;
  Phase phase_ = Phase::recovering;
  Epoch epoch_;
  SequenceNr last_;
  Digest head_;

  std::optional<Pending> pending_;
  std::list<input::Command> stash_;
  std::vector<ExternalAnswer> answers_;  // arrived while recovering or committing
  std::vector<input::Command> waiters_;
  std::vector<IdempotencyKey> calls_in_flight_;
  std::vector<std::int64_t> call_deadlines_;  // parallel to calls_in_flight_; CLOCK_BOOTTIME ms
  int permits_ = 0;
  bool permit_requested_ = false;
  bool resume_due_ = false;

  // Valid during step() only.
  const StepContext* step_ = nullptr;
  std::vector<Output>* outputs_ = nullptr;
};

}  // namespace onceward
