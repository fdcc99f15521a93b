// The table of answers; see the header. Rows are data, so that a test can walk all of them.
#include <onceward/ingress/status_table.hpp>

#include <algorithm>
#include <array>

#include <onceward/core/check.hpp>

namespace onceward::ingress {

namespace {

using S = ObligationStatus;
using C = ChargeState;
using E = ExitCode;
using K = ProblemKind;
using R = Retryable;

constexpr std::array<StatusRow, all_obligation_statuses.size()> statuses{{
    {S::in_progress, 202, E::conflict, C::pending, Settled::no},
    {S::processing, 202, E::conflict, C::pending, Settled::no},
    {S::action_required, 202, E::unknown, C::pending, Settled::yes},
    {S::unknown, 202, E::unknown, C::unknown, Settled::no},
    // Parked means that no automatic step is safe, so money may have moved.
    {S::parked, 202, E::unknown, C::unknown, Settled::yes},
    {S::rejected, 202, E::unknown, C::none, Settled::yes},
    {S::declined, 402, E::failed, C::none, Settled::yes},
    {S::capped, 403, E::capped, C::none, Settled::yes},
    {S::completed, 200, E::ok, C::charged, Settled::yes},
    {S::waived, 200, E::ok, C::none, Settled::yes},
    {S::cancelled, 200, E::failed, C::none, Settled::yes},
    {S::uncollectible, 402, E::failed, C::none, Settled::yes},
}};

constexpr std::array<ProblemRow, 26> problems{{
    {K::bad_request, "bad-request", "OW1001", "The request is not valid", 400, R::never, E::usage},
    {K::unauthorized, "unauthorized", "OW1007", "A valid token is required", 401, R::never,
     E::usage},
    {K::forbidden, "forbidden", "OW6008", "The token's role does not allow this", 403, R::never,
     E::usage},
    {K::declined, "declined", "OW6001", "The payer's side refused", 402, R::never, E::failed},
    {K::uncollectible, "uncollectible", "OW6002", "All tries were refused by the payer's side", 402,
     R::never, E::failed},
    {K::spend_cap_exceeded, "spend-cap-exceeded", "OW6003", "The spend cap refuses the amount", 403,
     R::never, E::capped},
    {K::not_found, "not-found", "OW1003", "There is no such thing", 404, R::never, E::not_found},
    {K::no_such_route, "no-such-route", "OW6009", "There is no such path", 404, R::never, E::usage},
    {K::method_not_allowed, "method-not-allowed", "OW6010", "The path does not take this method",
     405, R::never, E::usage},
    {K::request_in_progress, "request-in-progress", "OW6004",
     "A request with this key is being handled", 409, R::same_key, E::conflict},
    {K::obligation_conflict, "obligation-conflict", "OW1004",
     "Other values are recorded for this obligation", 409, R::never, E::conflict},
    {K::period_granularity, "period-granularity", "OW6005",
     "The purpose is billed by another granularity of period", 409, R::never, E::conflict},
    {K::period_not_begun, "period-not-begun", "OW6006", "The period has not begun", 409, R::after,
     E::conflict},
    {K::entity_quarantined, "entity-quarantined", "OW3004",
     "The customer's history is quarantined until an operator acts", 409, R::after, E::unknown},
    {K::run_conflict, "run-conflict", "OW6011", "The run's state does not allow this", 409,
     R::never, E::conflict},
    {K::not_possible, "not-possible", "OW6014", "The obligation's state does not allow this", 409,
     R::never, E::conflict},
    {K::refund_exceeds, "refund-exceeds-charge", "OW6015", "More than is left of the charge", 409,
     R::never, E::conflict},
    {K::refund_failed, "refund-failed", "OW6016", "The provider did not give the money back", 409,
     R::never, E::failed},
    {K::signature_invalid, "signature-invalid", "OW6017", "The signature proves no sender", 400,
     R::never, E::usage},
    {K::other_mode, "other-mode", "OW6018", "The event is of the provider's other mode", 400,
     R::never, E::usage},
    {K::body_too_large, "body-too-large", "OW6012", "The request is too large", 413, R::never,
     E::usage},
    {K::key_reused, "key-reused", "OW6007", "The key was used with another payload", 422, R::never,
     E::conflict},
    {K::internal, "internal", "OW6013", "The node failed to answer", 500, R::same_key, E::unknown},
    {K::store_uncertain, "store-uncertain", "OW2007",
     "The store did not say whether it recorded the request", 503, R::same_key, E::unknown},
    {K::not_ready, "not-ready", "OW1006", "The node takes no requests at the moment", 503, R::after,
     E::unreachable},
    {K::busy, "busy", "OW1005", "The node has too much to do", 503, R::after, E::unreachable},
}};

}  // namespace

std::string_view to_text(ChargeState state) noexcept {
  switch (state) {
    case ChargeState::none:
      return "none";
    case ChargeState::pending:
      return "pending";
    case ChargeState::unknown:
      return "unknown";
    case ChargeState::charged:
      return "charged";
  }
  return "unknown";
}

std::string_view to_text(Retryable retryable) noexcept {
  switch (retryable) {
    case Retryable::never:
      return "never";
    case Retryable::same_key:
      return "same_key";
    case Retryable::after:
      return "after";
  }
  return "never";
}

const StatusRow& status_row(ObligationStatus status) noexcept {
  const auto* row = std::find_if(statuses.begin(), statuses.end(),
                                 [&](const StatusRow& r) { return r.status == status; });
  ONCEWARD_CHECK(row != statuses.end(), "a status is missing in the table of answers");
  return *row;
}

ExitCode refund_exit(RefundStatus status) noexcept {
  switch (status) {
    case RefundStatus::in_progress:
    case RefundStatus::pending:
      return ExitCode::conflict;
    case RefundStatus::unknown:
    case RefundStatus::parked:
      return ExitCode::unknown;
    case RefundStatus::succeeded:
      return ExitCode::ok;
    case RefundStatus::failed:
      return ExitCode::failed;
  }
  return ExitCode::unknown;
}

const ProblemRow& problem_row(ProblemKind kind) noexcept {
  const auto* row = std::find_if(problems.begin(), problems.end(),
                                 [&](const ProblemRow& r) { return r.kind == kind; });
  ONCEWARD_CHECK(row != problems.end(), "a kind of problem is missing in the table of answers");
  return *row;
}

std::span<const ProblemRow> problem_table() noexcept {
  return problems;
}

ExitCode exit_of_problem(const ReceivedProblem& problem) noexcept {
  if (problem.http_status >= 500 && problem.charge_state != to_text(ChargeState::none)) {
    return ExitCode::unknown;
  }
  for (const auto& row : problems) {
    if (row.code == problem.code) return row.exit;
  }
  for (const auto& row : problems) {
    if (row.http_status == problem.http_status) return row.exit;
  }
  return ExitCode::failed;
}

}  // namespace onceward::ingress
