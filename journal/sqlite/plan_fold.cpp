// The hash of a plan, as docs/journal-format.md states it.
#include "journal/sqlite/plan_fold.hpp"

#include <array>
#include <span>

#include "journal/sqlite/plan_writer.hpp"
#include "journal/sqlite/query.hpp"

namespace onceward::journal::sqlite {
namespace {

constexpr std::size_t hash_digits = 32;

const std::string ordered_rows_sql = "SELECT " + std::string(plan_row_columns) +
                                     " FROM plan_rows r WHERE r.plan = ?1 "
                                     "ORDER BY r.customer, r.purpose";

}  // namespace

PlanFold::PlanFold(const BillingPeriod& period) {
  const std::array<std::string_view, 2> fields = {"onceward-plan/v1", period.text()};
  hash_ = sha256(netstrings(fields));
}

Result<Unit> PlanFold::take(const PlanRow& row) {
  const std::string amount = std::to_string(row.amount.minor);
  const std::array<std::string_view, 8> fields = {row.customer.value(),
                                                  row.purpose.value(),
                                                  amount,
                                                  row.amount.currency.text(),
                                                  row.payment_method.value(),
                                                  row.provider_customer.value(),
                                                  row.anchor,
                                                  row.skip_reason};
  const std::string encoded = netstrings(fields);
  const std::array<std::string_view, 2> parts = {
      {{reinterpret_cast<const char*>(hash_.bytes.data()), hash_.bytes.size()}, encoded}};
  hash_ = sha256(std::span<const std::string_view>(parts));
  ++customers;
  if (!row.skip_reason.empty()) {
    ++skipped[row.skip_reason];
    return ok();
  }
  ++to_bill;
  std::int64_t& total = totals[row.amount.currency];
  if (__builtin_add_overflow(total, row.amount.minor, &total)) {
    return fail(ErrorCode::invalid_argument, "the plan's total in " +
                                                 std::string(row.amount.currency.text()) +
                                                 " leaves 63 bits: split the source");
  }
  return ok();
}

std::string PlanFold::hash() const {
  return to_hex(hash_).substr(0, hash_digits);
}

Result<PlanFold> fold_plan(platform::SqliteConnection& connection, std::int64_t plan,
                           const BillingPeriod& period) {
  PlanFold fold(period);
  auto read = for_each_row(
      connection, ordered_rows_sql,
      [&](const platform::SqliteStatement& statement) -> Result<Go> {
        const auto row = read_plan_row(statement);
        if (!row.has_value()) return Unexpected{row.error()};
        if (auto taken = fold.take(*row); !taken.has_value()) {
          return Unexpected{std::move(taken).error()};
        }
        return Go::on;
      },
      plan);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return fold;
}

}  // namespace onceward::journal::sqlite
