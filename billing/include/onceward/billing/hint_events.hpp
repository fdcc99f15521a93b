// Events that hints lead to: objects to be read, what was found, and disputes.
#pragma once

#include <string>

#include <onceward/billing/hint_commands.hpp>
#include <onceward/billing/period_purpose.hpp>
#include <onceward/core/clock.hpp>
#include <onceward/core/money.hpp>

namespace onceward::billing {

/// A hint names an object that is none of those this obligation's requests made: it is to be read.
/// Recorded again with a later time if the read fails.
struct ObjectHinted {
  PeriodPurpose of;
  Timestamp at;
  std::string cause;  ///< the event's type and id
  HintedKind kind = HintedKind::payment_intent;
  std::string object;
  Timestamp next_action_at;
  friend bool operator==(const ObjectHinted&, const ObjectHinted&) = default;
};
/// The hinted object was read; what it says is recorded in the same commit.
struct HintedObjectRead {
  PeriodPurpose of;
  Timestamp at;
  std::string object;
  std::string found;  ///< its status as the provider spells it; `not_found`, `not_ours`
  friend bool operator==(const HintedObjectRead&, const HintedObjectRead&) = default;
};
/// Money was taken that this obligation cannot take: beside the charge that completed it, or of
/// another amount than the recorded one. A person must give it back or account for it.
struct UnexpectedPaymentFound {
  PeriodPurpose of;
  Timestamp at;
  std::string alarm;  ///< `duplicate_payment`, `payment_of_another_amount`
  std::string charge_id;
  std::string intent;
  std::int64_t amount_minor = 0;
  std::string currency;
  friend bool operator==(const UnexpectedPaymentFound&, const UnexpectedPaymentFound&) = default;
};
/// The provider told of a dispute about the obligation's charge. Nothing is done about it.
struct DisputeRecorded {
  PeriodPurpose of;
  Timestamp at;
  std::string dispute;
  std::string charge;
  std::string type;  ///< of the newest hint about it, e.g. `charge.dispute.created`
  friend bool operator==(const DisputeRecorded&, const DisputeRecorded&) = default;
};

/// An operator has dealt with the alarm or dispute of a completed obligation.
struct AlarmAcknowledged {
  PeriodPurpose of;
  Timestamp at;
  std::string who;
  std::string why;
  friend bool operator==(const AlarmAcknowledged&, const AlarmAcknowledged&) = default;
};

}  // namespace onceward::billing
