// SetPaymentMethod: one command, an event for each open obligation of the customer.
#include <iterator>
#include <utility>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

bool takes_method(const ObligationState& ob) {
  return is_open(ob.status) && !ob.closing;
}

PaymentMethodSet repeat_of(const BillingState& state, const PaymentMethod& method) {
  PaymentMethodSet set;
  set.replayed = true;
  for (const auto& [of, ob] : state.obligations) {
    if (!takes_method(ob) || ob.payment_method != method) continue;
    set.obligations.push_back(row_of(state.customer, of, ob));
  }
  return set;
}

}  // namespace

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const SetPaymentMethod& command, const Context& context) {
  const auto* refused =
      context.refusal == nullptr ? nullptr : std::get_if<MarkRefused>(context.refusal);
  if (refused != nullptr) {
    if (refused->existing.fingerprint != command.mark.fingerprint) {
      return answer_only(CallerKeyReused{});
    }
    return answer_only(repeat_of(state, command.payment_method));
  }
  if (command.payment_method.value().empty()) {
    return answer_only(Refused{"payment_method is required"});
  }
  Decided all;
  PaymentMethodSet set;
  for (const auto& [of, ob] : state.obligations) {
    if (!takes_method(ob)) continue;
    Draft draft(policy, state, context, of);
    draft.add(PaymentMethodChanged{of, draft.now(), command.payment_method, command.who,
                                   command.why, draft.now()});
    set.obligations.push_back(draft.row());
    Decided one = draft.finish();
    if (one.quarantine) return one;
    append(all.events, std::move(one.events));
    append(all.rows, std::move(one.rows));
  }
  all.marks.push_back(command.mark);
  // What is due now is started one by one as permits come.
  all.wants_permit = !set.obligations.empty();
  all.reply = std::move(set);
  return all;
}

}  // namespace onceward::billing
