// Events of dunning.
#pragma once

#include <cstdint>
#include <string>

#include <onceward/billing/period_purpose.hpp>
#include <onceward/core/clock.hpp>

namespace onceward::billing {

/// What follows a decline, or a try that was due and is not made now.
enum class DunningPlan : std::uint8_t {
  try_again,        ///< with the same or another method, at `next_action_at`
  wait_for_method,  ///< only another payment method helps; given up at `next_action_at`
  give_up,          ///< closed as uncollectible as soon as nothing is payable any more
};
struct DunningPlanned {
  PeriodPurpose of;
  Timestamp at;
  DunningPlan plan = DunningPlan::try_again;
  std::string reason;  ///< empty if the decline code alone explains it
  Timestamp next_action_at;
  friend bool operator==(const DunningPlanned&, const DunningPlanned&) = default;
};
/// Read right before another try: nobody has paid in the meantime.
struct FoundStillOwed {
  PeriodPurpose of;
  Timestamp at;
  std::string found;           ///< status as the provider spells it; "absent" if none is ours
  std::string failure_charge;  ///< of the refusal that the object shows, to tell it from the next
  friend bool operator==(const FoundStillOwed&, const FoundStillOwed&) = default;
};

}  // namespace onceward::billing
