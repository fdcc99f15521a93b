// The members of the events about dunning, in stored order, each named once. Private.
#pragma once

#include "billing/event_subject_members.hpp"

namespace onceward::billing {

template <class V>
void visit(V& v, DunningPlanned& e) {
  visit_subject(v, e);
  v("plan", e.plan);
  v("reason", e.reason);
  v("next_action_at", e.next_action_at);
}
template <class V>
void visit(V& v, FoundStillOwed& e) {
  visit_subject(v, e);
  v("found", e.found);
  v("failure_charge", e.failure_charge);
}

}  // namespace onceward::billing
