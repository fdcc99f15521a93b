// An operator's steps after a charge: with a refund that nothing automatic can settle, and with an
// alarm that a person has dealt with.
#include <utility>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

const MarkRefused* refused_mark(const Context& context) {
  return context.refusal != nullptr ? std::get_if<MarkRefused>(context.refusal) : nullptr;
}

// Who and why, or what else is missing in what an operator sends.
std::optional<Refused> refusal_of(const Mark& mark, const std::string& who,
                                  const std::string& why) {
  if (mark.scope.empty() || mark.key.empty()) return Refused{"a request id is required"};
  if (who.empty() || why.empty()) return Refused{"who decides it, and why, must be given"};
  return std::nullopt;
}

std::string words_of(const std::string& verdict, const std::string& who, const std::string& why) {
  return verdict + " by " + who + ": " + why;
}

void decide_verdict(Draft& draft, const ResolveRefund& command) {
  switch (command.verdict) {
    case ResolveRefund::Verdict::look_again:
      return draft.add(RefundLookUpOwed{draft.of(), draft.now(),
                                        words_of("retry", command.who, command.why), draft.now()});
    case ResolveRefund::Verdict::given:
      return draft.add(RefundCompleted{draft.of(), draft.now(), command.number, command.refund_id,
                                       words_of("given", command.who, command.why)});
    case ResolveRefund::Verdict::not_given:
      return draft.add(RefundFailed{draft.of(), draft.now(), command.number, "", "not_given",
                                    words_of("not given", command.who, command.why)});
  }
}

std::optional<std::string> impossible(const RefundState& refund, const ResolveRefund& command) {
  if (!is_open(refund.status)) {
    return "refund " + std::to_string(refund.number) + " has " +
           std::string(to_text(refund.status)) + " already";
  }
  const bool is_verdict = command.verdict != ResolveRefund::Verdict::look_again;
  if (is_verdict && refund.status != RefundStatus::parked) {
    return "its outcome is still being resolved: decide it when it is parked";
  }
  return std::nullopt;
}

}  // namespace

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const ResolveRefund& command, const Context& context) {
  const PeriodPurpose of{command.key.period, command.key.purpose};
  const auto found = state.obligations.find(of);
  const bool exists = found != state.obligations.end() && command.number >= 1 &&
                      command.number <= found->second.refunds.size();
  if (!exists) return answer_only(NoSuchObligation{});
  const ObligationState& obligation = found->second;
  const RefundState& refund = obligation.refunds[command.number - 1];
  const ObligationRow row = row_of(state.customer, of, obligation);
  if (const MarkRefused* refused = refused_mark(context)) {
    const bool same = refused->existing.fingerprint == command.mark.fingerprint;
    if (!same) return answer_only(CallerKeyReused{});
    return answer_only(RefundTold{refund_row_of(command.key, refund), row, true});
  }
  if (auto refused = refusal_of(command.mark, command.who, command.why)) {
    return answer_only(std::move(*refused));
  }
  if (command.verdict == ResolveRefund::Verdict::given && command.refund_id.empty()) {
    return answer_only(Refused{"the id of the refund that gave the money back is required"});
  }
  if (auto why = impossible(refund, command)) {
    return answer_only(NotPossible{row, std::move(*why)});
  }
  Draft draft(policy, state, context, of);
  decide_verdict(draft, command);
  draft.mark(command.mark);
  advance(draft);
  RefundTold told{refund_row_of(command.key, draft.obligation().refunds[command.number - 1]),
                  draft.row(), false};
  Decided decided = draft.finish();
  if (!decided.quarantine) decided.reply = std::move(told);
  return decided;
}

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const AcknowledgeAlarm& command, const Context& context) {
  const PeriodPurpose of{command.key.period, command.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  const ObligationRow row = row_of(state.customer, of, found->second);
  if (const MarkRefused* refused = refused_mark(context)) {
    const bool same = refused->existing.fingerprint == command.mark.fingerprint;
    if (!same) return answer_only(CallerKeyReused{});
    return answer_only(Told{row, false, true});
  }
  if (auto refused = refusal_of(command.mark, command.who, command.why)) {
    return answer_only(std::move(*refused));
  }
  if (row.status != ObligationStatus::completed || row.reason.empty()) {
    return answer_only(NotPossible{row, "it shows no alarm of a completed obligation"});
  }
  Draft draft(policy, state, context, of);
  draft.add(AlarmAcknowledged{of, draft.now(), command.who, command.why});
  draft.mark(command.mark);
  Told told{draft.row(), false, false};
  Decided decided = draft.finish();
  if (!decided.quarantine) decided.reply = std::move(told);
  return decided;
}

}  // namespace onceward::billing
