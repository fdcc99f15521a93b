// The members of the events about what people ask for, in stored order, each named once. Private.
#pragma once

#include "billing/event_subject_members.hpp"

namespace onceward::billing {

template <class V>
void visit(V& v, CancelRequested& e) {
  visit_subject(v, e);
  v("who", e.who);
  v("why", e.why);
}
template <class V>
void visit(V& v, OperatorActed& e) {
  visit_subject(v, e);
  v("action", e.action);
  v("who", e.who);
  v("why", e.why);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, OperatorResolved& e) {
  visit_subject(v, e);
  v("resolution", e.resolution);
  v("reference", e.reference);
  v("who", e.who);
  v("why", e.why);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, PaymentMethodChanged& e) {
  visit_subject(v, e);
  v("payment_method", e.payment_method);
  v("who", e.who);
  v("why", e.why);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, BillingPaidOutside& e) {
  visit_subject(v, e);
  v("reference", e.reference);
}

}  // namespace onceward::billing
