// The lines of an export into a database, inside the caller's transaction. Private to journal.
#pragma once

#include <istream>

#include <onceward/journal/store_export.hpp>
#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// `continues`: the database holds a store with commits, which the lines must continue; otherwise
/// it is empty. Recomputes every head and the rolling hash. Errors as import_store().
[[nodiscard]] Result<ImportReport> import_lines(std::istream& lines,
                                                platform::SqliteConnection& connection,
                                                bool continues);

}  // namespace onceward::journal::sqlite
