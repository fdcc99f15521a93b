// What the parts of one open SQLite store share inside a process. Private to journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <onceward/core/error.hpp>
#include <onceward/core/sequence_nr.hpp>

namespace onceward::journal::sqlite {

/// Owned by the SqliteJournal; its readers and plan stores hold references and end before it.
struct Shared {
  explicit Shared(std::uint32_t shards) : epochs(shards) {}

  // Thread-safe.
  /// A commit failed and no barrier has succeeded since: what cannot be decided is not read.
  std::atomic<bool> is_uncertain{false};
  /// The epochs that this process took, by shard. A reader gives these to recoveries, never those
  /// of the store: another node may have taken the shard since.
  std::vector<std::atomic<std::uint64_t>> epochs;

  /// Held over every write transaction of this process. SQLite's own waiting sleeps between tries,
  /// which would cost the journal milliseconds for each chunk of a plan.
  std::mutex write_turn;

  std::mutex plans_mutex;
  /// Guarded by plans_mutex: unfinished plans that have a living writer.
  std::set<std::int64_t> plans_in_work;
};

/// store_uncertain while a barrier is pending; a read-only store has no Shared and no doubt.
[[nodiscard]] inline std::optional<Error> doubt_of(const Shared* shared) {
  if (shared == nullptr || !shared->is_uncertain.load(std::memory_order_acquire)) {
    return std::nullopt;
  }
  return Error{ErrorCode::store_uncertain,
               "a commit was not answered and the barrier is pending: read after it"};
}

}  // namespace onceward::journal::sqlite
