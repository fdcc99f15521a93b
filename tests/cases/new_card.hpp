// The customer gives another card.
#pragma once

#include <string>

#include "tests/cases/case_run.hpp"

namespace onceward::cases {

inline SetPaymentMethod new_card(const std::string& customer, const std::string& method) {
  SetPaymentMethod set;
  set.customer = CustomerId{customer};
  set.payment_method = PaymentMethod{method};
  set.who = "ann";
  set.why = "customer called";
  set.mark = mark_of(set, RequestId{"new-card"});
  return set;
}

}  // namespace onceward::cases
