// The part of verification that looks at the schema itself. Private to journal.
#pragma once

#include <functional>
#include <string>

#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// Reports the name of each table, index, trigger and view that is missing or is not as this
/// program creates it; layout and comments do not count. The error says what could not be read.
[[nodiscard]] Result<Unit> find_changed_schema(platform::SqliteConnection& connection,
                                               const std::function<void(std::string)>& report);

}  // namespace onceward::journal::sqlite
