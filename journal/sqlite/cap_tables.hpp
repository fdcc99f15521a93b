// The spend-cap ledger in its tables, with the totals of a period kept at hand between groups: all
// bills of a run book on the same one. Private to journal.
#pragma once

#include <string>
#include <vector>

#include "journal/cap_book.hpp"
#include "journal/sqlite/writer_statements.hpp"

namespace onceward::journal::sqlite {

/// Valid only inside the writer's transactions; forget() whenever the store may have changed
/// otherwise.
class CapTables final : public CapLookup {
 public:
  explicit CapTables(const WriterStatements& statements) : statements_(statements) {}

  Result<std::optional<CapReservation>> reservation(const ObligationKey& key,
                                                    std::uint32_t attempt) override;
  Result<std::optional<std::int64_t>> limit(const BillingPeriod& period, const CustomerId& customer,
                                            const Currency& currency) override;
  Result<CapSum> use(const BillingPeriod& period, const CustomerId& customer,
                     const Currency& currency) override;

  /// Writes limits and reservations at once; totals wait for flush().
  [[nodiscard]] Result<Unit> write(const CommitUnit& unit, const CapChanges& changes);
  /// Writes the changed totals; once per group.
  [[nodiscard]] Result<Unit> flush();
  void forget() { totals_.clear(); }

 private:
  /// Totals kept; beyond it they are read again.
  static constexpr std::size_t totals_max = 64;

  struct Total {
    std::string period;
    Currency currency;
    CapSum sum;
    std::optional<std::int64_t> limit;
    bool has_customer_limits = false;
    bool is_changed = false;
  };

  /// The kept total, read from its tables if needed. Valid until the next call.
  [[nodiscard]] Result<Total*> total(const BillingPeriod& period, const Currency& currency);
  [[nodiscard]] Result<std::optional<std::int64_t>> stored_limit(const std::string& period,
                                                                 const Currency& currency,
                                                                 const std::string& customer);
  [[nodiscard]] Result<Unit> write_limit(const CapLimit& limit);
  [[nodiscard]] Result<Unit> write_reservation(const CapChanges::Reservation& entry);

  WriterStatements statements_;
  std::vector<Total> totals_;
};

}  // namespace onceward::journal::sqlite
