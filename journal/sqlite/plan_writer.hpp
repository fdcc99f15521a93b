// The writing of one plan: rows in chunks of their own transactions, then hash and totals in one
// that makes the plan visible. Private to journal.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <onceward/journal/plan_store.hpp>
#include <onceward/platform/sqlite.hpp>

#include "journal/sqlite/shared.hpp"

namespace onceward::journal::sqlite {

/// Starts a plan and removes what crashed writers left behind.
[[nodiscard]] Result<std::unique_ptr<PlanWriter>> begin_plan(const std::string& path,
                                                             const std::string& vfs, Shared& shared,
                                                             const BillingPeriod& period,
                                                             Timestamp now);

/// The columns of `plan_rows`, named r, that read_plan_row() expects, in this order.
inline constexpr std::string_view plan_row_columns =
    "r.customer, r.purpose, r.amount_minor, r.currency, r.payment_method, r.provider_customer, "
    "r.anchor, r.skip_reason";
inline constexpr int plan_row_column_count = 8;
[[nodiscard]] Result<PlanRow> read_plan_row(const platform::SqliteStatement& row);

/// Summary of the finished plan with this hash; not_found if there is none.
[[nodiscard]] Result<PlanSummary> read_summary(platform::SqliteConnection& connection,
                                               std::string_view whole_hash);

}  // namespace onceward::journal::sqlite
