// The entity itself: which rule decides a command, and its resume loop.
#include <onceward/billing/billing_entity.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

BillingEntity::BillingEntity(BillingPolicy policy) : policy_(std::move(policy)) {
  ONCEWARD_CHECK(scheme_allowed(policy_.scheme, policy_.flow),
                 "scheme colon works with flow charges only");
}

BillingState BillingEntity::initial(const PersistenceId& id) const {
  BillingState state;
  auto customer = customer_of(id);
  ONCEWARD_CHECK(customer.has_value(), "billing entities are named customer/<id>");
  state.customer = std::move(*customer);
  return state;
}

BillingEntity::Decided BillingEntity::decide(const State& state, const Command& command,
                                             const Context& context) const {
  const auto* bill = std::get_if<BillCustomer>(&command);
  if (bill != nullptr && policy_.weakening.lacks(Guard::period_of_command)) {
    BillCustomer of_the_clock = *bill;
    of_the_clock.key.period = period_at(bill->key.period.granularity(), context.now.wall);
    return decide_command(policy_, state, of_the_clock, context);
  }
  return std::visit(
      [&](const auto& typed) { return decide_command(policy_, state, typed, context); }, command);
}

BillingEntity::Decided answer_only(BillingReply reply) {
  BillingEntity::Decided decided;
  decided.reply = std::move(reply);
  return decided;
}

BillingEntity::Decided BillingEntity::resume(const State& state, const Context& context) const {
  if (policy_.weakening.lacks(Guard::resume)) return {};
  // Oldest alarm first; the first obligation that owes something now gets the call.
  std::vector<std::pair<Timestamp, const PeriodPurpose*>> open;
  for (const auto& [of, obligation] : state.obligations) {
    const auto side_at = side_action_at(obligation);
    if (!is_open(obligation.status) && !obligation.look_up_owed && !side_at) continue;
    const Timestamp own_at = obligation.next_action_at.value_or(Timestamp{});
    open.emplace_back(side_at && !is_open(obligation.status) ? *side_at : own_at, &of);
  }
  std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  for (const auto& [at, of] : open) {
    Draft draft(policy_, state, context, *of);
    advance(draft);
    Decided decided = draft.finish();
    if (!decided.stores_nothing() || !decided.effects.empty() || decided.wants_permit ||
        decided.quarantine) {
      return decided;
    }
  }
  return {};
}

Result<Unit> BillingEntity::evolve(State& state, const Event& event) const {
  return evolve_obligation(state, event);
}

std::optional<BillingReply> BillingEntity::answer_waiter(const State& state,
                                                         const Command& command) const {
  return std::visit(
      [&](const auto& typed) -> std::optional<Reply> {
        using Typed = std::remove_cvref_t<decltype(typed)>;
        if constexpr (std::is_same_v<Typed, BillCustomer> ||
                      std::is_same_v<Typed, RefundObligation>) {
          return reply_to_waiter(state, typed);
        } else if constexpr (std::is_same_v<Typed, CancelObligation> ||
                             std::is_same_v<Typed, ResolveObligation>) {
          return reply_when_called_off(state, typed.key);
        } else {
          return std::nullopt;
        }
      },
      command);
}

BillingReply BillingEntity::turn_down(const Command&, Turndown why) const {
  return TurnedDown{why};
}

EntityType billing_entity_type(const BillingPolicy& policy) {
  ONCEWARD_CHECK(policy.weakening.is_none(), "guards are taken out on purpose or not at all");
  return weakened_billing_entity_type(policy, Weakening{});
}

EntityType weakened_billing_entity_type(BillingPolicy policy, Weakening weakening) {
  policy.weakening = weakening;
  return make_entity_type<BillingEntity>(
      "billing", std::make_shared<const BillingEntity>(std::move(policy)), billing_event_codec());
}

}  // namespace onceward::billing
