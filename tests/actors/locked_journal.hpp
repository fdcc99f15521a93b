// LockedJournal: any journal behind one lock, so that the memory journal can be used by writer and
// reader threads; counts what goes through and misbehaves as a test says.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include <onceward/journal/journal.hpp>
#include <onceward/journal/memory_journal.hpp>

namespace onceward::actors::testing {

/// Thread-safe.
class LockedJournal final : public journal::Journal {
 public:
  explicit LockedJournal(journal::Journal& journal) : journal_(journal) {}

  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override;
  Result<Epoch> barrier() override;
  bool barrier_pending() const noexcept override;
  Result<Epoch> raise_epoch(ShardNr shard) override;
  Epoch epoch_of(ShardNr shard) const noexcept override;
  Result<Unit> quarantine(const PersistenceId& id, std::string_view reason, Timestamp at) override;
  Result<Unit> lift_quarantine(const PersistenceId& id) override;
  Result<std::unique_ptr<journal::JournalReader>> reader() override;

  // Counts.
  std::atomic<int> replays{0};  ///< replay_many() calls
  std::atomic<int> histories{0};
  std::atomic<int> due_queries{0};
  std::atomic<int> pages{0};  ///< open_before() calls
  std::atomic<int> groups{0};
  std::atomic<int> fenced{0};
  std::atomic<int> barriers{0};

  // Switches.
  std::atomic<bool> barrier_fails{false};
  std::atomic<int> quarantines_fail{0};  ///< the next n
  std::atomic<int> replays_fail{0};      ///< each history of the next n replay_many() calls

  std::mutex& mutex() { return mutex_; }

 private:
  journal::Journal& journal_;
  mutable std::mutex mutex_;
};

}  // namespace onceward::actors::testing
