// The state of a CrashDisk as its VFS sees it. Private to the harness.
#pragma once

#include <sqlite3.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include <onceward/harness/crash_disk.hpp>

namespace onceward::harness {

/// Locks and shared memory of one file, as all connections to it see them. They live in the memory
/// of the machine: a restart forgets them.
struct FileSharing {
  static constexpr int slots = SQLITE_SHM_NLOCK;
  int readers = 0;
  const void* reserved = nullptr;
  const void* pending = nullptr;
  const void* exclusive = nullptr;

  std::deque<std::string> regions;  // at fixed addresses
  int mappers = 0;
  std::array<int, slots> shared_slots{};
  std::array<const void*, slots> exclusive_slots{};
};

class CrashDisk::State {
 public:
  enum class Verdict : std::uint8_t { ok, no_power, broken, full };

  /// Before a change that makes files larger by `growth` bytes.
  [[nodiscard]] Verdict admit(std::size_t growth);
  /// After a change.
  void changed() {
    ++io_count;
    if (on_io) on_io();
  }
  FileSharing& sharing_of(DiskModel::FileNr file);

  std::string name;
  sqlite3_vfs vfs{};
  WeakSettings settings;
  bool is_weakening = false;  // inside our own pragma
  DiskModel disk;
  std::map<DiskModel::FileNr, std::unique_ptr<FileSharing>> sharing;
  std::function<void()> on_io;
  std::uint64_t io_count = 0;
  bool has_power = true;
  std::optional<std::uint64_t> fails_in;
  std::optional<std::size_t> bytes_max;
  int open_files = 0;
};

/// Fills in the functions of the VFS.
void make_vfs(CrashDisk::State& state);

}  // namespace onceward::harness
