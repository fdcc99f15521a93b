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

}  // namespace onceward::billing
