// The members of the events of refunds and hints, in stored order, each named once. Private.
#pragma once

#include "billing/event_subject_members.hpp"

namespace onceward::billing {

template <class V>
void visit(V& v, RefundRequested& e) {
  visit_subject(v, e);
  v("number", e.number);
  v("amount", e.amount);
  v("request_id", e.request_id);
  v("fingerprint", e.fingerprint);
  v("who", e.who);
  v("why", e.why);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, RefundPending& e) {
  visit_subject(v, e);
  v("number", e.number);
  v("refund_id", e.refund_id);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, RefundCompleted& e) {
  visit_subject(v, e);
  v("number", e.number);
  v("refund_id", e.refund_id);
  v("alarm", e.alarm);
}
template <class V>
void visit(V& v, RefundFailed& e) {
  visit_subject(v, e);
  v("number", e.number);
  v("refund_id", e.refund_id);
  v("code", e.code);
  v("message", e.message);
}
template <class V>
void visit(V& v, RefundParked& e) {
  visit_subject(v, e);
  v("number", e.number);
  v("reason", e.reason);
}
template <class V>
void visit(V& v, RefundLookUpOwed& e) {
  visit_subject(v, e);
  v("cause", e.cause);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, RefundsListed& e) {
  visit_subject(v, e);
  v("listed", e.listed);
}
template <class V>
void visit(V& v, OutsideRefundFound& e) {
  visit_subject(v, e);
  v("refund_id", e.refund_id);
  v("amount_minor", e.amount_minor);
}
template <class V>
void visit(V& v, ObjectHinted& e) {
  visit_subject(v, e);
  v("cause", e.cause);
  v("kind", e.kind);
  v("object", e.object);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, HintedObjectRead& e) {
  visit_subject(v, e);
  v("object", e.object);
  v("found", e.found);
}
template <class V>
void visit(V& v, UnexpectedPaymentFound& e) {
  visit_subject(v, e);
  v("alarm", e.alarm);
  v("charge_id", e.charge_id);
  v("intent", e.intent);
  v("amount_minor", e.amount_minor);
  v("currency", e.currency);
}
template <class V>
void visit(V& v, DisputeRecorded& e) {
  visit_subject(v, e);
  v("dispute", e.dispute);
  v("charge", e.charge);
  v("type", e.type);
}

template <class V>
void visit(V& v, AlarmAcknowledged& e) {
  visit_subject(v, e);
  v("who", e.who);
  v("why", e.why);
}

}  // namespace onceward::billing
