// The one table of answers: what each status of an obligation and each kind of problem means for
// HTTP, for the exit code of the command line and for the caller's next step. Nothing else maps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <onceward/core/obligation.hpp>
#include <onceward/core/refund.hpp>

namespace onceward::ingress {

/// Exit codes of the command line; fixed numbers.
enum class ExitCode : int {
  ok = 0,
  failed = 1,              ///< failed or declined
  usage = 2,               ///< usage or configuration error
  not_found = 3,           ///< no such obligation, customer or run
  conflict = 4,            ///< conflict or still in progress
  unknown = 5,             ///< outcome unknown, parked or action required
  capped = 6,              ///< refused by the spend cap
  unreachable = 7,         ///< node or store unreachable
  partial = 8,             ///< some customers declined, parked or capped
  incomplete = 9,          ///< harness: not everything within the bound was run
  non_deterministic = 10,  ///< harness: two runs of one schedule differ
};

/// What is known about the money of an obligation when a problem is reported.
enum class ChargeState : std::uint8_t {
  none,     ///< nothing was charged, and nothing that could charge is under way
  pending,  ///< recorded; a charge may be made at any moment
  unknown,  ///< not known; ask again with the same key
  charged,
};
/// Whether, and how, the caller may repeat the request.
enum class Retryable : std::uint8_t {
  never,     ///< the same request will be refused again
  same_key,  ///< at once or after Retry-After, with the same key and payload
  after,     ///< later: after Retry-After, or after what the detail names
};
[[nodiscard]] std::string_view to_text(ChargeState state) noexcept;
[[nodiscard]] std::string_view to_text(Retryable retryable) noexcept;

/// Whether waiting longer could change the answer soon.
enum class Settled : std::uint8_t { no, yes };

struct StatusRow {
  ObligationStatus status;
  int post_status;  ///< HTTP status of POST /v1/billing; GET always answers 200
  ExitCode bill_exit;
  ChargeState charge_state;
  Settled settled;  ///< as billing::Notify::settled
};
[[nodiscard]] const StatusRow& status_row(ObligationStatus status) noexcept;

/// Exit code of the verb `refund` for the state of its refund.
[[nodiscard]] ExitCode refund_exit(RefundStatus status) noexcept;

/// Kinds of problem documents (RFC 9457).
enum class ProblemKind : std::uint8_t {
  bad_request,
  unauthorized,
  forbidden,
  declined,
  uncollectible,
  spend_cap_exceeded,
  not_found,
  no_such_route,
  method_not_allowed,
  request_in_progress,
  obligation_conflict,
  period_granularity,
  period_not_begun,
  entity_quarantined,
  run_conflict,
  not_possible,       ///< the obligation's state or the policy forbids the command
  refund_exceeds,     ///< more than is left of the charge
  refund_failed,      ///< the provider certainly did not give the money back
  signature_invalid,  ///< of a webhook
  other_mode,         ///< an event of live mode at a test node, or the other way round
  body_too_large,
  key_reused,
  internal,
  store_uncertain,  ///< the store did not say whether it recorded the request
  not_ready,        ///< starting, draining, store down
  busy,             ///< a bounded queue is full
};
struct ProblemRow {
  ProblemKind kind;
  std::string_view slug;  ///< last part of the problem's type
  std::string_view code;  ///< `OW####`; permanent
  std::string_view title;
  int http_status;
  Retryable retryable;
  ExitCode exit;
};
[[nodiscard]] const ProblemRow& problem_row(ProblemKind kind) noexcept;
[[nodiscard]] std::span<const ProblemRow> problem_table() noexcept;

/// A problem document as its reader sees it; texts are empty where the answer had none.
struct ReceivedProblem {
  int http_status = 0;
  std::string_view code;
  std::string_view charge_state;
};
/// Its exit code: by the code, else by the HTTP status alone. A 5xx that does not say `none` about
/// the money is `unknown`.
[[nodiscard]] ExitCode exit_of_problem(const ReceivedProblem& problem) noexcept;

}  // namespace onceward::ingress
