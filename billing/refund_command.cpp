// Deciding refunds: each asked for once, numbered, and never beyond what is left.
#include <algorithm>
#include <string>
#include <utility>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

// No automatic step will soon change the answer to a caller.
bool is_settled(RefundStatus status) {
  return status != RefundStatus::in_progress && status != RefundStatus::unknown;
}

const RefundState* find_refund(const ObligationState& obligation, const RequestId& request_id) {
  const auto found =
      std::find_if(obligation.refunds.begin(), obligation.refunds.end(),
                   [&](const RefundState& refund) { return refund.request_id == request_id; });
  return found == obligation.refunds.end() ? nullptr : &*found;
}

RefundTold told(const CustomerId& customer, const PeriodPurpose& of,
                const ObligationState& obligation, const RefundState& refund, bool replayed) {
  return {refund_row_of({customer, of.period, of.purpose}, refund),
          row_of(customer, of, obligation), replayed};
}

void tell(Decided& decided, const RefundObligation& command, RefundTold reply) {
  if (command.notify == Notify::settled && !is_settled(reply.refund.status)) {
    decided.wait = true;
  } else {
    decided.reply = std::move(reply);
  }
}

Decided decide_known(const BillingState& state, const RefundObligation& command,
                     const ObligationState& obligation, const RefundState& refund) {
  if (refund.fingerprint != command.mark.fingerprint) return answer_only(CallerKeyReused{});
  Decided decided;
  const PeriodPurpose of{command.key.period, command.key.purpose};
  tell(decided, command, told(state.customer, of, obligation, refund, true));
  return decided;
}

std::optional<BillingReply> refusal_of(const BillingState& state, const RefundObligation& command,
                                       const ObligationState& obligation) {
  const std::int64_t left = refundable_minor(obligation);
  RefundRefused refused;
  refused.row = row_of(state.customer, {command.key.period, command.key.purpose}, obligation);
  refused.refundable_minor = left;
  if (obligation.status != ObligationStatus::completed || obligation.charge_id.empty()) {
    refused.refundable_minor = 0;
    return refused;
  }
  const std::int64_t amount = command.amount_minor.value_or(left);
  if (command.amount_minor && amount <= 0) return Refused{"the amount must be above 0"};
  refused.kind = RefundRefused::Kind::beyond_remainder;
  if (amount > left || left == 0) return refused;
  const auto payable = parse_chargeable(amount, obligation.amount.currency);
  if (!payable) return Refused{payable.error().context};
  return std::nullopt;
}

}  // namespace

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const RefundObligation& command, const Context& context) {
  if (command.mark.scope.empty() || command.mark.key.empty()) {
    return answer_only(Refused{"a refund needs a request id"});
  }
  const PeriodPurpose of{command.key.period, command.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  const ObligationState& obligation = found->second;
  const RequestId request_id{command.mark.key};
  // For ever, also after the mark's time.
  if (const RefundState* known = find_refund(obligation, request_id)) {
    return decide_known(state, command, obligation, *known);
  }
  if (context.refusal != nullptr && std::holds_alternative<MarkRefused>(*context.refusal)) {
    return answer_only(CallerKeyReused{});  // for another obligation, or another command
  }
  if (auto refused = refusal_of(state, command, obligation)) {
    return answer_only(std::move(*refused));
  }
  Draft draft(policy, state, context, of);
  RefundRequested requested;
  requested.of = of;
  requested.at = draft.now();
  requested.number = static_cast<std::uint32_t>(obligation.refunds.size()) + 1;
  requested.amount = Money{command.amount_minor.value_or(refundable_minor(obligation)),
                           obligation.amount.currency};
  requested.request_id = request_id;
  requested.fingerprint = command.mark.fingerprint;
  requested.who = command.who;
  requested.why = command.why;
  requested.next_action_at = draft.now();
  draft.add(std::move(requested));
  draft.mark(command.mark);
  advance(draft);
  const bool broken = draft.is_broken();
  RefundTold reply;
  if (!broken) {
    reply = told(state.customer, of, draft.obligation(), draft.obligation().refunds.back(), false);
  }
  Decided decided = draft.finish();
  if (!broken) tell(decided, command, std::move(reply));
  return decided;
}

std::optional<BillingReply> reply_to_waiter(const BillingState& state,
                                            const RefundObligation& command) {
  const PeriodPurpose of{command.key.period, command.key.purpose};
  const auto found = state.obligations.find(of);
  const RefundState* refund = found == state.obligations.end()
                                  ? nullptr
                                  : find_refund(found->second, RequestId{command.mark.key});
  if (refund == nullptr) return BillingReply{TurnedDown{Turndown::uncertain}};
  if (!is_settled(refund->status)) return std::nullopt;
  return BillingReply{told(state.customer, of, found->second, *refund, false)};
}

}  // namespace onceward::billing
