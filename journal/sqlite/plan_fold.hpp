// What is summed and hashed over the rows of a plan in their order. Private to journal.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <onceward/core/digest.hpp>
#include <onceward/journal/plan_store.hpp>
#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

class PlanFold {
 public:
  explicit PlanFold(const BillingPeriod& period);

  /// invalid_argument if a total leaves 63 bits.
  Result<Unit> take(const PlanRow& row);
  [[nodiscard]] std::string hash() const;

  std::uint64_t customers = 0;
  std::uint64_t to_bill = 0;
  std::map<std::string, std::uint64_t> skipped;
  std::map<Currency, std::int64_t> totals;

 private:
  Digest hash_;
};

/// The fold of all stored rows of a plan.
[[nodiscard]] Result<PlanFold> fold_plan(platform::SqliteConnection& connection, std::int64_t plan,
                                         const BillingPeriod& period);

}  // namespace onceward::journal::sqlite
