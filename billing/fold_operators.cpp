// The fold of what people asked for.
#include "billing/fold.hpp"

#include <onceward/billing/billing_commands.hpp>

namespace onceward::billing {

void Fold::take_up(Timestamp at) {
  ob_.next_attempt_at.reset();
  const bool may_have_acted =
      ob_.request && ob_.request->open && (ob_.request->tainted || !ob_.request->answered);
  if (may_have_acted || ob_.status == ObligationStatus::processing ||
      ob_.status == ObligationStatus::action_required) {
    ob_.look_up_owed = true;
    if (is_operator_owned(ob_.status)) ob_.status = ObligationStatus::unknown;
  } else if (!ob_.closing || ob_.status != ObligationStatus::declined) {
    ob_.status = ObligationStatus::in_progress;
  }
  wait_until(at);
}

std::string Fold::operator()(const CancelRequested& e) {
  if (!is_open(ob_.status)) return "cancel requested for a closed obligation";
  ob_.closing = Closing{Closing::As::cancelled, e.why, "", false};
  ob_.reason = "cancel_requested";
  take_up(e.at);
  return {};
}

std::string Fold::operator()(const OperatorActed& e) {
  if (!is_open(ob_.status)) return "operator's retry of a closed obligation";
  ob_.reason = e.action + " by " + e.who + ": " + e.why;
  take_up(e.next_action_at);
  return {};
}

std::string Fold::operator()(const OperatorResolved& e) {
  const auto resolution = parse_resolution(e.resolution);
  if (!resolution) return "unknown resolution " + e.resolution;
  const bool paid =
      *resolution == Resolution::paid_by_charge || *resolution == Resolution::paid_outside;
  const bool unpaid_end =
      ob_.status == ObligationStatus::uncollectible || ob_.status == ObligationStatus::cancelled;
  if (!is_open(ob_.status)) {
    // Nothing is left to be done at the provider: the event that closes it follows.
    return paid && unpaid_end ? "" : "resolved after it was closed";
  }
  ob_.reason = e.resolution + " by " + e.who + ": " + e.why;
  switch (*resolution) {
    case Resolution::paid_by_charge:
      ob_.closing = Closing{Closing::As::paid_by_charge, e.why, e.reference, true};
      break;
    case Resolution::paid_outside:
      ob_.closing = Closing{Closing::As::paid_outside, e.why, e.reference, true};
      break;
    case Resolution::written_off:
      ob_.closing = Closing{Closing::As::cancelled, "written_off: " + e.why, "", true};
      break;
    case Resolution::not_charged:
      ob_.may_rebill = true;
      break;
  }
  // The provider refused to cancel this intent: the operator vouches for it.
  const bool cancel_failed =
      ob_.status == ObligationStatus::rejected && ob_.request && ob_.request->step == Step::cancel;
  if (cancel_failed && ob_.closing) ob_.intent.clear();
  take_up(e.next_action_at);
  return {};
}

std::string Fold::operator()(const PaymentMethodChanged& e) {
  if (!is_open(ob_.status)) return "another payment method for a closed obligation";
  ob_.payment_method = e.payment_method;
  ob_.waits_for_method = false;
  if (ob_.closing) return {};
  if (ob_.status == ObligationStatus::rejected) {
    // The rejection took a generation: the next request has newly frozen parameters.
    ob_.status = ObligationStatus::in_progress;
    ob_.reason = "payment_method_changed";
    wait_until(e.next_action_at);
  } else if (ob_.status == ObligationStatus::declined) {
    ob_.next_attempt_at = e.next_action_at;
    ob_.reason = "payment_method_changed";
    wait_until(e.next_action_at);
  }
  return {};
}

std::string Fold::operator()(const BillingPaidOutside& e) {
  const bool unpaid_end =
      ob_.status == ObligationStatus::uncollectible || ob_.status == ObligationStatus::cancelled;
  if (!is_open(ob_.status) && !unpaid_end) return "paid outside after it was closed";
  if (!may_have_taken_money(ob_)) ob_.reserved = false;
  ob_.status = ObligationStatus::completed;
  ob_.charge_id.clear();
  ob_.intent.clear();
  ob_.paid_intent.clear();
  ob_.reason = "paid_outside: " + e.reference;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  ob_.closing.reset();
  close_request();
  return {};
}

}  // namespace onceward::billing
