// The arithmetic of the spend cap: what a unit's limits and operations do to the ledger, or why the
// unit is refused. One place for all backends; they only look up and write. Private to journal.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <onceward/core/commit_unit.hpp>

namespace onceward::journal {

/// What is booked for one (obligation, attempt).
struct CapReservation {
  enum class State : std::uint8_t { reserved, settled };
  State state = State::reserved;
  Money amount;

  friend bool operator==(const CapReservation&, const CapReservation&) = default;
};

/// Booked amounts of one bucket, in minor units of its currency.
struct CapSum {
  std::int64_t reserved_minor = 0;
  std::int64_t settled_minor = 0;

  friend bool operator==(const CapSum&, const CapSum&) = default;
};

/// What the ledger holds before the unit. An empty customer is the total of the period.
class CapLookup {
 public:
  virtual ~CapLookup() = default;
  [[nodiscard]] virtual Result<std::optional<CapReservation>> reservation(
      const ObligationKey& key, std::uint32_t attempt) = 0;
  [[nodiscard]] virtual Result<std::optional<std::int64_t>> limit(const BillingPeriod& period,
                                                                  const CustomerId& customer,
                                                                  const Currency& currency) = 0;
  [[nodiscard]] virtual Result<CapSum> use(const BillingPeriod& period, const CustomerId& customer,
                                           const Currency& currency) = 0;
};

/// What the unit changes. Pointers lead into the unit.
struct CapChanges {
  struct Reservation {
    const ObligationKey* key = nullptr;
    std::uint32_t attempt = 0;
    std::optional<CapReservation> before;
    std::optional<CapReservation> now;
  };
  struct Total {
    const BillingPeriod* period = nullptr;
    Currency currency;
    CapSum now;
  };
  std::vector<Reservation> reservations;
  std::vector<Total> totals;
};

using CapPlan = std::variant<CapChanges, CapRefused, InvalidUnit>;

/// Sets the unit's limits first, then runs its operations in order. Changes nothing itself. The
/// error alternative is a failed look-up.
[[nodiscard]] Result<CapPlan> plan_caps(const CommitUnit& unit, CapLookup& ledger);

}  // namespace onceward::journal
