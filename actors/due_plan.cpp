// A memory of the last few ticks.
#include "actors/due_plan.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace onceward::actors {

std::vector<PersistenceId> DuePlan::choose(std::span<const ObligationRow> rows, std::size_t room) {
  ++tick_;
  std::erase_if(woken_,
                [this](const auto& entry) { return tick_ - entry.second.tick >= patience; });
  const std::size_t most = std::min(batch_, room);
  std::size_t skipped = 0;
  std::vector<PersistenceId> chosen;
  std::unordered_set<PersistenceId> entities;
  for (const auto& row : rows) {
    if (chosen.size() == most) break;
    const Timestamp at = row.next_action_at.value_or(Timestamp{});
    const auto [woken, is_new] = woken_.try_emplace(to_display(row.key), Woken{at, tick_});
    if (!is_new && woken->second.next_action_at == at) {
      ++skipped;
      continue;
    }
    woken->second = Woken{at, tick_};
    PersistenceId id = customer_persistence_id(row.key.customer);
    if (entities.insert(id).second) chosen.push_back(std::move(id));
  }
  skipped_ = std::min(skipped, batch_ * skipped_batches_max);
  return chosen;
}

}  // namespace onceward::actors
