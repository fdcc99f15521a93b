// Reading finished plans, alone and joined with the obligations they led to.
#include "journal/sqlite/plan_tables.hpp"

#include <algorithm>
#include <limits>

#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/plan_writer.hpp"
#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"

namespace onceward::journal::sqlite {
namespace {

constexpr std::size_t hash_digits = 32;
constexpr std::size_t hash_digits_min = 8;

const std::string read_sql = "SELECT " + std::string(plan_row_columns) +
                             " FROM plan_rows r WHERE r.plan = (SELECT id FROM plans WHERE "
                             "hash = ?1) AND (r.customer, r.purpose) > (?2, ?3) "
                             "ORDER BY r.customer, r.purpose LIMIT ?4";
const std::string joined_rows =
    " FROM plans p CROSS JOIN plan_rows r ON r.plan = p.id LEFT JOIN obligations o ON "
    "o.period = p.period AND o.customer = r.customer AND o.purpose = r.purpose WHERE p.hash = ?1 ";
const std::string outcomes_sql = "SELECT " + std::string(plan_row_columns) + ", " +
                                 std::string(row_columns) + joined_rows +
                                 "AND (r.customer, r.purpose) > (?2, ?3) "
                                 "ORDER BY r.customer, r.purpose LIMIT ?4";
// Without an obligation the status is NULL; whether the row was to be billed tells the rest.
const std::string tally_sql = "SELECT o.status, r.skip_reason <> '', count(*)" + joined_rows +
                              "GROUP BY o.status, r.skip_reason <> ''";

class SqlitePlanStore final : public PlanStore {
 public:
  SqlitePlanStore(SqliteConnection connection, std::string path, std::string vfs, Shared* shared)
      : connection_(std::move(connection)),
        path_(std::move(path)),
        vfs_(std::move(vfs)),
        shared_(shared) {}

  Result<std::unique_ptr<PlanWriter>> begin(const BillingPeriod& period, Timestamp now) override {
    if (shared_ == nullptr) {
      return fail(ErrorCode::invalid_argument,
                  path_ + " is open for reading only: plans are made through the node");
    }
    if (auto doubt = doubt_of(shared_)) return Unexpected{std::move(*doubt)};
    return begin_plan(path_, vfs_, *shared_, period, now);
  }

  Result<PlanSummary> find(std::string_view hash) override {
    return certain([&]() -> Result<PlanSummary> {
      return whole_hash(hash).and_then(
          [&](std::string&& whole) { return read_summary(connection_, whole); });
    });
  }
  Result<std::vector<PlanRow>> read(std::string_view hash, const PlanCursor& after,
                                    std::size_t limit) override;
  Result<std::vector<PlannedOutcome>> outcomes(std::string_view hash, const PlanCursor& after,
                                               std::size_t limit) override;
  Result<Tally> tally(std::string_view hash) override;

 private:
  template <class Read>
  std::invoke_result_t<Read> certain(Read read) {
    if (auto doubt = doubt_of(shared_)) return Unexpected{std::move(*doubt)};
    auto result = read();
    if (auto doubt = doubt_of(shared_)) return Unexpected{std::move(*doubt)};
    return result;
  }

  /// Resolves 8 to 32 leading digits to the one plan that has them.
  Result<std::string> whole_hash(std::string_view digits);

  SqliteConnection connection_;
  const std::string path_;
  const std::string vfs_;
  Shared* const shared_;
};

Result<std::string> SqlitePlanStore::whole_hash(std::string_view digits) {
  const bool is_hex = std::all_of(digits.begin(), digits.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!is_hex || digits.size() < hash_digits_min || digits.size() > hash_digits) {
    return fail(ErrorCode::not_found,
                "no plan has such a hash: give 8 to 32 of its lower-case hexadecimal digits");
  }
  std::vector<std::string> found;
  const std::string beyond = std::string(digits) + "g";
  auto read = for_each_row(
      connection_, "SELECT hash FROM plans WHERE hash >= ?1 AND hash < ?2 LIMIT 2",
      [&](const SqliteStatement& row) -> Result<Go> {
        found.emplace_back(row.text(0));
        return Go::on;
      },
      digits, beyond);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  if (found.empty()) return fail(ErrorCode::not_found, "no plan " + std::string(digits));
  if (found.size() > 1) {
    return fail(ErrorCode::invalid_argument,
                "several plans begin with " + std::string(digits) + ": give more digits");
  }
  return found.front();
}

Result<std::vector<PlanRow>> SqlitePlanStore::read(std::string_view hash, const PlanCursor& after,
                                                   std::size_t limit) {
  return certain([&]() -> Result<std::vector<PlanRow>> {
    const auto whole = whole_hash(hash);
    if (!whole.has_value()) return Unexpected{whole.error()};
    std::vector<PlanRow> rows;
    auto read = for_each_row(
        connection_, read_sql,
        [&](const SqliteStatement& statement) -> Result<Go> {
          auto row = read_plan_row(statement);
          if (!row.has_value()) return Unexpected{std::move(row).error()};
          rows.push_back(std::move(row).value());
          return Go::on;
        },
        *whole, after.customer.value(), after.purpose.value(), limit);
    if (!read.has_value()) return Unexpected{std::move(read).error()};
    return rows;
  });
}

Result<std::vector<PlannedOutcome>> SqlitePlanStore::outcomes(std::string_view hash,
                                                              const PlanCursor& after,
                                                              std::size_t limit) {
  return certain([&]() -> Result<std::vector<PlannedOutcome>> {
    const auto whole = whole_hash(hash);
    if (!whole.has_value()) return Unexpected{whole.error()};
    std::vector<PlannedOutcome> outcomes;
    auto read = for_each_row(
        connection_, outcomes_sql,
        [&](const SqliteStatement& statement) -> Result<Go> {
          auto row = read_plan_row(statement);
          if (!row.has_value()) return Unexpected{std::move(row).error()};
          PlannedOutcome& outcome =
              outcomes.emplace_back(PlannedOutcome{std::move(row).value(), std::nullopt});
          if (statement.is_null(plan_row_column_count)) return Go::on;
          auto obligation = read_row(statement, plan_row_column_count);
          if (!obligation.has_value()) return Unexpected{std::move(obligation).error()};
          outcome.obligation = std::move(obligation).value();
          return Go::on;
        },
        *whole, after.customer.value(), after.purpose.value(), limit);
    if (!read.has_value()) return Unexpected{std::move(read).error()};
    return outcomes;
  });
}

Result<PlanStore::Tally> SqlitePlanStore::tally(std::string_view hash) {
  return certain([&]() -> Result<Tally> {
    const auto whole = whole_hash(hash);
    if (!whole.has_value()) return Unexpected{whole.error()};
    Tally tally;
    auto read = for_each_row(
        connection_, tally_sql,
        [&](const SqliteStatement& row) -> Result<Go> {
          const auto count = static_cast<std::uint64_t>(row.integer(2));
          if (row.is_null(0)) {
            (row.integer(1) != 0 ? tally.skipped : tally.without_obligation) += count;
            return Go::on;
          }
          const auto status = parse_obligation_status(row.text(0));
          if (!status.has_value()) {
            return fail(ErrorCode::store_corrupt, "obligations: " + status.error().context);
          }
          tally.by_status[*status] += count;
          return Go::on;
        },
        *whole);
    if (!read.has_value()) return Unexpected{std::move(read).error()};
    return tally;
  });
}

}  // namespace

Result<PlanRow> read_plan_row(const platform::SqliteStatement& row) {
  const auto currency = Currency::parse(row.text(3));
  if (!currency.has_value()) {
    return fail(ErrorCode::store_corrupt, "plan row of customer " + std::string(row.text(0)) +
                                              ": " + currency.error().context);
  }
  const auto text = [&](int column) { return std::string(row.text(column)); };
  return PlanRow{CustomerId(text(0)),
                 Purpose(text(1)),
                 Money{row.integer(2), *currency},
                 PaymentMethod(text(4)),
                 ProviderCustomer(text(5)),
                 text(6),
                 text(7)};
}

Result<PlanSummary> read_summary(platform::SqliteConnection& connection,
                                 std::string_view whole_hash) {
  std::optional<PlanSummary> summary;
  std::int64_t plan = 0;
  auto read = for_each_row(
      connection, "SELECT id, period, created_at, customers, to_bill FROM plans WHERE hash = ?1",
      [&](const SqliteStatement& row) -> Result<Go> {
        auto period = BillingPeriod::parse(row.text(1));
        if (!period.has_value()) {
          return fail(ErrorCode::store_corrupt, "plan: " + period.error().context);
        }
        plan = row.integer(0);
        summary = PlanSummary{std::string(whole_hash),
                              std::move(period).value(),
                              Timestamp{row.integer(2)},
                              static_cast<std::uint64_t>(row.integer(3)),
                              static_cast<std::uint64_t>(row.integer(4)),
                              {},
                              {}};
        return Go::stop;
      },
      whole_hash);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  if (!summary) return fail(ErrorCode::not_found, "no plan " + std::string(whole_hash));
  read = for_each_row(
      connection, "SELECT skip_reason, customers FROM plan_skips WHERE plan = ?1",
      [&](const SqliteStatement& row) -> Result<Go> {
        summary->skipped.emplace(row.text(0), static_cast<std::uint64_t>(row.integer(1)));
        return Go::on;
      },
      plan);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  read = for_each_row(
      connection,
      "SELECT currency, amount_minor FROM plan_totals WHERE plan = ?1 ORDER BY currency",
      [&](const SqliteStatement& row) -> Result<Go> {
        const auto currency = Currency::parse(row.text(0));
        if (!currency.has_value()) {
          return fail(ErrorCode::store_corrupt, "plan total: " + currency.error().context);
        }
        summary->totals.push_back({*currency, row.integer(1)});
        return Go::on;
      },
      plan);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return std::move(*summary);
}

Result<std::unique_ptr<PlanStore>> make_plan_store(const std::string& path, const std::string& vfs,
                                                   Shared* shared) {
  auto connection = connect_reader(path, vfs);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  return std::unique_ptr<PlanStore>(
      std::make_unique<SqlitePlanStore>(std::move(connection).value(), path, vfs, shared));
}

}  // namespace onceward::journal::sqlite
