// Readers of an SQLite store over connections of their own. Private to journal.
#pragma once

#include <memory>
#include <string>

#include <onceward/journal/journal.hpp>

#include "journal/sqlite/shared.hpp"

namespace onceward::journal::sqlite {

/// `shared` is null for a store that is only read: then epochs come from the store and nothing is
/// in doubt. `shards` as recorded in the store.
[[nodiscard]] Result<std::unique_ptr<JournalReader>> make_reader(const std::string& path,
                                                                 const std::string& vfs,
                                                                 std::uint32_t shards,
                                                                 const Shared* shared);

}  // namespace onceward::journal::sqlite
