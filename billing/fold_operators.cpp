// The fold of what people asked for.
#include "billing/fold.hpp"

namespace onceward::billing {

std::string Fold::operator()(const CancelRequested& e) {
  if (!is_open(ob_.status)) return "cancel requested for a closed obligation";
  ob_.cancel_requested = true;
  ob_.reason = e.why;
  return {};
}

std::string Fold::operator()(const OperatorActed& e) {
  if (!is_open(ob_.status)) return "operator's retry of a closed obligation";
  ob_.reason = e.action + " by " + e.who + ": " + e.why;
  ob_.next_attempt_at.reset();
  const bool may_have_acted =
      ob_.request && ob_.request->open && (ob_.request->tainted || !ob_.request->answered);
  if (may_have_acted || ob_.status == ObligationStatus::processing ||
      ob_.status == ObligationStatus::action_required) {
    ob_.look_up_owed = true;
    if (is_operator_owned(ob_.status)) ob_.status = ObligationStatus::unknown;
  } else {
    ob_.status = ObligationStatus::in_progress;
  }
  wait_until(e.next_action_at);
  return {};
}

}  // namespace onceward::billing
