// Words of a billing run: its identity, the rows of its plan, its status and what became of rows
// that led to no obligation. A run is (period, plan hash); the plan is an immutable snapshot.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/obligation.hpp>
#include <onceward/core/strong.hpp>

namespace onceward::billing {

/// Hash of a plan's content: 32 lower-case hex digits, made by the plan store.
using PlanHash = Strong<struct PlanHashTag, std::string>;
/// Name of a run for people and addresses: `<period>-<first 16 digits of the plan hash>`.
using RunId = Strong<struct RunIdTag, std::string>;
/// Runs of one scheduler count 1, 2, ... in the order of their start; stored in events.
using RunNr = Strong<struct RunNrTag, std::uint32_t>;

[[nodiscard]] RunId run_id_of(const BillingPeriod& period, const PlanHash& plan);

/// Plans are counted in 32 bits; a longer one is refused at the start of its run.
inline constexpr std::uint64_t plan_rows_max = 0xffff'ffffULL;

/// Place of a row in the order of its plan. `ordinal` counts from 1; the default is the place
/// before the first row. The key is what the plan store continues from.
struct PlanPosition {
  std::uint64_t ordinal = 0;
  CustomerId customer;
  Purpose purpose;

  friend bool operator==(const PlanPosition&, const PlanPosition&) = default;
};

/// A row of a plan as the scheduler needs it.
struct RunRow {
  CustomerId customer;
  Purpose purpose;
  Money amount;
  PaymentMethod payment_method;
  ProviderCustomer provider_customer;
  /// False: the plan lists the row with a reason why it is not billed.
  bool billable = true;
  /// Of the obligation row, if one exists.
  std::optional<ObligationStatus> status;

  friend bool operator==(const RunRow&, const RunRow&) = default;
};

/// What an operator approves by starting a run.
struct ApprovedPlan {
  PlanHash plan;
  BillingPeriod period;
  std::uint64_t customers = 0;  ///< rows
  std::uint64_t to_bill = 0;    ///< rows that are not skipped
  std::map<std::string, std::uint64_t> skipped;
  std::vector<Money> totals;  ///< of the rows to bill, ordered by currency

  friend bool operator==(const ApprovedPlan&, const ApprovedPlan&) = default;
};

enum class RunStatus : std::uint8_t {
  running,
  paused,     ///< asks nobody; what was asked goes on
  completed,  ///< every row has an outcome and none is in progress
  cancelled,  ///< asks nobody; only an explicit resume takes it up again
};
[[nodiscard]] std::string_view to_text(RunStatus status) noexcept;
/// Running or paused: keeps another run of the same period out.
[[nodiscard]] bool is_active(RunStatus status) noexcept;

/// Why a planned row has no obligation of its own from this run. Names are stored as text.
enum class RunOutcome : std::uint8_t {
  conflict,          ///< another amount, currency or provider customer is recorded
  granularity,       ///< the purpose is billed by another granularity of period
  period_not_begun,  ///< the customer's period has not begun
  not_billable,      ///< the plan says why; never stored in a run
  quarantined,       ///< the customer's entity is quarantined
  refused,           ///< refused before anything was recorded
};
inline constexpr std::array<RunOutcome, 6> all_run_outcomes = {
    RunOutcome::conflict,     RunOutcome::granularity, RunOutcome::period_not_begun,
    RunOutcome::not_billable, RunOutcome::quarantined, RunOutcome::refused};
[[nodiscard]] std::string_view to_text(RunOutcome outcome) noexcept;
[[nodiscard]] Result<RunOutcome> parse_run_outcome(std::string_view text);

/// A row with such an outcome.
struct ExceptionalRow {
  PlanPosition row;
  RunOutcome outcome = RunOutcome::refused;

  friend bool operator==(const ExceptionalRow&, const ExceptionalRow&) = default;
};

/// The request id of a planned row: the first 32 hex digits of SHA-256 over the netstrings of
/// (cycle, customer, period, purpose). The same from every incarnation, run and plan.
[[nodiscard]] RequestId run_request_id(std::string_view cycle, const ObligationKey& key);

}  // namespace onceward::billing
