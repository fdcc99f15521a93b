// Names, ids and request ids of billing runs.
#include <onceward/billing/run.hpp>

#include <array>

#include <onceward/core/digest.hpp>

namespace onceward::billing {

namespace {
constexpr std::size_t run_id_digits = 16;
constexpr std::size_t request_id_digits = 32;
}  // namespace

RunId run_id_of(const BillingPeriod& period, const PlanHash& plan) {
  return RunId{period.text() + "-" + plan.value().substr(0, run_id_digits)};
}

std::string_view to_text(RunStatus status) noexcept {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::paused:
      return "paused";
    case RunStatus::completed:
      return "completed";
    case RunStatus::cancelled:
      return "cancelled";
  }
  check_failed("status", __FILE__, __LINE__, "a RunStatus is one of its enumerators");
}

bool is_active(RunStatus status) noexcept {
  return status == RunStatus::running || status == RunStatus::paused;
}

std::string_view to_text(RunOutcome outcome) noexcept {
  switch (outcome) {
    case RunOutcome::conflict:
      return "conflict";
    case RunOutcome::granularity:
      return "granularity";
    case RunOutcome::period_not_begun:
      return "period_not_begun";
    case RunOutcome::not_billable:
      return "not_billable";
    case RunOutcome::quarantined:
      return "quarantined";
    case RunOutcome::refused:
      return "refused";
  }
  check_failed("outcome", __FILE__, __LINE__, "a RunOutcome is one of its enumerators");
}

Result<RunOutcome> parse_run_outcome(std::string_view text) {
  for (const RunOutcome outcome : all_run_outcomes) {
    if (to_text(outcome) == text) return outcome;
  }
  return fail(ErrorCode::invalid_argument, "no outcome of a run has this name");
}

RequestId run_request_id(std::string_view cycle, const ObligationKey& key) {
  const std::array<std::string_view, 4> fields = {cycle, key.customer.value(), key.period.text(),
                                                  key.purpose.value()};
  return RequestId{to_hex(sha256(netstrings(fields))).substr(0, request_id_digits)};
}

}  // namespace onceward::billing
