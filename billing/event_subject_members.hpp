// Members that events of a customer share, named once; `V` is JsonWriter or JsonReader. Private.
#pragma once

#include <onceward/billing/billing_events.hpp>

namespace onceward::billing {

template <class V, class E>
void visit_subject(V& v, E& e) {
  v("period", e.of.period);
  v("purpose", e.of.purpose);
  v("at", e.at);
}
template <class V, class E>
void visit_reason(V& v, E& e) {
  visit_subject(v, e);
  v("reason", e.reason);
}

}  // namespace onceward::billing
