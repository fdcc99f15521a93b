// MemoryJournal: the reference backend. Same contract as any other, plus test hooks: what happens
// at the n-th commit (lost, stored but unanswered) is scripted by the caller.
#pragma once

#include <functional>
#include <memory>

#include <onceward/journal/journal.hpp>

namespace onceward::journal {

/// What a commit of a group does in a test: `stored_unanswered` keeps the units but answers
/// CommitUnknown, `lost_unanswered` drops them and answers CommitUnknown.
enum class CommitFate : std::uint8_t { normal, stored_unanswered, lost_unanswered };

struct MemoryJournalOptions {
  std::uint32_t shards = 1;
  /// Asked once per commit() call; absent: always normal.
  std::function<CommitFate()> fate;
};

/// Copyable: a copy is an independent store with the same content (a cheap "crash image" for
/// enumerating schedules). Not thread-safe: one thread uses it and its readers.
class MemoryJournal final : public Journal {
 public:
  explicit MemoryJournal(MemoryJournalOptions options = {});
  MemoryJournal(const MemoryJournal& other);
  MemoryJournal& operator=(const MemoryJournal& other);
  ~MemoryJournal() override;

  [[nodiscard]] std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override;
  [[nodiscard]] Result<Epoch> barrier() override;
  [[nodiscard]] bool barrier_pending() const noexcept override;
  [[nodiscard]] Result<Epoch> raise_epoch(ShardNr shard) override;
  [[nodiscard]] Epoch epoch_of(ShardNr shard) const noexcept override;
  [[nodiscard]] Result<Unit> quarantine(const PersistenceId& id, std::string_view reason,
                                        Timestamp at) override;
  [[nodiscard]] Result<Unit> lift_quarantine(const PersistenceId& id) override;
  [[nodiscard]] Result<std::unique_ptr<JournalReader>> reader() override;

  /// Replaces the fate script; used between runs over copies of one store.
  void script(std::function<CommitFate()> fate);

 private:
  struct Store;
  std::unique_ptr<Store> store_;
  MemoryJournalOptions options_;
};

}  // namespace onceward::journal
