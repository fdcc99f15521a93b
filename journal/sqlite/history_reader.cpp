// Events are never changed, so a history is read in two steps without a transaction: first its end,
// then the events up to it. What is committed meanwhile lies behind that end.
#include "journal/sqlite/history_reader.hpp"

#include <algorithm>

#include "journal/history.hpp"
#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"
#include "journal/unit_shape.hpp"

namespace onceward::journal::sqlite {
namespace {

using platform::SqliteStatement;

constexpr std::size_t batch_ids = 500;
constexpr std::size_t scan_page_rows = 1000;

const std::string events_sql =
    "SELECT " + std::string(event_columns) +
    " FROM events v WHERE v.entity = ?1 AND v.sequence_nr >= ?2 AND v.sequence_nr <= ?3 "
    "ORDER BY v.sequence_nr";
const std::string batch_sql =
    "SELECT w.key, " + std::string(event_columns) +
    " FROM json_each(?1) w CROSS JOIN events v ON v.entity = w.value ORDER BY w.key, v.sequence_nr";
const std::string scan_sql =
    "SELECT v.position, n.persistence_id, " + std::string(event_columns) +
    " FROM events v CROSS JOIN entities n ON n.id = v.entity WHERE v.position > ?1 "
    "ORDER BY v.position LIMIT ?2";

/// Appends one JSON string; ids are visible ASCII, so two characters need a backslash.
void append_json(std::string& json, const std::string& id) {
  json += '"';
  for (const char c : id) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += '"';
}

/// Hands the histories of a batch on, in the order of the ids, as their events come in.
class BatchFeeder {
 public:
  using Done = HistoryReader::Done;

  BatchFeeder(std::span<const PersistenceId> ids, const Shared* shared, const EventSink& sink,
              const Done& done)
      : ids_(ids), shared_(shared), sink_(sink), done_(done) {}

  void begin(std::size_t index, const HistoryEnd& end) {
    index_ = index;
    end_ = end;
    check_ = HistoryCheck();
    outcome_.reset();
  }
  /// One event of the present history.
  void take(Result<StoredEvent> event) {
    if (outcome_) return;
    if (!event.has_value()) {
      outcome_ = Result<HistoryEnd>(Unexpected{std::move(event).error()});
    } else if (event->sequence_nr > end_.last) {
      return;  // committed after the end was read
    } else if (auto taken = check_.take(ids_[index_], *event); !taken.has_value()) {
      outcome_ = Result<HistoryEnd>(Unexpected{std::move(taken).error()});
    } else if (!sink_(ids_[index_], std::move(event).value())) {
      outcome_ = Result<HistoryEnd>(end_);
    }
  }
  void end() {
    if (!outcome_) {
      auto ended = check_.end_at(ids_[index_], end_.last, end_.head);
      outcome_ = ended.has_value() ? Result<HistoryEnd>(end_)
                                   : Result<HistoryEnd>(Unexpected{std::move(ended).error()});
    }
    answer(index_, std::move(*outcome_));
  }
  void answer(std::size_t index, Result<HistoryEnd> outcome) {
    if (auto doubt = doubt_of(shared_)) outcome = Unexpected{std::move(*doubt)};
    done_(ids_[index], std::move(outcome));
  }

 private:
  std::span<const PersistenceId> ids_;
  const Shared* shared_;
  const EventSink& sink_;
  const Done& done_;
  std::size_t index_ = 0;
  HistoryEnd end_;
  HistoryCheck check_;
  std::optional<Result<HistoryEnd>> outcome_;
};

}  // namespace

/// The epoch to write under: that of this process, read before the history, so that a raise in
/// between fences whoever uses it. For a store that is only read, the stored one.
Result<Epoch> HistoryReader::epoch_for(const PersistenceId& id) {
  const ShardNr shard = shard_of(id, shards_);
  if (shared_ != nullptr) {
    return Epoch{shared_->epochs[shard.value].load(std::memory_order_acquire)};
  }
  Epoch epoch;
  auto read = for_each_row(
      connection_, "SELECT epoch FROM epochs WHERE shard = ?1",
      [&](const SqliteStatement& row) -> Result<Go> {
        epoch = Epoch{static_cast<std::uint64_t>(row.integer(0))};
        return Go::stop;
      },
      shard.value);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return epoch;
}

Result<HistoryReader::Found> HistoryReader::find(const PersistenceId& id) {
  const auto epoch = epoch_for(id);
  if (!epoch.has_value()) return Unexpected{epoch.error()};
  Found found{0, {{}, {}, *epoch}};
  auto read = for_each_row(
      connection_, "SELECT id, last, head FROM entities WHERE persistence_id = ?1",
      [&](const SqliteStatement& row) -> Result<Go> { return take_end(row, 0, found); },
      id.value());
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return found;
}

/// Columns id, last, head of `entities` from `first` on.
Result<Go> HistoryReader::take_end(const SqliteStatement& row, int first, Found& found) {
  const auto head = read_digest(row, first + 2);
  if (!head.has_value()) return Unexpected{head.error()};
  found.entity = row.integer(first);
  found.end.last = SequenceNr{static_cast<std::uint64_t>(row.integer(first + 1))};
  found.end.head = *head;
  return Go::on;
}

Result<std::vector<HistoryReader::Found>> HistoryReader::find_many(
    std::span<const PersistenceId> ids) {
  std::vector<Found> found(ids.size());
  std::string wanted = "[";
  for (std::size_t at = 0; at < ids.size(); ++at) {
    const auto epoch = epoch_for(ids[at]);
    if (!epoch.has_value()) return Unexpected{epoch.error()};
    found[at].end.epoch = *epoch;
    if (at != 0) wanted += ',';
    // A text that is no persistence id was never stored.
    is_persistence_id(ids[at].value()) ? append_json(wanted, ids[at].value())
                                       : void(wanted += "null");
  }
  wanted += ']';
  auto read = for_each_row(
      connection_,
      "SELECT w.key, n.id, n.last, n.head FROM json_each(?1) w CROSS JOIN entities n ON "
      "n.persistence_id = w.value",
      [&](const SqliteStatement& row) -> Result<Go> {
        return take_end(row, 1, found.at(static_cast<std::size_t>(row.integer(0))));
      },
      wanted);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return found;
}

Result<HistoryEnd> HistoryReader::replay(const PersistenceId& id, SequenceNr after,
                                         const EventSink& sink) {
  const auto found = find(id);
  if (!found.has_value()) return Unexpected{found.error()};
  const HistoryEnd& end = found->end;
  if (found->entity == 0 || after >= end.last) return end;

  HistoryCheck check;
  bool is_whole = true;
  auto read = for_each_row(
      connection_, events_sql,
      [&](const SqliteStatement& row) -> Result<Go> {
        auto event = read_event(row, 0);
        if (!event.has_value()) return Unexpected{std::move(event).error()};
        if (event->sequence_nr == after) {  // read only for the head to start from
          check = HistoryCheck(after, event->head);
          return Go::on;
        }
        if (auto taken = check.take(id, *event); !taken.has_value()) {
          return Unexpected{std::move(taken).error()};
        }
        is_whole = sink(id, std::move(event).value());
        return is_whole ? Go::on : Go::stop;
      },
      found->entity, after.value, end.last.value);
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  if (is_whole) {
    if (auto ended = check.end_at(id, end.last, end.head); !ended.has_value()) {
      return Unexpected{std::move(ended).error()};
    }
  }
  return end;
}

void HistoryReader::replay_many(std::span<const PersistenceId> ids, const EventSink& sink,
                                const Done& done) {
  while (!ids.empty()) {
    const std::size_t count = std::min(ids.size(), batch_ids);
    replay_batch(ids.first(count), sink, done);
    ids = ids.subspan(count);
  }
}

void HistoryReader::replay_batch(std::span<const PersistenceId> ids, const EventSink& sink,
                                 const Done& done) {
  BatchFeeder feeder(ids, shared_, sink, done);
  std::size_t next = 0;  // the first id that was not answered
  const auto answer_rest = [&](const Error& error) {
    while (next < ids.size()) feeder.answer(next++, Result<HistoryEnd>(Unexpected{error}));
  };
  if (auto doubt = doubt_of(shared_)) return answer_rest(*doubt);
  const auto found = find_many(ids);
  if (!found.has_value()) return answer_rest(found.error());
  std::string wanted = "[";
  for (const Found& one : *found)
    wanted += (wanted.size() > 1 ? "," : "") + std::to_string(one.entity);
  wanted += ']';

  feeder.begin(0, found->front().end);
  const auto finish_until = [&](std::size_t index) {
    while (next < index) {
      feeder.end();
      if (++next < ids.size()) feeder.begin(next, (*found)[next].end);
    }
  };
  auto read = for_each_row(
      connection_, batch_sql,
      [&](const SqliteStatement& row) -> Result<Go> {
        finish_until(static_cast<std::size_t>(row.integer(0)));
        feeder.take(read_event(row, 1));
        return Go::on;
      },
      wanted);
  if (!read.has_value()) return answer_rest(read.error());
  finish_until(ids.size());
}

Result<std::uint64_t> HistoryReader::scan(std::uint64_t after, const ScanSink& sink) {
  struct Place {
    std::uint64_t position = 0;
    PersistenceId id;
    StoredEvent event;
  };
  std::vector<Place> page;
  for (;;) {
    page.clear();
    auto read = for_each_row(
        connection_, scan_sql,
        [&](const SqliteStatement& row) -> Result<Go> {
          auto event = read_event(row, 2);
          if (!event.has_value()) return Unexpected{std::move(event).error()};
          page.push_back({static_cast<std::uint64_t>(row.integer(0)),
                          PersistenceId(std::string(row.text(1))), std::move(event).value()});
          return Go::on;
        },
        after, scan_page_rows);
    if (!read.has_value()) return Unexpected{std::move(read).error()};
    for (Place& place : page) {
      after = place.position;
      if (!sink(after, place.id, std::move(place.event))) return after;
    }
    if (page.size() < scan_page_rows) return after;
  }
}

Result<std::optional<StoredSnapshot>> HistoryReader::snapshot(const PersistenceId& id) {
  std::optional<StoredSnapshot> found;
  auto read = for_each_row(
      connection_,
      "SELECT s.at, s.head, s.schema_version, s.payload FROM snapshots s JOIN entities n ON "
      "n.id = s.entity WHERE n.persistence_id = ?1 AND "
      // A damaged one counts as absent: the events tell the same.
      "s.digest = row_digest(s.entity, s.at, s.head, s.schema_version, s.payload)",
      [&](const SqliteStatement& row) -> Result<Go> {
        auto head = read_digest(row, 1);
        if (!head.has_value()) return Unexpected{std::move(head).error()};
        found = StoredSnapshot{
            SequenceNr{static_cast<std::uint64_t>(row.integer(0))}, *head,
            SnapshotRecord{static_cast<std::uint32_t>(row.integer(2)), std::string(row.text(3))}};
        return Go::stop;
      },
      id.value());
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  return found;
}

}  // namespace onceward::journal::sqlite
