// Is an existing store the newest state of itself? Private to journal.
#pragma once

#include <optional>
#include <string>

#include <onceward/platform/sqlite.hpp>

#include "journal/sqlite/anchor.hpp"
#include "journal/sqlite/store_state.hpp"

namespace onceward::journal::sqlite {

/// store_restored with what was found and what to do.
[[nodiscard]] Unexpected restored(const std::string& path, const std::string& what);

/// An absent or empty file may become a store, unless an anchor remembers commits.
[[nodiscard]] Result<Unit> expect_never_used(const StoreFiles& files);

struct StoreUnderCheck {
  std::string path;
  std::string store_id;
  StoreState state;
};
/// store_restored if the store is behind its anchor, went another way since, or has commits but no
/// anchor. Reads `commits` over the connection, in its transaction if it has one.
[[nodiscard]] Result<Unit> compare_with_anchor(const std::optional<Anchor>& anchor,
                                               const StoreUnderCheck& store,
                                               platform::SqliteConnection& connection);

}  // namespace onceward::journal::sqlite
