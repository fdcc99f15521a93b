// The members of the events about outcomes, in stored order, each named once. Private.
#pragma once

#include "billing/event_subject_members.hpp"

namespace onceward::billing {

template <class V>
void visit(V& v, AttemptDeclined& e) {
  visit_subject(v, e);
  v("attempt", e.attempt);
  v("code", e.code);
  v("decline_code", e.decline_code);
  v("failure_charge", e.failure_charge);
  v("intent", e.intent);
  v("next_attempt_at", e.next_attempt_at);
}
template <class V>
void visit(V& v, BillingCompleted& e) {
  visit_subject(v, e);
  v("charge_id", e.charge_id);
  v("intent", e.intent);
  v("attempt", e.attempt);
  v("alarm", e.alarm);
}
template <class V>
void visit(V& v, BillingUncollectible& e) {
  visit_reason(v, e);
}
template <class V>
void visit(V& v, BillingParked& e) {
  visit_reason(v, e);
}
template <class V>
void visit(V& v, BillingCapped& e) {
  visit_subject(v, e);
  v("limit_minor", e.limit_minor);
  v("used_minor", e.used_minor);
}
template <class V>
void visit(V& v, BillingCancelled& e) {
  visit_reason(v, e);
}
template <class V>
void visit(V& v, PeriodWaived& e) {
  visit_reason(v, e);
}

}  // namespace onceward::billing
