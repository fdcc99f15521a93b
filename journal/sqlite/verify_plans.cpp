// Compares plans with the fold of their rows.
#include "journal/sqlite/verify_plans.hpp"

#include <vector>

#include "journal/sqlite/plan_fold.hpp"
#include "journal/sqlite/query.hpp"

namespace onceward::journal::sqlite {
namespace {

using platform::SqliteConnection;
using platform::SqliteStatement;

struct StoredPlan {
  std::int64_t id = 0;
  std::string hash;
  std::string period;
  std::uint64_t customers = 0;
  std::uint64_t to_bill = 0;
};

Result<std::vector<StoredPlan>> finished_plans(SqliteConnection& connection) {
  std::vector<StoredPlan> plans;
  auto read = for_each_row(
      connection, "SELECT id, hash, period, customers, to_bill FROM plans WHERE hash IS NOT NULL",
      [&](const SqliteStatement& row) -> Result<Go> {
        plans.push_back({row.integer(0), std::string(row.text(1)), std::string(row.text(2)),
                         static_cast<std::uint64_t>(row.integer(3)),
                         static_cast<std::uint64_t>(row.integer(4))});
        return Go::on;
      });
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return plans;
}

/// Name and number of each row, in order of the names.
Result<std::map<std::string, std::int64_t>> numbers(SqliteConnection& connection,
                                                    std::string_view sql, std::int64_t plan) {
  std::map<std::string, std::int64_t> found;
  auto read = for_each_row(
      connection, sql,
      [&](const SqliteStatement& row) -> Result<Go> {
        found[std::string(row.text(0))] = row.integer(1);
        return Go::on;
      },
      plan);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return found;
}

Result<bool> is_as_folded(SqliteConnection& connection, const StoredPlan& plan) {
  const auto period = BillingPeriod::parse(plan.period);
  if (!period.has_value()) return false;
  const auto fold = fold_plan(connection, plan.id, *period);
  if (!fold.has_value()) return Unexpected{fold.error()};
  std::map<std::string, std::int64_t> totals;
  for (const auto& [currency, minor] : fold->totals) totals[std::string(currency.text())] = minor;
  std::map<std::string, std::int64_t> skips;
  for (const auto& [reason, count] : fold->skipped) {
    skips[reason] = static_cast<std::int64_t>(count);
  }
  const auto stored_totals = numbers(
      connection, "SELECT currency, amount_minor FROM plan_totals WHERE plan = ?1", plan.id);
  if (!stored_totals.has_value()) return Unexpected{stored_totals.error()};
  const auto stored_skips =
      numbers(connection, "SELECT skip_reason, customers FROM plan_skips WHERE plan = ?1", plan.id);
  if (!stored_skips.has_value()) return Unexpected{stored_skips.error()};
  return fold->hash() == plan.hash && fold->customers == plan.customers &&
         fold->to_bill == plan.to_bill && totals == *stored_totals && skips == *stored_skips;
}

}  // namespace

Result<Unit> find_changed_plans(
    SqliteConnection& connection,
    const std::function<void(std::string where, std::string what)>& report) {
  const auto plans = finished_plans(connection);
  if (!plans.has_value()) return Unexpected{plans.error()};
  for (const StoredPlan& plan : *plans) {
    const auto same = is_as_folded(connection, plan);
    if (!same.has_value()) {
      report("plan " + plan.hash, "its rows cannot be read: " + same.error().context);
    } else if (!*same) {
      report("plan " + plan.hash, "its hash or its totals are not those of its rows");
    }
  }
  return ok();
}

}  // namespace onceward::journal::sqlite
