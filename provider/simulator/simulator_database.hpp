// SimulatorDatabase: the simulator's rows in a SQLite file. Survives the end of the process at any
// moment; not a power failure, which no test of ours needs.
#pragma once

#include <string>
#include <vector>

#include <onceward/core/result.hpp>
#include <onceward/platform/file_lock.hpp>
#include <onceward/platform/sqlite.hpp>
#include <onceward/provider/simulator/simulated_provider.hpp>

namespace onceward::provider::simulator {

/// One owner, one thread at a time. Blocks on the disk.
class SimulatorDatabase {
 public:
  /// Creates the file if needed. store_mismatch for a file of another program, store_schema_newer
  /// for one of a later release, store_locked while another simulator uses it.
  [[nodiscard]] static Result<SimulatorDatabase> open(const std::string& path);

  /// All rows, in the order in which they were first stored.
  [[nodiscard]] Result<std::vector<StoredRow>> load();
  /// All or nothing: one transaction. After a failure nothing more may be stored, because what is
  /// on disk no longer follows what is in memory.
  [[nodiscard]] Result<Unit> store(const std::vector<StoredRow>& rows);

 private:
  SimulatorDatabase(platform::FileLock lock, platform::SqliteConnection connection)
      : lock_(std::move(lock)), connection_(std::move(connection)) {}
  [[nodiscard]] Result<Unit> prepare_schema(const std::string& path);
  [[nodiscard]] Result<Unit> put(const StoredRow& row);

  platform::FileLock lock_;
  platform::SqliteConnection connection_;
};

}  // namespace onceward::provider::simulator
