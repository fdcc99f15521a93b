// Plans for runs: from customer files into the plan store, and what several plans of a period sum
// up to. Private to the run service.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <onceward/billing/run.hpp>
#include <onceward/journal/plan_store.hpp>

namespace onceward::ingress {

/// Plans a text. Errors as RunService::plan.
[[nodiscard]] Result<journal::PlanSummary> plan_text(journal::PlanStore& store,
                                                     const BillingPeriod& period, Timestamp now,
                                                     std::string_view csv, std::string_view source);
/// Plans a file, read in pieces; conflict if it changes while it is read.
[[nodiscard]] Result<journal::PlanSummary> plan_file(journal::PlanStore& store,
                                                     const BillingPeriod& period, Timestamp now,
                                                     const std::string& path);

[[nodiscard]] billing::ApprovedPlan to_approved(const journal::PlanSummary& plan);

/// Sums per currency over the union of plans: each (customer, purpose) counts once per currency,
/// with the largest amount that any plan bills. Reads the plans in pieces.
[[nodiscard]] Result<std::vector<Money>> union_totals(journal::PlanStore& store,
                                                      const std::vector<billing::PlanHash>& plans);

}  // namespace onceward::ingress
