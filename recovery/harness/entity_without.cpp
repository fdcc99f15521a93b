// Each guard is taken out by a decider around the real one: it is shown less than is recorded, or
// its decision is changed on the way. Nothing here is reachable from a node.
#include "recovery/harness/entity_without.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace onceward::harness {
namespace {

using namespace onceward::billing;  // NOLINT: a decider of that module

enum class Missing : std::uint8_t {
  nothing,
  in_progress,
  issued_periods,
  stable_key,
  unknown_lookup
};

Missing missing_from(std::string_view guard) {
  if (guard == "in_progress") return Missing::in_progress;
  // The claim is the net under the entity's own memory and acts only where that is lost.
  if (guard == "issued_periods" || guard == "claim") return Missing::issued_periods;
  if (guard == "stable_key") return Missing::stable_key;
  if (guard == "unknown_lookup") return Missing::unknown_lookup;
  return Missing::nothing;
}

class WeakenedBilling {
 public:
  using State = BillingState;
  using Event = BillingEvent;
  using Command = BillingCommand;
  using Reply = BillingReply;
  using Decided = Decision<Event, Reply>;

  WeakenedBilling(const BillingPolicy& policy, Missing missing)
      : inner_(policy), missing_(missing) {}

  [[nodiscard]] State initial(const PersistenceId& id) const { return inner_.initial(id); }
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const {
    return changed(state, inner_.decide(seen_by_commands(state), command, context));
  }
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const {
    ExternalAnswer told = answer;
    const bool unclear = answer.observation == Observation::broken ||
                         answer.observation == Observation::server_error ||
                         answer.observation == Observation::gateway_error;
    if (missing_ == Missing::unknown_lookup && unclear && !is_look_up(answer.operation)) {
      told.observation = Observation::declined;
      told.code = "card_declined";
    }
    return changed(state, inner_.decide_answer(state, told, context));
  }
  [[nodiscard]] Decided resume(const State& state, const Context& context) const {
    return changed(state, inner_.resume(state, context));
  }
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const {
    if (const auto* initiated = std::get_if<BillingInitiated>(&event)) {
      state.obligations.erase(initiated->of);
    }
    return inner_.evolve(state, event);
  }
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const {
    return inner_.answer_waiter(state, command);
  }
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const {
    return inner_.turn_down(command, why);
  }

 private:
  [[nodiscard]] State seen_by_commands(const State& state) const {
    State seen = state;
    std::erase_if(seen.obligations, [this](const auto& entry) {
      const bool open = is_open(entry.second.status);
      return (missing_ == Missing::in_progress && open) ||
             (missing_ == Missing::issued_periods && !open);
    });
    return seen;
  }

  // Without stable keys each send carries one of its own.
  [[nodiscard]] Decided changed(const State& state, Decided decided) const {
    if (missing_ != Missing::stable_key) return decided;
    for (auto& event : decided.events) {
      auto* started = std::get_if<RequestStarted>(&event);
      if (started == nullptr) continue;
      const auto found = state.obligations.find(started->of);
      const bool again = found != state.obligations.end() && found->second.request;
      const std::uint32_t sends = again ? found->second.request->sends : 0;
      const IdempotencyKey old = started->key;
      started->key = IdempotencyKey{old.value().substr(0, 28) + std::to_string(1000 + sends)};
      for (auto& effect : decided.effects) {
        auto* call = std::get_if<CallProvider>(&effect);
        if (call != nullptr && call->request.key == old) call->request.key = started->key;
      }
    }
    return decided;
  }

  BillingEntity inner_;
  Missing missing_;
};

}  // namespace

EntityType entity_without(const BillingPolicy& policy, std::string_view guard) {
  BillingPolicy weakened = policy;
  if (guard == "cap") weakened.cap_mode = CapMode::observe;
  const Missing missing = missing_from(guard);
  if (missing == Missing::nothing) return billing_entity_type(weakened);
  return make_entity_type<WeakenedBilling>(
      "billing", std::make_shared<const WeakenedBilling>(weakened, missing), billing_event_codec());
}

}  // namespace onceward::harness
