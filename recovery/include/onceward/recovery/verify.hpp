// Verification of everything derived against the events it is derived from: obligation rows, refund
// rows and the spend-cap ledger must equal the fold of the histories. Reads only; repairs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <onceward/billing/billing_state.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::recovery {

/// One difference; `where` names entity, row or bucket.
struct Difference {
  std::string where;
  std::string what;

  friend bool operator==(const Difference&, const Difference&) = default;
};

struct VerifyReport {
  std::uint64_t entities = 0;
  std::uint64_t events = 0;
  std::uint64_t rows = 0;
  std::uint64_t refunds = 0;
  std::vector<Difference> differences;  ///< at most differences_max; then the last says so
};
inline constexpr std::size_t differences_max = 1'000;

/// Checks all customers of the store behind the reader: each history replays (chain, order,
/// epochs), decodes and folds; each row and refund equals the fold; none is without events; caps
/// per period and currency equal the sums over the folds. `progress` is told the entities done so
/// far. Memory grows with the number of customers and periods, not with events. Blocks on disk.
[[nodiscard]] Result<VerifyReport> verify(journal::JournalReader& reader,
                                          const std::function<void(std::uint64_t)>& progress);

/// The same for one entity: its history replays, and for a customer it decodes, folds, and implies
/// exactly the rows and refunds that are stored. Empty: it may be run. Blocks on disk.
[[nodiscard]] std::vector<Difference> verify_entity(journal::JournalReader& reader,
                                                    const PersistenceId& id);

/// Whether the fold still holds a reservation of the spend cap for its present attempt.
[[nodiscard]] bool holds_reservation(const billing::ObligationState& obligation);

}  // namespace onceward::recovery
