// PlanStore: snapshots of customer sources for billing runs: sorted, duplicate-free, immutable,
// identified by a hash over their content. Memory does not grow with the number of rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onceward/core/obligation.hpp>

namespace onceward::journal {

/// One customer and purpose of a plan. `skip_reason` non-empty: listed but not billed
/// (e.g. "no_payment_method").
struct PlanRow {
  CustomerId customer;
  Purpose purpose;
  Money amount;
  PaymentMethod payment_method;        ///< empty if absent
  ProviderCustomer provider_customer;  ///< defaults to the customer id
  std::string anchor;                  ///< as given: `YYYY-MM-DD[@Area/City]` or empty
  std::string skip_reason;

  friend bool operator==(const PlanRow&, const PlanRow&) = default;
};

/// Sum of one currency over the rows that will be billed.
struct PlanTotal {
  Currency currency;
  std::int64_t amount_minor = 0;

  friend bool operator==(const PlanTotal&, const PlanTotal&) = default;
};

/// What `runs plan` shows.
struct PlanSummary {
  std::string hash;  ///< 32 hex digits over period and all rows in order
  BillingPeriod period;
  Timestamp created_at;
  std::uint64_t customers = 0;  ///< rows
  std::uint64_t to_bill = 0;
  std::map<std::string, std::uint64_t> skipped;  ///< by reason
  std::vector<PlanTotal> totals;                 ///< ordered by currency

  friend bool operator==(const PlanSummary&, const PlanSummary&) = default;
};

/// Position after a row of a plan; empty customer: the start.
struct PlanCursor {
  CustomerId customer;
  Purpose purpose;

  friend bool operator==(const PlanCursor&, const PlanCursor&) = default;
  friend auto operator<=>(const PlanCursor&, const PlanCursor&) = default;
};

/// Takes rows in any order; nothing is visible before finish(). Destroyed unfinished: nothing stays
/// (leftovers of a crash are removed when the next plan is begun).
class PlanWriter {
 public:
  virtual ~PlanWriter() = default;
  /// `conflict` naming customer and purpose if the pair was added before.
  [[nodiscard]] virtual Result<Unit> add(const PlanRow& row) = 0;
  /// Makes the plan durable and visible. An equal plan (same hash) that exists is returned instead.
  [[nodiscard]] virtual Result<PlanSummary> finish() = 0;
};

/// A row of a plan with the obligation it led to, for the completeness report.
struct PlannedOutcome {
  PlanRow row;
  std::optional<ObligationRow> obligation;
};

/// One thread at a time; blocks on disk; works beside the journal's writer and readers.
class PlanStore {
 public:
  virtual ~PlanStore() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<PlanWriter>> begin(const BillingPeriod& period,
                                                                  Timestamp now) = 0;
  /// not_found if there is no plan with this hash. At least 8 leading hex digits identify a plan if
  /// unambiguous.
  [[nodiscard]] virtual Result<PlanSummary> find(std::string_view hash) = 0;
  /// Rows after the cursor in (customer, purpose) order, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<PlanRow>> read(std::string_view hash,
                                                          const PlanCursor& after,
                                                          std::size_t limit) = 0;
  /// The same joined with obligation rows: one query per call.
  [[nodiscard]] virtual Result<std::vector<PlannedOutcome>> outcomes(std::string_view hash,
                                                                     const PlanCursor& after,
                                                                     std::size_t limit) = 0;
  /// Obligations of the plan counted by status, and planned rows without an obligation, in one
  /// query.
  struct Tally {
    std::map<ObligationStatus, std::uint64_t> by_status;
    std::uint64_t without_obligation = 0;
    std::uint64_t skipped = 0;
  };
  [[nodiscard]] virtual Result<Tally> tally(std::string_view hash) = 0;
};

}  // namespace onceward::journal
