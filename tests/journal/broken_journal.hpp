// BrokenJournal: a memory journal that breaks one rule of the port on purpose, to prove that the
// conformance suite notices. Which one is said by the environment: one program serves all.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onceward/journal/memory_journal.hpp>

namespace onceward::journal::testing {

/// Passes everything on.
class ForwardingReader : public JournalReader {
 public:
  explicit ForwardingReader(std::unique_ptr<JournalReader> real) : real_(std::move(real)) {}

  Result<HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                            const EventSink& sink) override {
    return real_->replay(id, after, sink);
  }
  void replay_many(
      std::span<const PersistenceId> ids, const EventSink& sink,
      const std::function<void(const PersistenceId&, Result<HistoryEnd>)>& done) override {
    real_->replay_many(ids, sink, done);
  }
  Result<std::uint64_t> scan(std::uint64_t after,
                             const std::function<bool(std::uint64_t, const PersistenceId&,
                                                      StoredEvent&&)>& sink) override {
    return real_->scan(after, sink);
  }
  Result<std::optional<StoredSnapshot>> snapshot(const PersistenceId& id) override {
    return real_->snapshot(id);
  }
  Result<std::vector<PersistenceId>> ids_under(std::string_view prefix,
                                               const std::optional<PersistenceId>& after,
                                               std::size_t limit) override {
    return real_->ids_under(prefix, after, limit);
  }
  Result<std::optional<ObligationRow>> row(const ObligationKey& key) override {
    return real_->row(key);
  }
  Result<std::vector<ObligationRow>> rows_of(const CustomerId& customer) override {
    return real_->rows_of(customer);
  }
  Result<std::vector<ObligationRow>> rows(const RowQuery& query) override {
    return real_->rows(query);
  }
  Result<std::vector<ObligationRow>> due(Timestamp now, std::size_t limit) override {
    return real_->due(now, limit);
  }
  Result<std::vector<ObligationRow>> open_before(Epoch epoch,
                                                 const std::optional<ObligationKey>& after,
                                                 std::size_t limit) override {
    return real_->open_before(epoch, after, limit);
  }
  Result<std::optional<ObligationRow>> row_of_charge(std::string_view charge_id) override {
    return real_->row_of_charge(charge_id);
  }
  Result<std::vector<RefundRow>> refunds_of(const CustomerId& customer) override {
    return real_->refunds_of(customer);
  }
  Result<std::vector<RefundRow>> refunds(const RefundQuery& query) override {
    return real_->refunds(query);
  }
  Result<std::vector<ObligationRow>> attention_rows(const std::optional<ObligationKey>& after,
                                                    std::size_t limit) override {
    return real_->attention_rows(after, limit);
  }
  Result<std::optional<Mark>> mark(std::string_view scope, std::string_view key,
                                   Timestamp now) override {
    return real_->mark(scope, key, now);
  }
  Result<std::vector<CapUse>> cap_use(const BillingPeriod& period) override {
    return real_->cap_use(period);
  }
  Result<std::vector<Quarantined>> quarantined() override { return real_->quarantined(); }
  Result<JournalStats> stats() override { return real_->stats(); }

 private:
  std::unique_ptr<JournalReader> real_;
};

enum class BrokenRule : std::uint8_t {
  none,
  lost_acknowledgement,    // answers stored, stores nothing
  gap,                     // a replay leaves out the second event
  stale_epoch_accepted,    // whoever comes may write
  stale_end_accepted,      // a duplicate of a unit is appended again
  row_apart_from_event,    // rows are not part of the unit
  replay_out_of_order,     // the newest event comes first
  truncated_payload,       // the last byte of a payload is lost
  mark_not_unique,         // marks are not part of the unit
  unknown_read_too_early,  // readers answer before the barrier
  cap_not_enforced,        // limits are not asked
  neighbours_harmed,       // one refused unit takes the group with it
  half_unit,               // the events of a refused unit are stored
  claim_overwrites,        // a claim that exists is rewritten
  snapshot_lost,
  quarantine_forgotten,
};

class BrokenReader final : public ForwardingReader {
 public:
  BrokenReader(std::unique_ptr<JournalReader> real, BrokenRule rule)
      : ForwardingReader(std::move(real)), rule_(rule) {}

  Result<HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                            const EventSink& sink) override {
    std::vector<StoredEvent> events;
    auto end = ForwardingReader::replay(id, after, [&](const PersistenceId&, StoredEvent&& event) {
      events.push_back(std::move(event));
      return true;
    });
    if (rule_ == BrokenRule::replay_out_of_order) std::reverse(events.begin(), events.end());
    for (StoredEvent& event : events) {
      if (rule_ == BrokenRule::gap && event.sequence_nr == SequenceNr{2}) continue;
      if (rule_ == BrokenRule::truncated_payload) event.event.payload.pop_back();
      if (!sink(id, std::move(event))) break;
    }
    return end;
  }

 private:
  BrokenRule rule_;
};

class BrokenJournal final : public Journal {
 public:
  BrokenJournal(BrokenRule rule, std::uint32_t shards)
      : rule_(rule), real_(MemoryJournalOptions{.shards = shards, .fate = {}}) {}

  MemoryJournal& real() { return real_; }

  std::vector<CommitAnswer> commit(std::span<const CommitUnit> units) override;
  Result<Epoch> barrier() override { return real_.barrier(); }
  bool barrier_pending() const noexcept override { return real_.barrier_pending(); }
  Result<Epoch> raise_epoch(ShardNr shard) override { return real_.raise_epoch(shard); }
  Epoch epoch_of(ShardNr shard) const noexcept override { return real_.epoch_of(shard); }
  Result<Unit> quarantine(const PersistenceId& id, std::string_view reason, Timestamp at) override {
    if (rule_ == BrokenRule::quarantine_forgotten) return ok();
    return real_.quarantine(id, reason, at);
  }
  Result<Unit> lift_quarantine(const PersistenceId& id) override {
    return real_.lift_quarantine(id);
  }
  Result<std::unique_ptr<JournalReader>> reader() override {
    auto real = real_.reader();
    if (!real.has_value()) return real;
    return std::unique_ptr<JournalReader>(
        std::make_unique<BrokenReader>(std::move(real).value(), rule_));
  }

 private:
  void spoil(CommitUnit& unit);
  BrokenRule rule_;
  MemoryJournal real_;
};

inline void BrokenJournal::spoil(CommitUnit& unit) {
  if (rule_ == BrokenRule::stale_epoch_accepted) unit.epoch = real_.epoch_of(unit.shard);
  if (rule_ == BrokenRule::stale_end_accepted) {
    const auto end =
        real_.reader().value()->replay(unit.persistence_id, {}, [](auto&&...) { return true; });
    if (end.has_value()) unit.expected = end->last;
    if (end.has_value()) unit.head = end->head;
  }
  if (rule_ == BrokenRule::row_apart_from_event) unit.rows.clear();
  if (rule_ == BrokenRule::mark_not_unique) unit.marks.clear();
  if (rule_ == BrokenRule::snapshot_lost) unit.snapshot.reset();
  for (CapOp& op : unit.caps) {
    if (rule_ == BrokenRule::cap_not_enforced) op.enforce = false;
  }
  for (RowWrite& write : unit.rows) {
    const auto existing = real_.reader().value()->row(write.row.key);
    const bool is_there = existing.has_value() && *existing;
    if (rule_ == BrokenRule::claim_overwrites && is_there) write.kind = RowWrite::Kind::update;
  }
}

inline std::vector<CommitAnswer> BrokenJournal::commit(std::span<const CommitUnit> units) {
  std::vector<CommitUnit> spoiled(units.begin(), units.end());
  if (!barrier_pending()) {
    for (CommitUnit& unit : spoiled) spoil(unit);
  }
  if (rule_ == BrokenRule::lost_acknowledgement) {
    const MemoryJournal before = real_;
    auto answers = real_.commit(spoiled);
    if (!real_.barrier_pending()) real_ = before;
    return answers;
  }
  const MemoryJournal before = real_;
  auto answers = real_.commit(spoiled);
  const auto is_refused = [](const CommitAnswer& answer) {
    return !std::holds_alternative<Stored>(answer);
  };
  if (rule_ == BrokenRule::unknown_read_too_early && real_.barrier_pending()) {
    (void)real_.barrier();
  }
  if (rule_ == BrokenRule::neighbours_harmed && !real_.barrier_pending() &&
      std::any_of(answers.begin(), answers.end(), is_refused)) {
    real_ = before;
  }
  for (std::size_t at = 0; at < answers.size() && rule_ == BrokenRule::half_unit; ++at) {
    if (!std::holds_alternative<ClaimRefused>(answers[at])) continue;
    spoiled[at].rows.clear();
    (void)real_.commit({&spoiled[at], 1});
  }
  return answers;
}

}  // namespace onceward::journal::testing
