// Looking at the row of an obligation: once, or again and again until it is settled or time is up.
// Reads rows only; activates nobody.
#pragma once

#include <functional>
#include <optional>

#include "ingress/http/services.hpp"

namespace onceward::ingress {

struct RowLook {
  std::optional<ObligationRow> row;
  std::optional<journal::Quarantined> quarantined;  ///< of the customer's entity
  std::vector<RefundRow> refunds;                   ///< of the obligation

  /// True if waiting longer could not change the answer soon: also for a quarantined entity.
  [[nodiscard]] bool is_settled() const;
};
[[nodiscard]] Result<RowLook> look_at(journal::JournalReader& reader, const ObligationKey& key);

struct Watch {
  ObligationKey key;
  std::int64_t until_boottime_ms = 0;
};
/// The absence of a row ends the watch at once.
/// Called once, on a reader thread or, if no more watches are possible, on the caller's.
using WatchDone = std::function<void(Result<RowLook>)>;
void watch_row(Services& services, const Watch& watch, WatchDone done);

}  // namespace onceward::ingress
