// What the verbs share that read a store without a node.
#pragma once

#include <filesystem>

#include <onceward/journal/sqlite_journal.hpp>

#include "app/verbs/verbs.hpp"

namespace onceward::app {

/// Path of the database named by the configuration (-c, environment).
[[nodiscard]] Result<std::filesystem::path> store_path_of(const Source& source);
/// Opens it read-only: takes no lock, so the store may be live.
[[nodiscard]] Result<journal::ReadOnlyStore> open_store_of(const Source& source);

}  // namespace onceward::app
