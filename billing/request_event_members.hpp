// The members of the events about requests and of what their answers tell, in stored order, each
// named once. Private.
#pragma once

#include "billing/event_subject_members.hpp"

namespace onceward::billing {

template <class V>
void visit(V& v, BillingInitiated& e) {
  visit_subject(v, e);
  v("amount", e.amount);
  v("payment_method", e.payment_method);
  v("provider_customer", e.provider_customer);
  v("request_id", e.request_id);
  v("metadata", e.metadata);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, RequestStarted& e) {
  visit_subject(v, e);
  v("step", e.step);
  v("attempt", e.attempt);
  v("generation", e.generation);
  v("key", e.key);
  v("intent", e.intent);
  v("payment_method", e.payment_method);
  v("sent", e.sent);
  v("not_after_boottime_ms", e.not_after_boottime_ms);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, LookUpOwed& e) {
  visit_subject(v, e);
  v("cause", e.cause);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, LookUpAnswered& e) {
  visit_subject(v, e);
  v("found", e.found);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, PaymentIntentCreated& e) {
  visit_subject(v, e);
  v("intent", e.intent);
}
template <class V>
void visit(V& v, PaymentIntentCanceled& e) {
  visit_subject(v, e);
  v("intent", e.intent);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, RequestRejected& e) {
  visit_subject(v, e);
  v("key", e.key);
  v("observation", e.observation);
  v("code", e.code);
  v("message", e.message);
  v("retry_at", e.retry_at);
}
template <class V>
void visit(V& v, OutcomeUnknown& e) {
  visit_subject(v, e);
  v("key", e.key);
  v("observation", e.observation);
  v("code", e.code);
  v("looked_up", e.looked_up);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, BillingPending& e) {
  visit_subject(v, e);
  v("kind", e.kind);
  v("intent", e.intent);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, EarlierSystemChecked& e) {
  visit_subject(v, e);
  v("listed", e.listed);
}

}  // namespace onceward::billing
