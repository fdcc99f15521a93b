// Events of refunds: money of a completed obligation given back. The requests themselves are
// recorded as RequestStarted (step refund, attempt = the refund's number), RequestRejected with
// `retry_at`, and OutcomeUnknown, told apart by their key.
#pragma once

#include <cstdint>
#include <string>

#include <onceward/billing/period_purpose.hpp>
#include <onceward/core/clock.hpp>
#include <onceward/core/ids.hpp>
#include <onceward/core/money.hpp>

namespace onceward::billing {

/// The intention to give money back is recorded; everything in it is frozen for this refund.
struct RefundRequested {
  PeriodPurpose of;
  Timestamp at;
  std::uint32_t number = 1;  ///< counts from 1 within the obligation
  Money amount;
  RequestId request_id;
  std::string fingerprint;  ///< of the command, to tell its repeat from another one
  std::string who;
  std::string why;
  Timestamp next_action_at;
  friend bool operator==(const RefundRequested&, const RefundRequested&) = default;
};
/// The provider has taken it on; the money is on its way.
struct RefundPending {
  PeriodPurpose of;
  Timestamp at;
  std::uint32_t number = 1;
  std::string refund_id;
  Timestamp next_action_at;
  friend bool operator==(const RefundPending&, const RefundPending&) = default;
};
struct RefundCompleted {
  PeriodPurpose of;
  Timestamp at;
  std::uint32_t number = 1;
  std::string refund_id;
  std::string alarm;  ///< non-empty: completed in a way a person should see (adopted, by verdict)
  friend bool operator==(const RefundCompleted&, const RefundCompleted&) = default;
};
/// Certainly not given back, or returned to us later.
struct RefundFailed {
  PeriodPurpose of;
  Timestamp at;
  std::uint32_t number = 1;
  std::string refund_id;  ///< empty if none was made
  std::string code;
  std::string message;
  friend bool operator==(const RefundFailed&, const RefundFailed&) = default;
};
/// No automatic step is safe; an operator owns it.
struct RefundParked {
  PeriodPurpose of;
  Timestamp at;
  std::uint32_t number = 1;
  std::string reason;
  friend bool operator==(const RefundParked&, const RefundParked&) = default;
};
/// The refunds of the charge are to be read: a hint or a person wants it.
struct RefundLookUpOwed {
  PeriodPurpose of;
  Timestamp at;
  std::string cause;
  Timestamp next_action_at;
  friend bool operator==(const RefundLookUpOwed&, const RefundLookUpOwed&) = default;
};
/// The refunds of the charge were read; what they say is recorded in the same commit.
struct RefundsListed {
  PeriodPurpose of;
  Timestamp at;
  std::int64_t listed = 0;
  friend bool operator==(const RefundsListed&, const RefundsListed&) = default;
};
/// A refund of the charge that none of our refunds asked for.
struct OutsideRefundFound {
  PeriodPurpose of;
  Timestamp at;
  std::string refund_id;
  std::int64_t amount_minor = 0;
  friend bool operator==(const OutsideRefundFound&, const OutsideRefundFound&) = default;
};

}  // namespace onceward::billing
