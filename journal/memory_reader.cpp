// Reader of a MemoryJournal. Nothing outside can alter the maps, so heads are not recomputed here;
// everything else of the port's contract holds.
#include <algorithm>
#include <limits>

#include "journal/memory_store.hpp"
#include "journal/refusals.hpp"

namespace onceward::journal {
namespace {

/// As the index obligations_attention of the other backends.
bool needs_a_look(const ObligationRow& row) {
  switch (row.status) {
    case ObligationStatus::parked:
    case ObligationStatus::rejected:
    case ObligationStatus::capped:
    case ObligationStatus::uncollectible:
    case ObligationStatus::processing:
    case ObligationStatus::action_required:
      return true;
    case ObligationStatus::completed:
      return !row.reason.empty();
    case ObligationStatus::in_progress:
    case ObligationStatus::unknown:
    case ObligationStatus::declined:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
      return false;
  }
  return true;
}

class MemoryReader final : public JournalReader {
 public:
  explicit MemoryReader(const MemoryStore& store) : store_(store) {}

  Result<HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                            const EventSink& sink) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    const ShardNr shard = shard_of(id, static_cast<std::uint32_t>(store_.epochs.size()));
    const Epoch epoch = store_.epochs[shard.value];
    const auto found = store_.histories->find(id.value());
    if (found == store_.histories->end()) return HistoryEnd{{}, {}, epoch};
    // A copy keeps the history as it is now, whatever the sink does to the journal.
    const CopyOnWrite<MemoryHistory> history = found->second;
    for (std::uint64_t at = after.value; at < history->events.size(); ++at) {
      if (!sink(id, StoredEvent(history->events[at]->event))) break;
    }
    return HistoryEnd{history->last, history->head, epoch};
  }

  void replay_many(
      std::span<const PersistenceId> ids, const EventSink& sink,
      const std::function<void(const PersistenceId&, Result<HistoryEnd>)>& done) override {
    for (const PersistenceId& id : ids) done(id, replay(id, SequenceNr{}, sink));
  }

  Result<std::uint64_t> scan(std::uint64_t after,
                             const std::function<bool(std::uint64_t, const PersistenceId&,
                                                      StoredEvent&&)>& sink) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    struct Place {
      PersistenceId id;
      std::shared_ptr<const MemoryEvent> event;
    };
    std::vector<Place> places;
    for (const auto& [id, history] : *store_.histories) {
      const auto& events = history->events;  // in the order of their positions
      for (auto at = events.rbegin(); at != events.rend() && (*at)->position > after; ++at) {
        places.push_back({PersistenceId(id), *at});
      }
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.event->position < b.event->position; });
    std::uint64_t last = after;
    for (const Place& place : places) {
      last = place.event->position;
      if (!sink(last, place.id, StoredEvent(place.event->event))) break;
    }
    return last;
  }

  Result<std::optional<StoredSnapshot>> snapshot(const PersistenceId& id) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    const auto found = store_.histories->find(id.value());
    if (found == store_.histories->end() || !found->second->snapshot) {
      return std::optional<StoredSnapshot>();
    }
    return std::optional<StoredSnapshot>(*found->second->snapshot);
  }

  Result<std::vector<PersistenceId>> ids_under(std::string_view prefix,
                                               const std::optional<PersistenceId>& after,
                                               std::size_t limit) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    std::vector<PersistenceId> found;
    for (auto at = store_.histories->lower_bound(prefix);
         at != store_.histories->end() && at->first.starts_with(prefix) && found.size() < limit;
         ++at) {
      if (!after || after->value() < at->first) found.emplace_back(at->first);
    }
    return found;
  }

  Result<std::optional<ObligationRow>> row(const ObligationKey& key) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    const auto found = store_.rows->find(key);
    if (found == store_.rows->end()) return std::optional<ObligationRow>();
    return std::optional<ObligationRow>(found->second->row);
  }

  Result<std::vector<ObligationRow>> rows_of(const CustomerId& customer) override {
    return rows_where(no_limit,
                      [&](const MemoryRow& stored) { return stored.row.key.customer == customer; });
  }

  Result<std::vector<ObligationRow>> rows(const RowQuery& query) override {
    return rows_where(query.limit, [&](const MemoryRow& stored) {
      const ObligationKey& key = stored.row.key;
      return key.period == query.period && (!query.status || *query.status == stored.row.status) &&
             std::tie(query.after_customer, query.after_purpose) <
                 std::tie(key.customer, key.purpose);
    });
  }

  Result<std::vector<ObligationRow>> due(Timestamp now, std::size_t limit) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    std::vector<const ObligationRow*> found;
    for (const auto& [key, stored] : *store_.rows) {
      const ObligationRow& row = stored->row;
      if (row.next_action_at && *row.next_action_at <= now) found.push_back(&row);
    }
    const auto order = [](const ObligationRow& row) {
      return std::tie(row.next_action_at, row.key.period.text(), row.key.customer, row.key.purpose);
    };
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
    std::partial_sort(found.begin(), end, found.end(),
                      [&](const auto* a, const auto* b) { return order(*a) < order(*b); });
    std::vector<ObligationRow> rows;
    for (auto at = found.begin(); at != end; ++at) rows.push_back(**at);
    return rows;
  }

  Result<std::vector<ObligationRow>> open_before(Epoch epoch,
                                                 const std::optional<ObligationKey>& after,
                                                 std::size_t limit) override {
    return rows_where(limit, [&](const MemoryRow& stored) {
      return stored.epoch < epoch && is_open(stored.row.status) &&
             !is_operator_owned(stored.row.status) &&
             (!after || KeyOrder()(*after, stored.row.key));
    });
  }

  Result<std::optional<ObligationRow>> row_of_charge(std::string_view charge_id) override {
    if (charge_id.empty()) return std::optional<ObligationRow>();
    return rows_where(1, [&](const MemoryRow& stored) { return stored.row.charge_id == charge_id; })
        .transform([](std::vector<ObligationRow>&& found) {
          return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
        });
  }

  Result<std::vector<RefundRow>> refunds_of(const CustomerId& customer) override {
    return refunds_where(no_limit,
                         [&](const RefundRow& row) { return row.obligation.customer == customer; });
  }

  Result<std::vector<RefundRow>> refunds(const RefundQuery& query) override {
    return refunds_where(query.limit, [&](const RefundRow& row) {
      const bool is_beyond = !query.after || RefundOrder()({*query.after, query.after_number},
                                                           {row.obligation, row.number});
      return is_beyond && (!query.status || *query.status == row.status);
    });
  }

  Result<std::vector<ObligationRow>> attention_rows(const std::optional<ObligationKey>& after,
                                                    std::size_t limit) override {
    return rows_where(limit, [&](const MemoryRow& stored) {
      return needs_a_look(stored.row) && (!after || KeyOrder()(*after, stored.row.key));
    });
  }

  Result<std::optional<Mark>> mark(std::string_view scope, std::string_view key,
                                   Timestamp now) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    const auto found = store_.marks->find({std::string(scope), std::string(key)});
    if (found == store_.marks->end() || !is_alive(found->second, now)) {
      return std::optional<Mark>();
    }
    return std::optional<Mark>(found->second);
  }

  Result<std::vector<CapUse>> cap_use(const BillingPeriod& period) override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    const MemoryCaps& caps = *store_.caps;
    std::map<MemoryCaps::BucketKey, std::optional<std::int64_t>> buckets;
    for (const auto& [key, sum] : caps.totals) {
      if (std::get<0>(key) == period.text()) buckets[key];
    }
    for (const auto& [key, limit] : caps.limits) {
      if (std::get<0>(key) == period.text()) buckets[key] = limit;
    }
    std::vector<CapUse> uses;
    for (const auto& [key, limit] : buckets) {
      const auto& [period_text, currency, customer] = key;
      const CapSum sum = caps.use(period_text, customer, currency);
      uses.push_back(
          {period, CustomerId(customer), currency, limit, sum.reserved_minor, sum.settled_minor});
    }
    return uses;
  }

  Result<std::vector<Quarantined>> quarantined() override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    std::vector<Quarantined> found;
    for (const auto& [id, entry] : *store_.quarantined) found.push_back(entry);
    return found;
  }

  Result<JournalStats> stats() override {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    JournalStats stats;
    stats.events = store_.last_position;
    stats.entities = store_.histories->size();
    stats.obligations = store_.rows->size();
    for (const auto& [key, stored] : *store_.rows) {
      if (is_open(stored->row.status)) ++stats.open_obligations;
    }
    stats.marks = store_.marks->size();
    stats.quarantined = store_.quarantined->size();
    stats.commit_count = store_.commit_count;
    return stats;
  }

 private:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] std::optional<Error> doubt() const {
    if (!store_.is_uncertain) return std::nullopt;
    return Error{ErrorCode::store_uncertain,
                 "a commit was not answered and the barrier is pending: read after it"};
  }

  template <class Predicate>
  Result<std::vector<ObligationRow>> rows_where(std::size_t limit, Predicate is_wanted) {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    std::vector<ObligationRow> found;
    for (const auto& [key, stored] : *store_.rows) {
      if (found.size() >= limit) break;
      if (is_wanted(*stored)) found.push_back(stored->row);
    }
    return found;
  }

  template <class Predicate>
  Result<std::vector<RefundRow>> refunds_where(std::size_t limit, Predicate is_wanted) {
    if (auto error = doubt()) return Unexpected{std::move(*error)};
    std::vector<RefundRow> found;
    for (const auto& [key, row] : *store_.refunds) {
      if (found.size() >= limit) break;
      if (is_wanted(row)) found.push_back(row);
    }
    return found;
  }

  const MemoryStore& store_;
};

}  // namespace

std::unique_ptr<JournalReader> make_memory_reader(const MemoryStore& store) {
  return std::make_unique<MemoryReader>(store);
}

}  // namespace onceward::journal
