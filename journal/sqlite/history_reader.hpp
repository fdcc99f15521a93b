// HistoryReader: replays of one and of many, scans and snapshots over one read connection. Private
// to journal; the reader adds what concerns rows and the barrier.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <onceward/journal/journal.hpp>
#include <onceward/platform/sqlite.hpp>

#include "journal/sqlite/query.hpp"
#include "journal/sqlite/shared.hpp"

namespace onceward::journal::sqlite {

class HistoryReader {
 public:
  using Done = std::function<void(const PersistenceId&, Result<HistoryEnd>)>;
  using ScanSink = std::function<bool(std::uint64_t, const PersistenceId&, StoredEvent&&)>;

  /// Borrows the connection. `shared` is null for a store that is only read.
  HistoryReader(platform::SqliteConnection& connection, std::uint32_t shards, const Shared* shared)
      : connection_(connection), shards_(shards), shared_(shared) {}

  [[nodiscard]] Result<HistoryEnd> replay(const PersistenceId& id, SequenceNr after,
                                          const EventSink& sink);
  /// Two queries for each 500 ids.
  void replay_many(std::span<const PersistenceId> ids, const EventSink& sink, const Done& done);
  [[nodiscard]] Result<std::uint64_t> scan(std::uint64_t after, const ScanSink& sink);
  [[nodiscard]] Result<std::optional<StoredSnapshot>> snapshot(const PersistenceId& id);

 private:
  struct Found {
    std::int64_t entity = 0;  // 0: no history
    HistoryEnd end;
  };

  [[nodiscard]] Result<Epoch> epoch_for(const PersistenceId& id);
  [[nodiscard]] Result<Found> find(const PersistenceId& id);
  [[nodiscard]] static Result<Go> take_end(const platform::SqliteStatement& row, int first,
                                           Found& found);
  [[nodiscard]] Result<std::vector<Found>> find_many(std::span<const PersistenceId> ids);
  void replay_batch(std::span<const PersistenceId> ids, const EventSink& sink, const Done& done);

  platform::SqliteConnection& connection_;
  const std::uint32_t shards_;
  const Shared* const shared_;
};

}  // namespace onceward::journal::sqlite
