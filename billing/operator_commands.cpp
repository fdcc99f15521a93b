// Commands of people: look again, call off, an operator's verdict. A repeat under the same mark is
// answered from the state; what the state forbids stores nothing and uses no mark up.
#include <utility>

#include "billing/closing.hpp"
#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

bool is_closed_unpaid(ObligationStatus status) {
  return status == ObligationStatus::uncollectible || status == ObligationStatus::cancelled;
}

Told told(const BillingState& state, const PeriodPurpose& of, const ObligationState& obligation,
          bool replayed) {
  return Told{row_of(state.customer, of, obligation), false, replayed};
}

// The mark is stored even if nothing else is: the same request id with another payload is refused.
Decided only_marked(Mark mark, BillingReply reply) {
  Decided decided;
  decided.marks.push_back(std::move(mark));
  decided.reply = std::move(reply);
  return decided;
}

Decided finished(Draft& draft, bool waits) {
  Told now{draft.row(), false, false};
  const bool done = !waits || is_called_off(now.row.status);
  Decided decided = draft.finish();
  if (decided.quarantine) return decided;
  if (done) decided.reply = std::move(now);
  decided.wait = !done;
  return decided;
}

Decided not_possible(const BillingState& state, const PeriodPurpose& of,
                     const ObligationState& obligation, std::string detail) {
  return answer_only(NotPossible{row_of(state.customer, of, obligation), std::move(detail)});
}

// Why the verdict cannot be taken; empty if it can.
std::string refusal_of_verdict(const BillingPolicy& policy, const ObligationState& ob,
                               const ResolveObligation& verdict) {
  const bool paid = verdict.resolution == Resolution::paid_by_charge ||
                    verdict.resolution == Resolution::paid_outside;
  const std::string status(to_text(ob.status));
  if (paid && verdict.reference.empty()) return "a payment needs its reference";
  if (ob.status == ObligationStatus::completed) {
    return "it is completed: give money back with a refund";
  }
  if (ob.status == ObligationStatus::waived) return "it is waived: nothing was owed";
  if (!is_open(ob.status)) {
    return paid ? "" : "it is " + status + " already: only a payment changes that";
  }
  if (verdict.resolution != Resolution::not_charged) return {};
  const bool unresolved = ob.status == ObligationStatus::parked && ob.request && ob.request->open &&
                          moves_money(ob.request->step);
  if (!unresolved) return "it is " + status + ": only a parked, unresolved charge is made again";
  if (policy.rebill_after_unknown == RebillAfterUnknown::never) {
    return "rebill_after_unknown is never: write it off, or name the charge that paid it";
  }
  if (ob.closing) return "it is to be called off: write it off, or name the charge that paid it";
  return {};
}

}  // namespace

bool is_called_off(ObligationStatus status) noexcept {
  return !is_open(status) || is_operator_owned(status) || status == ObligationStatus::processing;
}

std::optional<BillingReply> reply_when_called_off(const BillingState& state,
                                                  const ObligationKey& key) {
  const auto found = state.obligations.find({key.period, key.purpose});
  if (found == state.obligations.end()) return BillingReply{NoSuchObligation{}};
  if (!is_called_off(found->second.status)) return std::nullopt;
  return BillingReply{told(state, found->first, found->second, false)};
}

std::optional<BillingReply> decide_repeat(const BillingState& state, const ObligationKey& key,
                                          const Mark& mark, const Context& context) {
  const auto* refused =
      context.refusal == nullptr ? nullptr : std::get_if<MarkRefused>(context.refusal);
  if (refused == nullptr) return std::nullopt;
  if (refused->existing.fingerprint != mark.fingerprint) return BillingReply{CallerKeyReused{}};
  const auto found = state.obligations.find({key.period, key.purpose});
  if (found == state.obligations.end()) return BillingReply{NoSuchObligation{}};
  return BillingReply{told(state, found->first, found->second, true)};
}

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const LookAgain& look, const Context& context) {
  if (look.mark) {
    if (auto repeat = decide_repeat(state, look.key, *look.mark, context)) {
      return answer_only(std::move(*repeat));
    }
  }
  const PeriodPurpose of{look.key.period, look.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  if (!is_open(found->second.status)) {
    return answer_only(Told{row_of(state.customer, of, found->second), true, false});
  }
  Draft draft(policy, state, context, of);
  draft.add(OperatorActed{of, draft.now(), "retry", look.who, look.why, draft.now()});
  if (look.mark) draft.mark(*look.mark);
  // Never a blind send: an older system's charge is looked for again.
  if (!draft.obligation().request && needs_earlier_check(policy, draft.key())) {
    draft.add(LookUpOwed{of, draft.now(), "earlier_system", draft.now()});
  }
  advance(draft);
  return finished(draft, false);
}

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const CancelObligation& cancel, const Context& context) {
  if (auto repeat = decide_repeat(state, cancel.key, cancel.mark, context)) {
    const auto* now = std::get_if<Told>(&*repeat);
    const bool waits =
        cancel.notify == Notify::settled && now != nullptr && !is_called_off(now->row.status);
    if (!waits) return answer_only(std::move(*repeat));
    Decided decided;
    decided.wait = true;
    return decided;
  }
  const PeriodPurpose of{cancel.key.period, cancel.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  const ObligationState& ob = found->second;
  if (is_closed_unpaid(ob.status)) {
    return only_marked(cancel.mark, told(state, of, ob, false));
  }
  if (!is_open(ob.status)) {
    return not_possible(state, of, ob,
                        ob.status == ObligationStatus::completed
                            ? "it is completed: give the money back with a refund"
                            : "it is waived: nothing was owed");
  }
  Draft draft(policy, state, context, of);
  draft.mark(cancel.mark);
  // A wish or verdict that is on its way already is not weakened.
  if (!ob.closing) {
    draft.add(CancelRequested{of, draft.now(), cancel.who, cancel.why});
    advance(draft);
  }
  return finished(draft, cancel.notify == Notify::settled);
}

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const ResolveObligation& verdict, const Context& context) {
  if (auto repeat = decide_repeat(state, verdict.key, verdict.mark, context)) {
    return answer_only(std::move(*repeat));
  }
  const PeriodPurpose of{verdict.key.period, verdict.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  std::string refusal = refusal_of_verdict(policy, found->second, verdict);
  if (!refusal.empty()) return not_possible(state, of, found->second, std::move(refusal));
  Draft draft(policy, state, context, of);
  draft.mark(verdict.mark);
  draft.add(OperatorResolved{of, draft.now(), std::string(to_text(verdict.resolution)),
                             verdict.reference, verdict.who, verdict.why, draft.now()});
  if (!is_open(found->second.status)) {
    record_payment(draft, verdict.resolution, verdict.reference);
  } else {
    advance(draft);
  }
  return finished(draft, verdict.resolution != Resolution::not_charged);
}

}  // namespace onceward::billing
