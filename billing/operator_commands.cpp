// Commands of people: look again, call off, another payment method, an operator's verdict.
#include <utility>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

BillingEntity::Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                                      const LookAgain& look, const Context& context) {
  const PeriodPurpose of{look.key.period, look.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  if (!is_open(found->second.status)) {
    return answer_only(Told{row_of(state.customer, of, found->second), true, false});
  }
  Draft draft(policy, state, context, of);
  draft.add(OperatorActed{of, draft.now(), "retry", look.who, look.why, draft.now()});
  // Never a blind send: an older system's charge is looked for again.
  if (!draft.obligation().request && needs_earlier_check(policy, draft.key())) {
    draft.add(LookUpOwed{of, draft.now(), "earlier_system", draft.now()});
  }
  advance(draft);
  Told told{draft.row(), false, false};
  BillingEntity::Decided decided = draft.finish();
  if (!decided.quarantine) decided.reply = std::move(told);
  return decided;
}

BillingEntity::Decided decide_command(const BillingPolicy&, const BillingState&,
                                      const CancelObligation&, const Context&) {
  return answer_only(Refused{"not available yet"});
}
BillingEntity::Decided decide_command(const BillingPolicy&, const BillingState&,
                                      const SetPaymentMethod&, const Context&) {
  return answer_only(Refused{"not available yet"});
}
BillingEntity::Decided decide_command(const BillingPolicy&, const BillingState&,
                                      const ResolveObligation&, const Context&) {
  return answer_only(Refused{"not available yet"});
}

}  // namespace onceward::billing
