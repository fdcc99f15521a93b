// Pass-through with counts.
#include "tests/actors/locked_journal.hpp"

#include <utility>

namespace onceward::actors::testing {

namespace {

class LockedReader final : public journal::JournalReader {
 public:
  LockedReader(LockedJournal& journal, std::unique_ptr<journal::JournalReader> reader)
      : journal_(journal), reader_(std::move(reader)) {}

  Result<journal::HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                                     const journal::EventSink& sink) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->replay(id, after, sink);
  }
  void replay_many(
      std::span<const PersistenceId> ids, const journal::EventSink& sink,
      const std::function<void(const PersistenceId&, Result<journal::HistoryEnd>)>& done) override {
    const std::lock_guard lock(journal_.mutex());
    ++journal_.replays;
    journal_.histories += static_cast<int>(ids.size());
    if (journal_.replays_fail > 0) {
      --journal_.replays_fail;
      for (const auto& id : ids) done(id, fail(ErrorCode::store_io, "told to fail a read"));
      return;
    }
    reader_->replay_many(ids, sink, done);
  }
  Result<std::uint64_t> scan(std::uint64_t after,
                             const std::function<bool(std::uint64_t, const PersistenceId&,
                                                      StoredEvent&&)>& sink) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->scan(after, sink);
  }
  Result<std::optional<journal::StoredSnapshot>> snapshot(const PersistenceId& id) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->snapshot(id);
  }
  Result<std::optional<ObligationRow>> row(const ObligationKey& key) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->row(key);
  }
  Result<std::vector<ObligationRow>> rows_of(const CustomerId& customer) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->rows_of(customer);
  }
  Result<std::vector<ObligationRow>> rows(const journal::RowQuery& query) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->rows(query);
  }
  Result<std::vector<ObligationRow>> due(Timestamp now, std::size_t limit) override {
    const std::lock_guard lock(journal_.mutex());
    ++journal_.due_queries;
    return reader_->due(now, limit);
  }
  Result<std::vector<ObligationRow>> open_before(Epoch epoch,
                                                 const std::optional<ObligationKey>& after,
                                                 std::size_t limit) override {
    const std::lock_guard lock(journal_.mutex());
    ++journal_.pages;
    return reader_->open_before(epoch, after, limit);
  }
  Result<std::vector<PersistenceId>> ids_under(std::string_view prefix,
                                               const std::optional<PersistenceId>& after,
                                               std::size_t limit) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->ids_under(prefix, after, limit);
  }
  Result<std::optional<ObligationRow>> row_of_charge(std::string_view charge_id) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->row_of_charge(charge_id);
  }
  Result<std::vector<RefundRow>> refunds_of(const CustomerId& customer) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->refunds_of(customer);
  }
  Result<std::vector<RefundRow>> refunds(const journal::RefundQuery& query) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->refunds(query);
  }
  Result<std::vector<ObligationRow>> attention_rows(const std::optional<ObligationKey>& after,
                                                    std::size_t limit) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->attention_rows(after, limit);
  }
  Result<std::optional<Mark>> mark(std::string_view scope, std::string_view key,
                                   Timestamp now) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->mark(scope, key, now);
  }
  Result<std::vector<journal::CapUse>> cap_use(const BillingPeriod& period) override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->cap_use(period);
  }
  Result<std::vector<journal::Quarantined>> quarantined() override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->quarantined();
  }
  Result<journal::JournalStats> stats() override {
    const std::lock_guard lock(journal_.mutex());
    return reader_->stats();
  }

 private:
  LockedJournal& journal_;
  std::unique_ptr<journal::JournalReader> reader_;
};

}  // namespace

std::vector<CommitAnswer> LockedJournal::commit(std::span<const CommitUnit> units) {
  const std::lock_guard lock(mutex_);
  ++groups;
  auto answers = journal_.commit(units);
  for (const auto& answer : answers) fenced += std::holds_alternative<Fenced>(answer) ? 1 : 0;
  return answers;
}

Result<Epoch> LockedJournal::barrier() {
  const std::lock_guard lock(mutex_);
  if (barrier_fails) return fail(ErrorCode::store_io, "told to fail the barrier");
  ++barriers;
  return journal_.barrier();
}

bool LockedJournal::barrier_pending() const noexcept {
  const std::lock_guard lock(mutex_);
  return journal_.barrier_pending();
}

Result<Epoch> LockedJournal::raise_epoch(ShardNr shard) {
  const std::lock_guard lock(mutex_);
  return journal_.raise_epoch(shard);
}

Epoch LockedJournal::epoch_of(ShardNr shard) const noexcept {
  const std::lock_guard lock(mutex_);
  return journal_.epoch_of(shard);
}

Result<Unit> LockedJournal::quarantine(const PersistenceId& id, std::string_view reason,
                                       Timestamp at) {
  const std::lock_guard lock(mutex_);
  if (quarantines_fail > 0) {
    --quarantines_fail;
    return fail(ErrorCode::store_io, "told to fail the quarantine");
  }
  return journal_.quarantine(id, reason, at);
}

Result<Unit> LockedJournal::lift_quarantine(const PersistenceId& id) {
  const std::lock_guard lock(mutex_);
  return journal_.lift_quarantine(id);
}

Result<std::unique_ptr<journal::JournalReader>> LockedJournal::reader() {
  const std::lock_guard lock(mutex_);
  auto reader = journal_.reader();
  if (!reader) return Unexpected{std::move(reader).error()};
  return std::unique_ptr<journal::JournalReader>(
      std::make_unique<LockedReader>(*this, std::move(*reader)));
}

}  // namespace onceward::actors::testing
