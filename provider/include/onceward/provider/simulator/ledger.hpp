// The simulated provider's ledger: one row per committed money movement, append-only, charges and
// refunds apart. It is the judge of every test about money: what it lists has happened, whatever a
// client was told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>

namespace onceward::provider::simulator {

/// One successful charge, or one successful refund. Text that the request did not carry is empty.
struct LedgerRow {
  std::uint64_t seq = 0;   ///< 1, 2, ... without gaps
  Timestamp at;            ///< provider time of the commit
  std::string name_space;  ///< metadata onceward_namespace
  std::string customer;    ///< metadata onceward_customer, else the provider's customer id
  std::string period;      ///< metadata onceward_period
  std::string purpose;     ///< metadata onceward_purpose
  std::string payment_intent;
  std::string charge;
  std::int64_t amount = 0;  ///< minor units, as on the wire
  std::string currency;
  std::string key;      ///< idempotency key of the request that moved this money
  std::string request;  ///< Request-Id of that request
  std::string status;   ///< "succeeded"
  std::string refund;   ///< id of the refund; empty in the row of a charge

  friend bool operator==(const LedgerRow&, const LedgerRow&) = default;
};

/// One group of rows that has more than the allowed number.
struct LedgerOffender {
  std::vector<std::string> group;  ///< values of the fields grouped by, in their order
  std::vector<std::string> charges;
};

/// Append-only; single-threaded like the provider that owns it.
class Ledger {
 public:
  /// Gives the row its `seq` and keeps it.
  const LedgerRow& append(LedgerRow row);
  /// The same for money that went back: `seq` counts the refunds by themselves; namespace,
  /// customer, period, purpose, intent and charge are those of the charge.
  const LedgerRow& append_refund(LedgerRow row);
  /// Takes a stored row of either kind with its `seq`; store_corrupt when it is not the next one.
  [[nodiscard]] Result<Unit> restore(LedgerRow row);
  void clear() {
    rows_.clear();
    refunds_.clear();
  }

  /// Charges only; so do find() and groups_above().
  [[nodiscard]] const std::vector<LedgerRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] const std::vector<LedgerRow>& refunds() const noexcept { return refunds_; }
  /// Rows of one customer (onceward_customer) and period; empty text matches all.
  [[nodiscard]] std::vector<LedgerRow> find(std::string_view customer,
                                            std::string_view period) const;

  /// Groups rows by `fields` (names of LedgerRow's JSON members, e.g. customer, period, purpose)
  /// and lists every group with more than `max` rows, ordered by its values. invalid_argument for
  /// an unknown field or none.
  [[nodiscard]] Result<std::vector<LedgerOffender>> groups_above(
      const std::vector<std::string>& fields, std::size_t max) const;

 private:
  std::vector<LedgerRow> rows_;
  std::vector<LedgerRow> refunds_;
};

}  // namespace onceward::provider::simulator
