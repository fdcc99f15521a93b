// BillingState: the fold of one customer's events. Open obligations in full; closed ones stay for
// ever as proof that their period was billed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <onceward/billing/billing_events.hpp>

namespace onceward::billing {

/// The newest request of an obligation. It stays recorded after its answer, so that a late success
/// still finds its obligation.
struct RequestState {
  Step step = Step::create;
  std::uint32_t attempt = 1;
  std::uint32_t generation = 0;
  IdempotencyKey key;
  PaymentMethod payment_method;
  SentAt first_sent;
  SentAt last_sent;
  std::int64_t not_after_boottime_ms = 0;  ///< of the last send
  std::uint32_t sends = 0;                 ///< of this attempt, whatever their keys
  std::uint32_t sends_since_look_up = 0;
  std::uint32_t failed_look_ups = 0;  ///< in a row
  bool open = true;                   ///< no definitive answer yet
  bool answered = false;  ///< the last send has an answer, or a look-up after it was answered
  /// Some send of this key may have executed and is not answered definitively.
  bool tainted = false;
  bool pointless = false;  ///< the same key would only bring the same useless answer
  LookedUp looked_up = LookedUp::nothing;
  std::string observation;  ///< of the answer to the last send, empty if none

  friend bool operator==(const RequestState&, const RequestState&) = default;
};

/// One refund of an obligation.
struct RefundState {
  std::uint32_t number = 1;
  Money amount;
  RefundStatus status = RefundStatus::in_progress;
  std::string refund_id;
  std::string reason;
  RequestId request_id;
  std::string fingerprint;
  std::string who;
  std::string why;
  Timestamp requested_at;
  Timestamp updated_at;
  std::optional<Timestamp> next_action_at;
  std::optional<RequestState> request;
  /// The provider says that nothing is left to give back: somebody else may have done it.
  bool already_refunded = false;

  friend bool operator==(const RefundState&, const RefundState&) = default;
};

/// An object that a hint named and that is still to be read.
struct HintedObject {
  HintedKind kind = HintedKind::payment_intent;
  std::optional<Timestamp> due;
  std::uint32_t failed_reads = 0;

  friend bool operator==(const HintedObject&, const HintedObject&) = default;
};

/// How an obligation is to be closed as soon as nothing is unresolved or payable any more.
struct Closing {
  enum class As : std::uint8_t { cancelled, uncollectible, waived, paid_outside, paid_by_charge };
  As as = As::cancelled;
  std::string reason;
  std::string reference;    ///< of the payment, for both kinds of paid
  bool by_verdict = false;  ///< an operator vouches for what no read can prove

  friend bool operator==(const Closing&, const Closing&) = default;
};

struct ObligationState {
  ObligationStatus status = ObligationStatus::in_progress;
  Money amount;
  PaymentMethod payment_method;
  Metadata metadata;
  RequestId request_id;
  Timestamp initiated_at;
  Timestamp updated_at;
  std::uint32_t attempt = 1;  ///< number of the present or next try
  std::uint32_t declines = 0;
  std::uint32_t generation = 0;  ///< never resets
  std::string intent;            ///< payable intent at the provider, empty if none
  std::string charge_id;
  std::string code;
  std::string decline_code;
  std::string failure_charge;  ///< recorded with the newest decline
  std::string reason;
  std::optional<Timestamp> next_action_at;
  std::optional<Timestamp> next_attempt_at;
  std::optional<RequestState> request;
  bool look_up_owed = false;
  bool reserved = false;  ///< the spend cap holds its amount for the present attempt
  std::optional<Closing> closing;
  bool waits_for_method = false;  ///< dunning: only another payment method helps
  bool may_rebill = false;        ///< an operator vouches that the unresolved request took nothing
  std::optional<Timestamp> first_declined_at;
  std::optional<Timestamp> declined_at;    ///< newest
  PaymentMethod declined_method;           ///< of the newest decline
  std::optional<Timestamp> still_owed_at;  ///< read right before the next try

  std::string paid_intent;               ///< intent of the charge that completed it, empty if none
  std::vector<RefundState> refunds;      ///< by number, from 1
  std::optional<Timestamp> refunds_due;  ///< the refunds of its charge are to be read then
  std::map<std::string, std::int64_t> outside_refunds;  ///< refund id -> minor units
  std::map<std::string, HintedObject> hinted;           ///< by object id
  std::set<std::string> unexpected_charges;             ///< money that must not be there
  std::string dispute;                                  ///< newest dispute, empty if none
  std::string dispute_type;                             ///< newest hint about it

  friend bool operator==(const ObligationState&, const ObligationState&) = default;
};

struct BillingState {
  CustomerId customer;
  ProviderCustomer provider_customer;  ///< frozen at first use; empty before it
  /// issued_periods: an entry exists from BillingInitiated on, for ever.
  std::map<PeriodPurpose, ObligationState> obligations;

  friend bool operator==(const BillingState&, const BillingState&) = default;
};

/// Applies one event; impossible_transition names event, obligation and status.
[[nodiscard]] Result<Unit> evolve_obligation(BillingState& state, const BillingEvent& event);

/// What refunds may still give back: refunds that have not certainly failed count as given, and so
/// does what others are known to have given back.
[[nodiscard]] std::int64_t refundable_minor(const ObligationState& obligation);

/// The refund row as the state implies it.
[[nodiscard]] RefundRow refund_row_of(const ObligationKey& obligation, const RefundState& refund);

/// A request that moves money may have been executed and is not answered definitively.
[[nodiscard]] bool may_have_taken_money(const ObligationState& obligation) noexcept;

/// The obligation row as the state implies it: rows are always derived, never decided apart.
[[nodiscard]] ObligationRow row_of(const CustomerId& customer, const PeriodPurpose& of,
                                   const ObligationState& obligation);

}  // namespace onceward::billing
