// The folder of the database file: checked before the store is opened, because what is wrong with
// it is a matter of the configuration, not of the store.
#pragma once

#include <filesystem>

#include <onceward/core/result.hpp>

namespace onceward::app {

/// invalid_config, naming folder and remedy, unless the folder of `database` exists and this user
/// may create files in it.
[[nodiscard]] Result<Unit> check_store_folder(const std::filesystem::path& database);

}  // namespace onceward::app
