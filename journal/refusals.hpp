// Small answers and rules that every backend gives in the same words. Private to journal.
#pragma once

#include <optional>
#include <string_view>

#include <onceward/core/commit_unit.hpp>

namespace onceward::journal {

/// True until the mark's time has come.
[[nodiscard]] inline bool is_alive(const Mark& mark, Timestamp at) noexcept {
  return !mark.expires_at || *mark.expires_at > at;
}

/// The unit updates a row that was never claimed.
[[nodiscard]] Error absent_row_error(const CommitUnit& unit, const ObligationKey& key);
[[nodiscard]] Unexpected no_such_shard(ShardNr shard, std::uint32_t shards);
/// Absent if the quarantine may be stored.
[[nodiscard]] std::optional<Error> quarantine_error(const PersistenceId& id,
                                                    std::string_view reason);

}  // namespace onceward::journal
