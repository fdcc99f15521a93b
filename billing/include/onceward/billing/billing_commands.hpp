// Commands to a customer's billing entity and the replies it gives. Commands may be refused and are
// never stored; every command gets at least one reply.
#pragma once

#include <optional>
#include <string>
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

using BillingCommand = std::variant<BillCustomer, LookAgain, ProviderHint, RefundObligation>;

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
  std::optional<ObligationRow> existing;
  std::string detail;  ///< for people
};
/// The caller's key was used with another payload.
struct CallerKeyReused {};
/// Refused before anything was recorded, e.g. no payment method.
struct Refused {
  std::string detail;
};
/// Not decided, or not known whether it was recorded.
struct TurnedDown {
  Turndown why = Turndown::busy;
};
/// A command for an obligation that does not exist.
struct NoSuchObligation {};

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
    beyond_remainder,  ///< more than is left; refunds whose outcome is unknown count as given
  };
  Kind kind = Kind::not_charged;
  ObligationRow row;
  std::int64_t refundable_minor = 0;  ///< what is left
};

using BillingReply = std::variant<Told, Conflict, CallerKeyReused, Refused, TurnedDown,
                                  NoSuchObligation, HintTaken, RefundTold, RefundRefused>;

}  // namespace onceward::billing
