// The content of a MemoryJournal: plain maps that copies share until one of them writes. Private to
// journal; written by the journal, read by its readers.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <onceward/journal/journal.hpp>

#include "journal/cap_book.hpp"

namespace onceward::journal {

/// A value that copies share until one of them edits it. The harness copies whole stores at every
/// step, most of them are thrown away unread: a copy must cost a few counters, not the content.
template <class T>
class CopyOnWrite {
 public:
  CopyOnWrite() : shared_(std::make_shared<T>()) {}

  const T& operator*() const noexcept { return *shared_; }
  const T* operator->() const noexcept { return shared_.get(); }
  T& edit() {
    if (shared_.use_count() == 1) {
      // A copy of another thread may have been the last other owner: see its reads as done.
      std::atomic_thread_fence(std::memory_order_acquire);
    } else {
      shared_ = std::make_shared<T>(*shared_);
    }
    return *shared_;
  }

 private:
  std::shared_ptr<T> shared_;  // held by the copies of one store
};

/// Order of obligation keys by bytes: customer, then the period's text, then purpose. Not the
/// calendar order of BillingPeriod, which a database does not know.
struct KeyOrder {
  [[nodiscard]] static auto fields(const ObligationKey& key) noexcept {
    return std::tie(key.customer.value(), key.period.text(), key.purpose.value());
  }
  bool operator()(const ObligationKey& a, const ObligationKey& b) const noexcept {
    return fields(a) < fields(b);
  }
};

struct MemoryEvent {
  std::uint64_t position = 0;
  StoredEvent event;
};

struct MemoryHistory {
  SequenceNr last;
  Digest head;
  std::vector<std::shared_ptr<const MemoryEvent>> events;  // shared by the copies of one store
  std::shared_ptr<const StoredSnapshot> snapshot;          // null: none
};

struct MemoryRow {
  ObligationRow row;
  Epoch epoch;  // under which it was last written
};

/// Order of refunds: by their obligation, then by number.
struct RefundOrder {
  using Key = std::pair<ObligationKey, std::uint32_t>;
  bool operator()(const Key& a, const Key& b) const noexcept {
    if (KeyOrder()(a.first, b.first)) return true;
    return !KeyOrder()(b.first, a.first) && a.second < b.second;
  }
};

struct MemoryCaps {
  // (period, customer, purpose, attempt): the reservations of one customer and period are adjacent.
  using ReservationKey = std::tuple<std::string, std::string, std::string, std::uint32_t>;
  // (period, currency, customer); an empty customer is the period's total.
  using BucketKey = std::tuple<std::string, Currency, std::string>;

  std::map<ReservationKey, CapReservation, std::less<>> reservations;
  std::map<BucketKey, CapSum, std::less<>> totals;
  std::map<BucketKey, std::int64_t, std::less<>> limits;

  [[nodiscard]] CapSum use(const std::string& period, const std::string& customer,
                           const Currency& currency) const;
};

struct MemoryStore {
  CopyOnWrite<std::map<std::string, CopyOnWrite<MemoryHistory>, std::less<>>> histories;
  CopyOnWrite<std::map<ObligationKey, std::shared_ptr<const MemoryRow>, KeyOrder>> rows;
  CopyOnWrite<std::map<RefundOrder::Key, RefundRow, RefundOrder>> refunds;
  CopyOnWrite<std::map<std::pair<std::string, std::string>, Mark>> marks;
  CopyOnWrite<MemoryCaps> caps;
  CopyOnWrite<std::map<std::string, Quarantined>> quarantined;
  std::vector<Epoch> epochs;  // by shard
  std::uint64_t last_position = 0;
  std::uint64_t commit_count = 0;
  bool is_uncertain = false;  // a barrier is pending

  explicit MemoryStore(std::uint32_t shards) : epochs(shards, Epoch{1}) {}

  /// Checks the whole unit, then stores it; any answer but CommitUnknown. The unit's shape is in
  /// order.
  [[nodiscard]] CommitAnswer apply(const CommitUnit& unit);
  /// One more than the largest epoch of any shard, as every backend allocates them.
  [[nodiscard]] Epoch next_epoch() const;

 private:
  [[nodiscard]] std::optional<CommitAnswer> refusal_of(const CommitUnit& unit) const;
  [[nodiscard]] Stored append(const CommitUnit& unit);
  void write_caps(const CommitUnit& unit, const CapChanges& changes);
};

[[nodiscard]] std::unique_ptr<JournalReader> make_memory_reader(const MemoryStore& store);

}  // namespace onceward::journal
