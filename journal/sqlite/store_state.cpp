// Reading store_state.
#include "journal/sqlite/store_state.hpp"

#include <optional>

#include "journal/sqlite/query.hpp"
#include "journal/sqlite/row_columns.hpp"

namespace onceward::journal::sqlite {

Result<StoreState> read_store_state(platform::SqliteConnection& connection) {
  std::optional<StoreState> state;
  auto read = for_each_row(
      connection,
      "SELECT commit_count, last_position, rolling, obligations, open_obligations, marks "
      "FROM store_state WHERE id = 1",
      [&](const platform::SqliteStatement& row) -> Result<Go> {
        const auto rolling = read_digest(row, 2);
        if (!rolling.has_value()) return Unexpected{rolling.error()};
        state = StoreState{static_cast<std::uint64_t>(row.integer(0)),
                           static_cast<std::uint64_t>(row.integer(1)),
                           *rolling,
                           row.integer(3),
                           row.integer(4),
                           row.integer(5)};
        return Go::stop;
      });
  if (!read.has_value()) return Unexpected{std::move(read).error()};
  if (!state) return fail(ErrorCode::store_corrupt, "store_state has no row");
  return *state;
}

}  // namespace onceward::journal::sqlite
