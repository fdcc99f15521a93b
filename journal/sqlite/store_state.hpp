// The one row that says how far a store has come. Private to journal.
#pragma once

#include <cstdint>

#include <onceward/core/digest.hpp>
#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// The row of `store_state`.
struct StoreState {
  std::uint64_t commit_count = 0;
  std::uint64_t last_position = 0;
  Digest rolling;
  std::int64_t obligations = 0;
  std::int64_t open_obligations = 0;
  std::int64_t marks = 0;

  friend bool operator==(const StoreState&, const StoreState&) = default;
};

/// store_corrupt if there is no such row.
[[nodiscard]] Result<StoreState> read_store_state(platform::SqliteConnection& connection);

}  // namespace onceward::journal::sqlite
