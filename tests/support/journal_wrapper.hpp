// JournalWrapper: a journal that passes everything on to another one. Tests derive from it to take
// a guard of the store out, or to make the store fail.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <onceward/journal/journal.hpp>

namespace onceward::testing {

class JournalWrapper : public journal::Journal {
 public:
  /// Borrows the journal.
  explicit JournalWrapper(journal::Journal& inner) : inner_(inner) {}

  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override {
    return inner_.commit(units);
  }
  Result<Epoch> barrier() override { return inner_.barrier(); }
  bool barrier_pending() const noexcept override { return inner_.barrier_pending(); }
  Result<Epoch> raise_epoch(ShardNr shard) override { return inner_.raise_epoch(shard); }
  Epoch epoch_of(ShardNr shard) const noexcept override { return inner_.epoch_of(shard); }
  Result<Unit> quarantine(const PersistenceId& id, std::string_view reason, Timestamp at) override {
    return inner_.quarantine(id, reason, at);
  }
  Result<Unit> lift_quarantine(const PersistenceId& id) override {
    return inner_.lift_quarantine(id);
  }
  Result<std::unique_ptr<journal::JournalReader>> reader() override { return inner_.reader(); }

 protected:
  journal::Journal& inner_;
};

}  // namespace onceward::testing
