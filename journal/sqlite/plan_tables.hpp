// PlanStore over the tables of an SQLite store, with a connection of its own. Private to journal.
#pragma once

#include <memory>
#include <string>

#include <onceward/journal/plan_store.hpp>

#include "journal/sqlite/shared.hpp"

namespace onceward::journal::sqlite {

/// `shared` is null for a store that is only read: then begin() is refused.
[[nodiscard]] Result<std::unique_ptr<PlanStore>> make_plan_store(const std::string& path,
                                                                 const std::string& vfs,
                                                                 Shared* shared);

}  // namespace onceward::journal::sqlite
