// PeriodPurpose: names one obligation among those of a customer.
#pragma once

#include <onceward/core/billing_period.hpp>
#include <onceward/core/ids.hpp>

namespace onceward::billing {

/// Which obligation of the customer an event is about.
struct PeriodPurpose {
  BillingPeriod period;
  Purpose purpose;

  friend bool operator==(const PeriodPurpose&, const PeriodPurpose&) = default;
  friend auto operator<=>(const PeriodPurpose&, const PeriodPurpose&) = default;
};

}  // namespace onceward::billing
