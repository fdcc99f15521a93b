// Bringing an SQLite store of an earlier release to the schema of this one. A node never does it by
// itself: it refuses an older store and names the command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::journal {

struct MigrationStep {
  std::int64_t to = 0;  ///< schema version after it
  std::string what;     ///< for people

  friend bool operator==(const MigrationStep&, const MigrationStep&) = default;
};

struct MigrationPlan {
  std::int64_t version = 0;          ///< of the store, before
  std::int64_t newest = 0;           ///< of this program
  std::vector<MigrationStep> steps;  ///< in order; empty: nothing to do
};

/// What migrate_store() would do. Reads only, also of a live store. not_found without a store;
/// store_mismatch for another program's database; store_schema_newer for a newer one.
[[nodiscard]] Result<MigrationPlan> plan_migration(const std::string& path);

/// Does all steps in one transaction and answers what was done: whatever interrupts it, the store
/// has the old schema or the newest one, with everything that was in it. A `dry_run` does the same
/// and rolls back. Blocks for as long as the steps take. store_locked while a node holds the store;
/// else as plan_migration(), store_io and store_full. `vfs` is for fault injection in tests.
[[nodiscard]] Result<MigrationPlan> migrate_store(const std::string& path, bool dry_run,
                                                  const std::string& vfs = {});

}  // namespace onceward::journal
