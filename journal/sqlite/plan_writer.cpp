// Chunks keep the write lock for a few milliseconds only, so the journal's groups pass in between.
#include "journal/sqlite/plan_writer.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "journal/json_text.hpp"
#include "journal/sqlite/connecting.hpp"
#include "journal/sqlite/plan_fold.hpp"
#include "journal/sqlite/query.hpp"

namespace onceward::journal::sqlite {
namespace {

constexpr std::size_t chunk_rows = 500;
// Chunks need not survive a crash; the finish syncs the log, and with it all of them.
constexpr const char* unsynced = "PRAGMA synchronous = NORMAL";
constexpr const char* synced = "PRAGMA synchronous = FULL";

/// One transaction of a plan; rolled back unless the body and the commit succeed.
template <class Body>
Result<Unit> transact(SqliteConnection& connection, Shared& shared, Body body) {
  const std::lock_guard turn(shared.write_turn);
  if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun.has_value()) return begun;
  auto outcome = body();
  if (outcome.has_value()) outcome = connection.execute("COMMIT");
  if (!outcome.has_value() && connection.is_in_transaction()) {
    (void)connection.execute("ROLLBACK");  // the first error counts
  }
  return outcome;
}

template <class... Values>
Result<Unit> run(SqliteConnection& connection, std::string_view sql, const Values&... values) {
  const auto statement = connection.cached(sql);
  if (!statement.has_value()) return Unexpected{statement.error()};
  return (*statement)->bind(values...).run();
}

/// Deletes a plan that was never finished, in chunks.
Result<Unit> remove_unfinished(SqliteConnection& connection, Shared& shared, std::int64_t plan) {
  for (bool is_last = false; !is_last;) {
    auto removed = transact(connection, shared, [&]() -> Result<Unit> {
      auto chunk = run(connection,
                       "DELETE FROM plan_rows WHERE plan = ?1 AND (customer, purpose) < "
                       "(SELECT customer, purpose FROM plan_rows WHERE plan = ?1 "
                       "ORDER BY customer, purpose LIMIT 1 OFFSET ?2)",
                       plan, chunk_rows);
      is_last = connection.changes() == 0;
      if (!chunk.has_value() || !is_last) return chunk;
      auto rest = run(connection, "DELETE FROM plan_rows WHERE plan = ?1", plan);
      if (!rest.has_value()) return rest;
      return run(connection, "DELETE FROM plans WHERE id = ?1 AND hash IS NULL", plan);
    });
    if (!removed.has_value()) return removed;
  }
  return ok();
}

class SqlitePlanWriter final : public PlanWriter {
 public:
  SqlitePlanWriter(SqliteConnection connection, Shared& shared, BillingPeriod period,
                   std::int64_t plan)
      : connection_(std::move(connection)),
        shared_(shared),
        period_(std::move(period)),
        plan_(plan) {}

  ~SqlitePlanWriter() override {
    // What cannot be removed now has no hash and is removed when the next plan is begun.
    if (!is_finished_) (void)remove_unfinished(connection_, shared_, plan_);
    const std::lock_guard guard(shared_.plans_mutex);
    shared_.plans_in_work.erase(plan_);
  }

  Result<Unit> add(const PlanRow& row) override;
  Result<PlanSummary> finish() override;

 private:
  using Pair = std::pair<std::string, std::string>;

  Result<bool> is_known(const PlanRow& row);
  Result<Unit> write_chunk();
  Result<Unit> publish(const PlanFold& fold, const std::string& hash, bool& is_new);

  SqliteConnection connection_;
  Shared& shared_;
  const BillingPeriod period_;
  const std::int64_t plan_;
  std::map<Pair, PlanRow> chunk_;
  bool is_finished_ = false;
};

Result<bool> SqlitePlanWriter::is_known(const PlanRow& row) {
  if (chunk_.contains({row.customer.value(), row.purpose.value()})) return true;
  bool found = false;
  auto read = for_each_row(
      connection_, "SELECT 1 FROM plan_rows WHERE plan = ?1 AND customer = ?2 AND purpose = ?3",
      [&](const SqliteStatement&) -> Result<Go> {
        found = true;
        return Go::stop;
      },
      plan_, row.customer.value(), row.purpose.value());
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return found;
}

Result<Unit> SqlitePlanWriter::add(const PlanRow& row) {
  ONCEWARD_CHECK(!is_finished_, "a plan takes no row after it was finished");
  for (const std::string_view text : {std::string_view(row.customer.value()),
                                      {row.purpose.value()},
                                      {row.payment_method.value()},
                                      {row.provider_customer.value()},
                                      {row.anchor},
                                      {row.skip_reason}}) {
    if (!is_stored_text(text)) {
      return fail(ErrorCode::invalid_argument, "a row of the plan holds text that is not UTF-8");
    }
  }
  const auto known = is_known(row);
  if (!known.has_value()) return Unexpected{known.error()};
  if (*known) {
    return fail(ErrorCode::conflict, "customer " + row.customer.value() + " with purpose " +
                                         row.purpose.value() + " is in the plan already");
  }
  chunk_.emplace(Pair{row.customer.value(), row.purpose.value()}, row);
  return chunk_.size() < chunk_rows ? Result<Unit>(ok()) : write_chunk();
}

Result<Unit> SqlitePlanWriter::write_chunk() {
  auto written = transact(connection_, shared_, [&]() -> Result<Unit> {
    for (const auto& [pair, row] : chunk_) {
      auto inserted = run(
          connection_, "INSERT INTO plan_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", plan_,
          row.customer.value(), row.purpose.value(), row.amount.minor, row.amount.currency.text(),
          row.payment_method.value(), row.provider_customer.value(), row.anchor, row.skip_reason);
      if (!inserted.has_value()) return inserted;
    }
    return ok();
  });
  if (written.has_value()) chunk_.clear();
  return written;
}

Result<PlanSummary> SqlitePlanWriter::finish() {
  ONCEWARD_CHECK(!is_finished_, "a plan is finished once");
  if (auto written = write_chunk(); !written.has_value()) {
    return Unexpected{std::move(written).error()};
  }
  const auto folded = fold_plan(connection_, plan_, period_);
  if (!folded.has_value()) return Unexpected{folded.error()};
  const PlanFold& fold = *folded;

  const std::string hash = fold.hash();
  if (auto set = connection_.execute(synced); !set.has_value()) {
    return Unexpected{std::move(set).error()};
  }
  bool is_new = false;
  auto published = transact(connection_, shared_, [&] { return publish(fold, hash, is_new); });
  if (!published.has_value()) return Unexpected{std::move(published).error()};
  is_finished_ = is_new;  // an equal plan exists: ours goes with this writer
  return read_summary(connection_, hash);
}

Result<Unit> SqlitePlanWriter::publish(const PlanFold& fold, const std::string& hash,
                                       bool& is_new) {
  is_new = true;
  auto looked = for_each_row(
      connection_, "SELECT 1 FROM plans WHERE hash = ?1",
      [&](const SqliteStatement&) -> Result<Go> {
        is_new = false;
        return Go::stop;
      },
      hash);
  if (!looked.has_value() || !is_new) return looked;
  for (const auto& [currency, amount] : fold.totals) {
    auto written = run(connection_, "INSERT INTO plan_totals VALUES (?1, ?2, ?3)", plan_,
                       currency.text(), amount);
    if (!written.has_value()) return written;
  }
  for (const auto& [reason, customers] : fold.skipped) {
    auto written =
        run(connection_, "INSERT INTO plan_skips VALUES (?1, ?2, ?3)", plan_, reason, customers);
    if (!written.has_value()) return written;
  }
  return run(connection_,
             "UPDATE plans SET hash = ?2, customers = ?3, to_bill = ?4, "
             "digest = row_digest(?2, period, created_at, ?3, ?4) WHERE id = ?1",
             plan_, hash, fold.customers, fold.to_bill);
}

/// Plans without a hash that no writer of this process is at work on.
Result<std::vector<std::int64_t>> abandoned(SqliteConnection& connection, Shared& shared) {
  std::vector<std::int64_t> plans;
  const std::lock_guard guard(shared.plans_mutex);
  auto read = for_each_row(connection, "SELECT id FROM plans WHERE hash IS NULL",
                           [&](const SqliteStatement& row) -> Result<Go> {
                             const std::int64_t plan = row.integer(0);
                             if (!shared.plans_in_work.contains(plan)) plans.push_back(plan);
                             return Go::on;
                           });
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return plans;
}

}  // namespace

Result<std::unique_ptr<PlanWriter>> begin_plan(const std::string& path, const std::string& vfs,
                                               Shared& shared, const BillingPeriod& period,
                                               Timestamp now) {
  auto connection = connect_writer(path, vfs, SqliteOpen::existing);
  if (!connection.has_value()) return Unexpected{std::move(connection).error()};
  if (auto set = connection->execute(unsynced); !set.has_value()) {
    return Unexpected{std::move(set).error()};
  }
  const auto leftovers = abandoned(*connection, shared);
  if (!leftovers.has_value()) return Unexpected{leftovers.error()};
  for (const std::int64_t plan : *leftovers) {
    auto removed = remove_unfinished(*connection, shared, plan);
    if (!removed.has_value()) return Unexpected{std::move(removed).error()};
  }
  // Under the mutex, so that another begin() does not take the new plan for abandoned.
  const std::lock_guard guard(shared.plans_mutex);
  auto inserted = transact(*connection, shared, [&] {
    return run(*connection,
               "INSERT INTO plans (hash, period, created_at, customers, to_bill) "
               "VALUES (NULL, ?1, ?2, 0, 0)",
               period.text(), now.ms);
  });
  if (!inserted.has_value()) return Unexpected{std::move(inserted).error()};
  const std::int64_t plan = connection->last_insert_rowid();
  shared.plans_in_work.insert(plan);
  return std::unique_ptr<PlanWriter>(
      std::make_unique<SqlitePlanWriter>(std::move(connection).value(), shared, period, plan));
}

}  // namespace onceward::journal::sqlite
