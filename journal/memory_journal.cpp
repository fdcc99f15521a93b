// MemoryJournal: groups, fates and the barrier. What a unit does to the store is memory_store.cpp.
#include <onceward/journal/memory_journal.hpp>

#include "journal/memory_store.hpp"
#include "journal/refusals.hpp"
#include "journal/unit_shape.hpp"

namespace onceward::journal {

struct MemoryJournal::Store : MemoryStore {
  using MemoryStore::MemoryStore;
};

namespace {

CommitUnknown unknown(const char* why) {
  return CommitUnknown{Error{ErrorCode::store_uncertain, why}};
}

Unexpected barrier_is_pending() {
  return fail(ErrorCode::store_uncertain, "a barrier is pending: call barrier() first");
}

}  // namespace

MemoryJournal::MemoryJournal(MemoryJournalOptions options)
    : store_(std::make_unique<Store>(options.shards)), options_(std::move(options)) {
  ONCEWARD_CHECK(options_.shards > 0, "a store has at least one shard");
}

MemoryJournal::MemoryJournal(const MemoryJournal& other)
    : store_(std::make_unique<Store>(*other.store_)), options_(other.options_) {}

MemoryJournal& MemoryJournal::operator=(const MemoryJournal& other) {
  *store_ = *other.store_;  // in place: readers of this journal stay valid
  options_ = other.options_;
  return *this;
}

MemoryJournal::~MemoryJournal() = default;

std::vector<CommitAnswer> MemoryJournal::commit(std::span<const CommitUnit> units) {
  std::vector<CommitAnswer> answers;
  answers.reserve(units.size());
  if (store_->is_uncertain) {
    answers.assign(units.size(), unknown("a barrier is pending: replay after it"));
    return answers;
  }
  const CommitFate fate = options_.fate ? options_.fate() : CommitFate::normal;
  std::unique_ptr<Store> before;
  if (fate == CommitFate::lost_unanswered) before = std::make_unique<Store>(*store_);

  bool has_stored = false;
  std::vector<bool> is_malformed(units.size(), false);
  for (std::size_t at = 0; at < units.size(); ++at) {
    if (auto error = shape_error(units[at], options_.shards)) {
      is_malformed[at] = true;
      answers.emplace_back(InvalidUnit{std::move(*error)});
      continue;
    }
    answers.push_back(store_->apply(units[at]));
    has_stored = has_stored || std::holds_alternative<Stored>(answers.back());
  }
  if (!has_stored) return answers;
  ++store_->commit_count;
  if (fate == CommitFate::normal) return answers;

  // A refusal may rest on what an earlier unit of this group stored, so it is doubtful as well.
  for (std::size_t at = 0; at < units.size(); ++at) {
    if (!is_malformed[at]) answers[at] = unknown("the commit of the group was not answered");
  }
  if (before) *store_ = std::move(*before);
  store_->is_uncertain = true;
  return answers;
}

Result<Epoch> MemoryJournal::barrier() {
  const Epoch raised = store_->next_epoch();
  store_->epochs.assign(store_->epochs.size(), raised);
  store_->is_uncertain = false;
  return raised;
}

bool MemoryJournal::barrier_pending() const noexcept {
  return store_->is_uncertain;
}

Result<Epoch> MemoryJournal::raise_epoch(ShardNr shard) {
  if (shard.value >= store_->epochs.size()) return no_such_shard(shard, options_.shards);
  if (store_->is_uncertain) return barrier_is_pending();
  const Epoch raised = store_->next_epoch();
  store_->epochs[shard.value] = raised;
  return raised;
}

Epoch MemoryJournal::epoch_of(ShardNr shard) const noexcept {
  ONCEWARD_CHECK(shard.value < store_->epochs.size(), "the shard exists");
  return store_->epochs[shard.value];
}

Result<Unit> MemoryJournal::quarantine(const PersistenceId& id, std::string_view reason,
                                       Timestamp at) {
  if (auto error = quarantine_error(id, reason)) return Unexpected{std::move(*error)};
  if (store_->is_uncertain) return barrier_is_pending();
  store_->quarantined.edit().try_emplace(id.value(), Quarantined{id, std::string(reason), at});
  return ok();
}

Result<Unit> MemoryJournal::lift_quarantine(const PersistenceId& id) {
  if (store_->is_uncertain) return barrier_is_pending();
  store_->quarantined.edit().erase(id.value());
  return ok();
}

Result<std::unique_ptr<JournalReader>> MemoryJournal::reader() {
  return make_memory_reader(*store_);
}

void MemoryJournal::script(std::function<CommitFate()> fate) {
  options_.fate = std::move(fate);
}

}  // namespace onceward::journal
