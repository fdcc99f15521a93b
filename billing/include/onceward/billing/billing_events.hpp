// Events of a customer's billing entity: decided facts, past tense, never refused. Their stored
// form is docs/event-format.md; json_codec.cpp writes and reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/billing/dunning_events.hpp>
#include <onceward/billing/hint_events.hpp>
#include <onceward/billing/idempotency_key.hpp>
#include <onceward/billing/operator_events.hpp>
#include <onceward/billing/period_purpose.hpp>
#include <onceward/billing/refund_events.hpp>

namespace onceward::billing {

/// The intention to charge is recorded; everything in it is frozen for the obligation.
struct BillingInitiated {
  PeriodPurpose of;
  Timestamp at;
  Money amount;
  PaymentMethod payment_method;
  ProviderCustomer provider_customer;
  RequestId request_id;
  Metadata metadata;
  Timestamp next_action_at;
  friend bool operator==(const BillingInitiated&, const BillingInitiated&) = default;
};
/// About to send: the fence for the side effect. Repeated for each send of the same key.
struct RequestStarted {
  PeriodPurpose of;
  Timestamp at;
  Step step = Step::create;
  std::uint32_t attempt = 1;
  std::uint32_t generation = 0;
  IdempotencyKey key;
  std::string intent;  ///< target of confirm and cancel
  PaymentMethod payment_method;
  SentAt sent;  ///< of this send; the first one of the key is its first_sent_at
  std::int64_t not_after_boottime_ms = 0;
  Timestamp next_action_at;  ///< watchdog
  friend bool operator==(const RequestStarted&, const RequestStarted&) = default;
};
/// A hint or a person wants the provider's present state to be read.
struct LookUpOwed {
  PeriodPurpose of;
  Timestamp at;
  std::string cause;
  Timestamp next_action_at;
  friend bool operator==(const LookUpOwed&, const LookUpOwed&) = default;
};
/// The owed look-up was made and shows nothing new of an obligation whose request is resolved. What
/// is owed next, if anything, is owed at `next_action_at`.
struct LookUpAnswered {
  PeriodPurpose of;
  Timestamp at;
  std::string found;  ///< the object's status as the provider spells it; "absent" if none is ours
  std::optional<Timestamp> next_action_at;
  friend bool operator==(const LookUpAnswered&, const LookUpAnswered&) = default;
};
struct PaymentIntentCreated {
  PeriodPurpose of;
  Timestamp at;
  std::string intent;
  friend bool operator==(const PaymentIntentCreated&, const PaymentIntentCreated&) = default;
};
/// The intent is dead without money: a new one may be made under the next generation.
struct PaymentIntentCanceled {
  PeriodPurpose of;
  Timestamp at;
  std::string intent;
  Timestamp next_action_at;
  friend bool operator==(const PaymentIntentCanceled&, const PaymentIntentCanceled&) = default;
};
/// Definitive: the payer's side refused attempt `attempt`. Only this makes the attempt grow.
struct AttemptDeclined {
  PeriodPurpose of;
  Timestamp at;
  std::uint32_t attempt = 1;
  std::string code;
  std::string decline_code;
  std::string failure_charge;  ///< of the refusal, to tell a stale one from a new one
  std::string intent;          ///< left by a one-step request, if any
  Timestamp next_attempt_at;
  friend bool operator==(const AttemptDeclined&, const AttemptDeclined&) = default;
};
/// Definitive: this send did nothing at the provider. With `retry_at` the same key is sent again;
/// without it an operator must act.
struct RequestRejected {
  PeriodPurpose of;
  Timestamp at;
  IdempotencyKey key;
  std::string observation;
  std::string code;
  std::string message;
  std::optional<Timestamp> retry_at;
  friend bool operator==(const RequestRejected&, const RequestRejected&) = default;
};
/// What a look-up said about a request whose outcome is unknown.
enum class LookedUp : std::uint8_t {
  nothing,      ///< it was no look-up that answered
  absent,       ///< a complete list holds nothing of ours
  unpaid_same,  ///< the intent is unpaid and shows no refusal newer than the recorded one
  failed,       ///< the look-up itself failed: nothing was learnt about the request
  too_early,    ///< no success, but a send that moves money may still be running: proves nothing
};
/// The provider may or may not have acted on `key`. `observation` and `code` are of the call that
/// told so: the request itself, or a look-up.
struct OutcomeUnknown {
  PeriodPurpose of;
  Timestamp at;
  IdempotencyKey key;
  std::string observation;
  std::string code;
  LookedUp looked_up = LookedUp::nothing;
  Timestamp next_action_at;
  friend bool operator==(const OutcomeUnknown&, const OutcomeUnknown&) = default;
};
struct BillingPending {
  enum class Kind : std::uint8_t { processing, action_required };
  PeriodPurpose of;
  Timestamp at;
  Kind kind = Kind::processing;
  std::string intent;
  Timestamp next_action_at;
  friend bool operator==(const BillingPending&, const BillingPending&) = default;
};
struct BillingCompleted {
  PeriodPurpose of;
  Timestamp at;
  std::string charge_id;
  std::string intent;
  std::uint32_t attempt = 1;
  std::string alarm;  ///< non-empty: completed in a way a person should see (late money, twins)
  friend bool operator==(const BillingCompleted&, const BillingCompleted&) = default;
};
struct BillingUncollectible {
  PeriodPurpose of;
  Timestamp at;
  std::string reason;
  friend bool operator==(const BillingUncollectible&, const BillingUncollectible&) = default;
};
/// No automatic step is safe; an operator owns it.
struct BillingParked {
  PeriodPurpose of;
  Timestamp at;
  std::string reason;
  friend bool operator==(const BillingParked&, const BillingParked&) = default;
};
/// Refused by the spend cap; nothing was sent for this attempt.
struct BillingCapped {
  PeriodPurpose of;
  Timestamp at;
  std::int64_t limit_minor = 0;
  std::int64_t used_minor = 0;
  friend bool operator==(const BillingCapped&, const BillingCapped&) = default;
};
struct BillingCancelled {
  PeriodPurpose of;
  Timestamp at;
  std::string reason;
  friend bool operator==(const BillingCancelled&, const BillingCancelled&) = default;
};
/// Nothing to charge: amount 0, below the provider's minimum, or policy.
struct PeriodWaived {
  PeriodPurpose of;
  Timestamp at;
  std::string reason;
  friend bool operator==(const PeriodWaived&, const PeriodWaived&) = default;
};
/// Scheme `colon` only: the provider's charges were listed for one that an older system may have
/// made for this obligation, and none was found. Only then the first send may start.
struct EarlierSystemChecked {
  PeriodPurpose of;
  Timestamp at;
  std::int64_t listed = 0;  ///< charges of the customer in the window, none of them a match
  friend bool operator==(const EarlierSystemChecked&, const EarlierSystemChecked&) = default;
};

using BillingEvent =
    std::variant<BillingInitiated, RequestStarted, LookUpOwed, CancelRequested,
                 PaymentIntentCreated, PaymentIntentCanceled, AttemptDeclined, RequestRejected,
                 OutcomeUnknown, BillingPending, BillingCompleted, BillingUncollectible,
                 BillingParked, BillingCapped, BillingCancelled, PeriodWaived, OperatorActed,
                 EarlierSystemChecked, LookUpAnswered, RefundRequested, RefundPending,
                 RefundCompleted, RefundFailed, RefundParked, RefundLookUpOwed, RefundsListed,
                 OutsideRefundFound, ObjectHinted, HintedObjectRead, UnexpectedPaymentFound,
                 DisputeRecorded, AlarmAcknowledged, OperatorResolved, PaymentMethodChanged,
                 BillingPaidOutside, DunningPlanned, FoundStillOwed>;

[[nodiscard]] const PeriodPurpose& subject_of(const BillingEvent& event);

/// JSON codec; see docs/event-format.md.
[[nodiscard]] EventCodec<BillingEvent> billing_event_codec();

}  // namespace onceward::billing
