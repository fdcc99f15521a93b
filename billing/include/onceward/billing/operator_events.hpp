// Events that record what people asked for: who, why, and what it means for the obligation.
#pragma once

#include <string>

#include <onceward/billing/period_purpose.hpp>
#include <onceward/core/clock.hpp>

namespace onceward::billing {

/// The obligation is to be called off as soon as no money-moving request is unresolved.
struct CancelRequested {
  PeriodPurpose of;
  Timestamp at;
  std::string who;
  std::string why;
  friend bool operator==(const CancelRequested&, const CancelRequested&) = default;
};
/// An operator wants another look at the obligation.
struct OperatorActed {
  PeriodPurpose of;
  Timestamp at;
  std::string action;
  std::string who;
  std::string why;
  Timestamp next_action_at;
  friend bool operator==(const OperatorActed&, const OperatorActed&) = default;
};

/// An operator's verdict; `resolution` is a word of Resolution. What still has to be done at the
/// provider before the obligation is closed is owed at `next_action_at`.
struct OperatorResolved {
  PeriodPurpose of;
  Timestamp at;
  std::string resolution;
  std::string reference;
  std::string who;
  std::string why;
  Timestamp next_action_at;
  friend bool operator==(const OperatorResolved&, const OperatorResolved&) = default;
};
/// The next attempt or generation is made with this method. What waited for it, or for its next
/// try, is due at `next_action_at`.
struct PaymentMethodChanged {
  PeriodPurpose of;
  Timestamp at;
  PaymentMethod payment_method;
  std::string who;
  std::string why;
  Timestamp next_action_at;
  friend bool operator==(const PaymentMethodChanged&, const PaymentMethodChanged&) = default;
};
/// Closed as paid without the provider, on an operator's word.
struct BillingPaidOutside {
  PeriodPurpose of;
  Timestamp at;
  std::string reference;
  friend bool operator==(const BillingPaidOutside&, const BillingPaidOutside&) = default;
};

}  // namespace onceward::billing
