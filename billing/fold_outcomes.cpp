// The fold of outcomes: declined, completed, given to an operator, closed.
#include "billing/fold.hpp"

namespace onceward::billing {

std::string Fold::operator()(const AttemptDeclined& e) {
  if (e.attempt != ob_.attempt) return "decline of another attempt";
  if (!is_open(ob_.status)) return "decline of a closed obligation";
  if (!ob_.request || !ob_.request->open) return "decline of no open request";
  ++ob_.declines;
  ob_.reserved = false;
  ++ob_.attempt;
  close_request();
  if (!e.intent.empty()) ob_.intent = e.intent;
  ob_.status = ObligationStatus::declined;
  ob_.code = e.code;
  ob_.decline_code = e.decline_code;
  if (!e.failure_charge.empty()) ob_.failure_charge = e.failure_charge;
  if (!ob_.first_declined_at) ob_.first_declined_at = e.at;
  ob_.declined_at = e.at;
  ob_.declined_method = ob_.request->payment_method;
  ob_.still_owed_at.reset();
  ob_.reason.clear();
  ob_.look_up_owed = false;
  ob_.next_attempt_at = e.next_attempt_at;
  wait_until(e.next_attempt_at);
  return {};
}

std::string Fold::operator()(const BillingCompleted& e) {
  if (ob_.status == ObligationStatus::completed) return "completed twice";
  if (e.charge_id.empty()) return "completed without charge id";
  ob_.status = ObligationStatus::completed;
  ob_.charge_id = e.charge_id;
  // Paid by another intent: our own stays known, it could still be paid as well.
  if (ob_.intent.empty()) ob_.intent = e.intent;
  ob_.paid_intent = e.intent;
  ob_.reserved = false;
  ob_.reason = e.alarm;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  ob_.closing.reset();
  close_request();
  return {};
}

std::string Fold::operator()(const BillingParked& e) {
  if (!is_open(ob_.status)) return "parked after it was closed";
  ob_.status = ObligationStatus::parked;
  ob_.reason = e.reason;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  return {};
}

std::string Fold::operator()(const BillingCapped& e) {
  if (!is_open(ob_.status)) return "capped after it was closed";
  ob_.status = ObligationStatus::capped;
  ob_.reason = "limit " + std::to_string(e.limit_minor) + ", used " + std::to_string(e.used_minor);
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  return {};
}

std::string Fold::close(ObligationStatus status, const std::string& reason) {
  if (!is_open(ob_.status)) return "closed twice";
  if (!may_have_taken_money(ob_)) ob_.reserved = false;
  ob_.status = status;
  ob_.reason = reason;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  ob_.closing.reset();
  close_request();
  return {};
}

}  // namespace onceward::billing
