// The part of verification that looks at finished plans. Private to journal.
#pragma once

#include <functional>
#include <string>

#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// Folds the rows of each finished plan again and reports each number that is not the stored one.
/// The error says what could not be read.
[[nodiscard]] Result<Unit> find_changed_plans(
    platform::SqliteConnection& connection,
    const std::function<void(std::string where, std::string what)>& report);

}  // namespace onceward::journal::sqlite
