// Commands to a customer's billing entity and the replies it gives. Commands may be refused and are
// never stored; every command gets at least one reply.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <onceward/billing/hint_commands.hpp>
#include <onceward/core/commit_unit.hpp>
#include <onceward/core/decider.hpp>
#include <onceward/core/refund.hpp>

namespace onceward::billing {

/// A caller's own metadata: name and value, at most 20 entries; names may not begin with
/// `onceward_`. Frozen with the obligation.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// When the sender wants to be told. `accepted`: once, as soon as the state is durable.
/// `settled`: once, when no automatic step is left that could change the answer soon (closed,
/// declined, capped, parked, rejected, action_required). `accepted_and_left`: twice, when durable
/// and when the status is no longer in_progress.
enum class Notify : std::uint8_t { accepted, settled, accepted_and_left };

/// Bill one obligation. Parsed and valid (parse_* and parse_chargeable have accepted the parts).
struct BillCustomer {
  ObligationKey key;
  Money amount;
  PaymentMethod payment_method;        ///< empty: refused before anything is recorded
  ProviderCustomer provider_customer;  ///< defaults to the customer id, filled in by the sender
  RequestId request_id;                ///< stable over repeats; tracing and answering only
  Metadata metadata;
  /// The caller's Idempotency-Key as a mark; stored with whatever this command decides.
  std::optional<Mark> caller_mark;
  Notify notify = Notify::settled;
};

/// Re-runs the resume table for one obligation (operator's retry; never a blind send).
struct LookAgain {
  ObligationKey key;
  std::string who;
  std::string why;
  std::optional<Mark> mark = {};  ///< of the operator's request id; a repeat changes nothing
};

/// Gives money of a completed obligation back, all that is left or a part. Each refund has a number
/// of its own; the period stays billed. The same mark with the same fingerprint again gets the same
/// refund, with another fingerprint CallerKeyReused. Waits for the outcome if `notify` is settled.
struct RefundObligation {
  ObligationKey key;
  std::optional<std::int64_t> amount_minor;  ///< absent: everything that is left
  /// Of the request id: {scope, request id, fingerprint of obligation and amount}.
  Mark mark;
  std::string who;
  std::string why;
  Notify notify = Notify::settled;  ///< accepted_and_left is taken as accepted
};

/// Calls one obligation off. While a request that moves money is unresolved the wish is only kept
/// and carried out as soon as that request is known to have taken nothing; a payable intent is
/// cancelled first. Answered with Told, whose status says how far it is: `cancelled` when done.
/// NotPossible if the obligation is closed in another way: what was charged is refunded instead.
struct CancelObligation {
  ObligationKey key;
  Mark mark;  ///< of its request id, see command_mark()
  std::string who;
  std::string why;
  /// `settled`: when it is closed or an operator owns it; otherwise as soon as it is durable.
  Notify notify = Notify::settled;
};

/// Another payment method for all open obligations of the customer, from their next attempt on. One
/// that waits for it, or for its next try, is due at once; a request under way keeps its own.
/// Answered with PaymentMethodSet, also if nothing is open: new obligations bring their own.
struct SetPaymentMethod {
  CustomerId customer;
  PaymentMethod payment_method;
  Mark mark;
  std::string who;
  std::string why;
};

/// What an operator found out about an obligation that no automatic step can settle.
enum class Resolution : std::uint8_t {
  paid_by_charge,  ///< paid by the charge that `reference` names: completed with it
  paid_outside,    ///< paid elsewhere, `reference` says how: completed without a charge id
  written_off,     ///< nothing more is tried: cancelled
  not_charged,     ///< the unresolved request took no money: bill again, if the policy asks
};
/// `paid_by_charge`, `paid_outside`, `written_off`, `not_charged`.
[[nodiscard]] std::string_view to_text(Resolution resolution) noexcept;
/// Exactly what to_text gives; anything else is invalid_argument.
[[nodiscard]] Result<Resolution> parse_resolution(std::string_view text);

/// An operator's verdict on an open or uncollectible obligation. A payable intent is cancelled
/// first; money that comes nevertheless completes the obligation with an alarm. Told as
/// CancelObligation is; NotPossible if state or policy forbid the verdict.
struct ResolveObligation {
  ObligationKey key;
  Resolution resolution = Resolution::written_off;
  std::string reference;  ///< required for both kinds of paid
  Mark mark;
  std::string who;
  std::string why;
};

/// An operator's step with one refund that no automatic step can settle. Answered with RefundTold;
/// NotPossible if the refund is closed, or its outcome is still being resolved.
struct ResolveRefund {
  enum class Verdict : std::uint8_t {
    look_again,  ///< read the refunds of the charge again; never a blind send
    given,       ///< `refund_id` gave the money back
    not_given,   ///< certainly no money was given back: another refund may be asked for
  };
  ObligationKey key;
  std::uint32_t number = 1;
  Verdict verdict = Verdict::look_again;
  std::string refund_id;  ///< required for `given`
  Mark mark;              ///< of the operator's request id
  std::string who;
  std::string why;
};
/// An operator has seen the alarm of a completed obligation (a duplicate payment, late money, a
/// dispute) and dealt with it: its reason is cleared. Answered with Told.
struct AcknowledgeAlarm {
  ObligationKey key;
  Mark mark;  ///< of the operator's request id
  std::string who;
  std::string why;
};

using BillingCommand =
    std::variant<BillCustomer, LookAgain, ProviderHint, RefundObligation, CancelObligation,
                 SetPaymentMethod, ResolveObligation, ResolveRefund, AcknowledgeAlarm>;

/// The mark of a command other than BillCustomer: scope `kind`, key the request id, and a
/// fingerprint over what it asks for. The same id with the same payload is a repeat and is answered
/// from the state; with another payload it is refused (CallerKeyReused). `kind` is `retry`,
/// `cancel`, `payment_method`, `resolve`, `refund`, `resolve_refund` or `acknowledge`; of other
/// entities `resolve_inbox` or `lift_quarantine`. Who and why are not part of the payload.
[[nodiscard]] Mark command_mark(std::string_view kind, const RequestId& request_id,
                                std::span<const std::string_view> payload);
[[nodiscard]] Mark mark_of(const LookAgain& command, const RequestId& request_id);
[[nodiscard]] Mark mark_of(const CancelObligation& command, const RequestId& request_id);
[[nodiscard]] Mark mark_of(const SetPaymentMethod& command, const RequestId& request_id);
[[nodiscard]] Mark mark_of(const ResolveObligation& command, const RequestId& request_id);
[[nodiscard]] Mark mark_of(const RefundObligation& command, const RequestId& request_id);
[[nodiscard]] Mark mark_of(const ResolveRefund& command, const RequestId& request_id);
[[nodiscard]] Mark mark_of(const AcknowledgeAlarm& command, const RequestId& request_id);

/// The obligation as it is now. Durable before it is told.
struct Told {
  ObligationRow row;
  /// An obligation that existed before this command (another key or request id made it).
  bool deduplicated = false;
  /// The caller's key was answered before with the same payload.
  bool replayed = false;
};
/// Refused because of what is recorded; nothing new was stored.
struct Conflict {
  enum class Kind : std::uint8_t {
    amount,             ///< another amount or currency: `existing` holds the frozen values
    provider_customer,  ///< another provider_customer is frozen for this customer
    granularity,        ///< another granularity of period for this purpose
    period_not_begun,
  };
  Kind kind = Kind::amount;
  /// The obligation that was asked for, if it exists; of `granularity`, the one it contradicts.
  std::optional<ObligationRow> existing;
  std::string detail;  ///< for people
};
/// The caller's key, or the command's mark, was used with another payload.
struct CallerKeyReused {};
/// Refused before anything was recorded, e.g. no payment method.
struct Refused {
  std::string detail;
};
/// Not decided, or not known whether it was recorded.
struct TurnedDown {
  Turndown why = Turndown::busy;
};
/// A command about an obligation that does not exist.
struct NoSuchObligation {};
/// The state of the obligation, or the policy, forbids what was asked for; nothing was stored.
struct NotPossible {
  ObligationRow row;
  std::string detail;  ///< for people: why, and what to do instead
};
/// The open obligations that use the new method from now on, after the command.
struct PaymentMethodSet {
  std::vector<ObligationRow> obligations;
  bool replayed = false;
};

/// The hint is recorded. Durable before it is told.
struct HintTaken {
  ObligationRow row;
  bool duplicate = false;  ///< its mark was there before: nothing was stored
};
/// The refund as it is now. Durable before it is told.
struct RefundTold {
  RefundRow refund;
  ObligationRow row;      ///< of its obligation
  bool replayed = false;  ///< an earlier command with this request id asked for it
};
/// Refused because of what is recorded; nothing was stored, the request id is not used up.
struct RefundRefused {
  enum class Kind : std::uint8_t {
    not_charged,       ///< the obligation is not completed: there is nothing to give back
    beyond_remainder,  ///< more than is left; unknown ones and those of others count as given
  };
  Kind kind = Kind::not_charged;
  ObligationRow row;
  std::int64_t refundable_minor = 0;  ///< what is left
};

using BillingReply =
    std::variant<Told, Conflict, CallerKeyReused, Refused, TurnedDown, NoSuchObligation, HintTaken,
                 RefundTold, RefundRefused, NotPossible, PaymentMethodSet>;

}  // namespace onceward::billing
