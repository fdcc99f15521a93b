// The one place where the order is fixed: no effect and no reply before its unit is stored; after a
// fenced or unknown commit the incarnation stops and only recovery brings the entity back.
#include <onceward/core/entity_machine.hpp>

#include <algorithm>
#include <utility>

namespace onceward {

namespace {

// A refused unit is decided again with the refusal known. A decider that runs into refusals more
// often than it has kinds of guards would spin.
constexpr int refusals_max = 4;

// A call without answer this long after its not_after is lost with whatever carried it.
constexpr std::int64_t lost_call_after_ms = 30'000;

const CallProvider* call_of(const ErasedDecision& decision) {
  for (const auto& effect : decision.effects) {
    if (const auto* call = std::get_if<CallProvider>(&effect)) return call;
  }
  return nullptr;
}

}  // namespace

bool ErasedDecision::stores_nothing() const noexcept {
  return facts.events.empty() && facts.rows.empty() && facts.refunds.empty() &&
         facts.marks.empty() && facts.caps.empty() && facts.limits.empty();
}

EntityMachine::EntityMachine(MachineOptions options) : options_(std::move(options)) {}

bool EntityMachine::is_idle() const noexcept {
  return phase_ == Phase::running && stash_.empty() && answers_.empty() && waiters_.empty() &&
         calls_in_flight_.empty() && !permit_requested_ && !resume_due_;
}

void EntityMachine::step(Input input, const StepContext& context, std::vector<Output>& outputs) {
  ONCEWARD_CHECK(phase_ != Phase::stopped, "a stopped machine is fed nothing more");
  step_ = &context;
  outputs_ = &outputs;
  if (context.permit_offered) ++permits_;
  forget_lost_calls();
  std::visit([this](auto&& alternative) { on(std::forward<decltype(alternative)>(alternative)); },
             std::move(input));
  settle_permits();
  step_ = nullptr;
  outputs_ = nullptr;
}

void EntityMachine::on(input::Replayed&& input) {
  ONCEWARD_CHECK(phase_ == Phase::recovering, "history arrives only while recovering");
  for (auto& stored : input.events) {
    if (stored.sequence_nr != last_.plus(1)) {
      return quarantine({ErrorCode::store_corrupt, "replay of " + options_.persistence_id.value() +
                                                       ": event " +
                                                       std::to_string(stored.sequence_nr.value) +
                                                       " follows " + std::to_string(last_.value)});
    }
    auto applied = replay(stored.event);
    if (!applied) return quarantine(std::move(applied).error());
    last_ = stored.sequence_nr;
    head_ = stored.head;
  }
}

void EntityMachine::on(input::RecoveryDone&& input) {
  ONCEWARD_CHECK(phase_ == Phase::recovering, "recovery ends once");
  if (input.last != last_ || input.head != head_) {
    return quarantine(
        {ErrorCode::store_corrupt, "replay of " + options_.persistence_id.value() +
                                       " ended at event " + std::to_string(last_.value) +
                                       ", the store says " + std::to_string(input.last.value)});
  }
  epoch_ = input.epoch;
  phase_ = Phase::running;
  resume_due_ = true;
  answer_waiters();
  go_on();
}

void EntityMachine::on(input::RecoveryFailed&& input) {
  quarantine(std::move(input.error));
}

void EntityMachine::on(input::Command&& input) {
  if (input.accepted) {
    waiters_.push_back(std::move(input));
    // While committing, too: the state is that of the last unit that is durable.
    if (is_running()) answer_waiters();
    return;
  }
  if (phase_ == Phase::running) return decide(std::move(input), nullptr, 0);
  if (!input.result && stash_.size() >= stash_max) {
    return turn_down_and_reply(input, Turndown::busy);
  }
  stash_.push_back(std::move(input));
}

void EntityMachine::on(input::PermitGranted&& input) {
  ++permits_;
  if (input.incarnation != options_.incarnation) return;  // given back at the end of the step
  permit_requested_ = false;
  resume_due_ = true;
  go_on();
}

void EntityMachine::on(input::CallAnswered&& input) {
  forget_call(input.answer.key);
  if (phase_ == Phase::running) return decide(std::move(input.answer), nullptr, 0);
  answers_.push_back(std::move(input.answer));
}

void EntityMachine::on(input::Wake&&) {
  resume_due_ = true;
  go_on();
}

void EntityMachine::decide(Origin origin, const Refusal* refusal, int refusals) {
  const Context ctx = context(refusal);
  ErasedDecision decision;
  if (const auto* command = std::get_if<input::Command>(&origin)) {
    decision = decide_command(command->command, ctx);
  } else if (const auto* answer = std::get_if<ExternalAnswer>(&origin)) {
    decision = decide_answer(*answer, ctx);
  } else {
    decision = decide_resume(ctx);
  }
  handle(std::move(origin), std::move(decision), refusals);
}

// The rules that make a charge safe are enforced here and not left to the decider.
std::optional<std::string> EntityMachine::rule_broken_by(const ErasedDecision& decision) const {
  const auto calls = std::count_if(decision.effects.begin(), decision.effects.end(),
                                   [](auto& e) { return std::holds_alternative<CallProvider>(e); });
  if (calls > 1) return "a decision asks for more than one provider call";
  const CallProvider* call = call_of(decision);
  if (call == nullptr) return std::nullopt;
  if (permits_ < 1) return "a decision asks for a provider call without a permit";
  if (!is_look_up(call->request.operation)) {
    if (call->request.key.value().empty()) return "a decision asks for a POST without a key";
    // Durable before the wire: the commit of this decision is the fence for its side effect.
    if (decision.facts.events.empty()) return "a decision asks for a POST without storing an event";
  }
  return std::nullopt;
}

void EntityMachine::handle(Origin origin, ErasedDecision decision, int refusals) {
  const bool asked_for = decision.quarantine.has_value();
  auto broken = asked_for ? std::move(decision.quarantine) : rule_broken_by(decision);
  if (broken) {
    drop();
    const auto* command = std::get_if<input::Command>(&origin);
    // A reply of a decision that broke a rule would tell of facts that are not stored.
    if (asked_for && command != nullptr && decision.reply) {
      reply(command->reply_to, std::move(*decision.reply));
      origin = FromResume{};
    }
    pending_.emplace(Pending{std::move(origin), {}, false, refusals});
    return quarantine({ErrorCode::impossible_transition,
                       options_.persistence_id.value() + ": " + std::move(*broken)});
  }
  if (!decision.stores_nothing()) {
    return commit(std::move(origin), std::move(decision), refusals);
  }
  ONCEWARD_CHECK(apply().has_value(), "notes cannot fail");  // there are no events
  if (call_of(decision) != nullptr) --permits_;
  const bool resumed = std::holds_alternative<FromResume>(origin);
  const bool acted = !decision.effects.empty();
  // A look-up that resume() started is in flight now; ask whether something else is owed.
  if ((resumed && acted) || decision.has_notes) resume_due_ = true;
  release(std::move(origin), std::move(decision));
  go_on();
}

void EntityMachine::commit(Origin origin, ErasedDecision decision, int refusals) {
  const bool calls = call_of(decision) != nullptr;
  if (calls) --permits_;
  CommitUnit unit = std::move(decision.facts);
  decision.facts = {};
  unit.persistence_id = options_.persistence_id;
  unit.shard = options_.shard;
  unit.epoch = epoch_;
  unit.writer = options_.writer;
  unit.expected = last_;
  unit.head = head_;
  unit.at = step_->now.wall;
  pending_.emplace(Pending{std::move(origin), std::move(decision), calls, refusals});
  phase_ = Phase::committing;
  outputs_->push_back(output::Commit{options_.incarnation, std::move(unit)});
}

void EntityMachine::on(input::CommitAnswered&& input) {
  if (input.incarnation != options_.incarnation) return;
  ONCEWARD_CHECK(phase_ == Phase::committing && pending_, "a commit is answered once");
  phase_ = Phase::running;
  if (const auto* answer = std::get_if<Stored>(&input.answer)) return stored(*answer);
  if (auto* claim = std::get_if<ClaimRefused>(&input.answer)) return refused(std::move(*claim));
  if (auto* cap = std::get_if<CapRefused>(&input.answer)) return refused(std::move(*cap));
  if (auto* mark = std::get_if<MarkRefused>(&input.answer)) return refused(std::move(*mark));
  if (const auto* bad = std::get_if<InvalidUnit>(&input.answer)) return invalid(*bad);
  if (std::holds_alternative<Fenced>(input.answer)) {
    drop();
    return stop_to_recover({ErrorCode::store_uncertain,
                            options_.persistence_id.value() + ": another writer was here"});
  }
  unknown(std::get<CommitUnknown>(input.answer));
}

void EntityMachine::stored(const Stored& answer) {
  last_ = answer.last;
  head_ = answer.head;
  auto applied = apply();
  if (!applied) {
    // What an answer said is stored: it is no longer in hand.
    if (std::holds_alternative<ExternalAnswer>(pending_->origin)) pending_->origin = FromResume{};
    return quarantine(std::move(applied).error());
  }
  Pending done = std::move(*pending_);
  pending_.reset();
  if (std::holds_alternative<FromResume>(done.origin) || done.decision.has_notes) {
    resume_due_ = true;
  }
  release(std::move(done.origin), std::move(done.decision));
  answer_waiters();
  go_on();
}

void EntityMachine::refused(Refusal refusal) {
  drop();
  if (pending_->refusals >= refusals_max) {
    return quarantine({ErrorCode::impossible_transition,
                       options_.persistence_id.value() + ": refused again and again"});
  }
  Pending again = std::move(*pending_);
  pending_.reset();
  permits_ += again.holds_permit ? 1 : 0;
  decide(std::move(again.origin), &refusal, again.refusals + 1);
}

void EntityMachine::invalid(const InvalidUnit& answer) {
  drop();
  const auto* command = std::get_if<input::Command>(&pending_->origin);
  // A malformed unit made from stored state or a provider's answer would come back for ever.
  if (command == nullptr) return quarantine(answer.error);
  turn_down_and_reply(*command, Turndown::invalid);
  permits_ += pending_->holds_permit ? 1 : 0;
  pending_.reset();
  go_on();
}

void EntityMachine::unknown(const CommitUnknown& answer) {
  drop();
  if (const auto* command = std::get_if<input::Command>(&pending_->origin)) {
    turn_down_and_reply(*command, Turndown::uncertain);
    permits_ += pending_->holds_permit ? 1 : 0;
    pending_.reset();
  }
  stop_to_recover(answer.error);
}

void EntityMachine::release(Origin origin, ErasedDecision decision) {
  for (auto& effect : decision.effects) perform(std::move(effect));
  if (decision.wants_permit && !permit_requested_) {
    permit_requested_ = true;
    outputs_->push_back(output::AcquirePermit{options_.incarnation});
  }
  auto* command = std::get_if<input::Command>(&origin);
  if (command == nullptr) return;
  const bool waits = decision.wait && waiters_.size() < waiters_max;
  if (decision.reply) reply(command->reply_to, std::move(*decision.reply), !waits);
  if (!decision.wait) return;
  if (waits) {
    waiters_.push_back(std::move(*command));
  } else if (!decision.reply) {
    turn_down_and_reply(*command, Turndown::busy);
  }
}

void EntityMachine::perform(Effect effect) {
  if (auto* call = std::get_if<CallProvider>(&effect)) {
    calls_in_flight_.push_back(call->request.key);
    call_deadlines_.push_back(call->request.not_after_boottime_ms + lost_call_after_ms);
    outputs_->push_back(output::Call{std::move(call->request)});
  } else if (auto* tell = std::get_if<Tell>(&effect)) {
    outputs_->push_back(
        output::Tell{std::move(tell->to), std::move(tell->command), tell->correlation});
  } else {
    outputs_->push_back(output::Load{std::move(std::get<Load>(effect).query)});
  }
}

void EntityMachine::forget_call(const IdempotencyKey& key) {
  const auto found = std::find(calls_in_flight_.begin(), calls_in_flight_.end(), key);
  if (found == calls_in_flight_.end()) return;
  call_deadlines_.erase(call_deadlines_.begin() + (found - calls_in_flight_.begin()));
  calls_in_flight_.erase(found);
}

void EntityMachine::forget_lost_calls() {
  for (std::size_t i = call_deadlines_.size(); i-- > 0;) {
    if (call_deadlines_[i] < step_->now.boottime_ms) forget_call(calls_in_flight_[i]);
  }
}

void EntityMachine::answer_waiters() {
  std::erase_if(waiters_, [this](const input::Command& waiter) {
    auto answer = answer_waiter(waiter.command);
    if (answer) reply(waiter.reply_to, std::move(*answer));
    return answer.has_value();
  });
}

// Takes up what waited while a commit was outstanding: answers first (they are facts), then what is
// owed, then commands in order of arrival.
void EntityMachine::go_on() {
  while (phase_ == Phase::running) {
    if (!answers_.empty()) {
      ExternalAnswer next = std::move(answers_.front());
      answers_.erase(answers_.begin());
      decide(std::move(next), nullptr, 0);
    } else if (resume_due_) {
      resume_due_ = false;
      decide(FromResume{}, nullptr, 0);
    } else if (!stash_.empty()) {
      input::Command next = std::move(stash_.front());
      stash_.pop_front();
      decide(std::move(next), nullptr, 0);
    } else {
      return;
    }
  }
}

void EntityMachine::reply(ReplyTo to, std::any reply, bool last) {
  if (to == ReplyTo{}) return;
  outputs_->push_back(output::Reply{to, std::move(reply), last});
}

void EntityMachine::turn_down_and_reply(const input::Command& command, Turndown why) {
  reply(command.reply_to, turn_down(command.command, why));
}

// Every permit that no call will use goes back at once: an idle permit would throttle the others.
void EntityMachine::settle_permits() {
  for (; permits_ > 0; --permits_) outputs_->push_back(output::ReleasePermit{});
  ONCEWARD_CHECK(permits_ == 0, "permits are counted");
}

Context EntityMachine::context(const Refusal* refusal) const {
  return Context{step_->now, permits_ > 0, refusal, &calls_in_flight_};
}

}  // namespace onceward
