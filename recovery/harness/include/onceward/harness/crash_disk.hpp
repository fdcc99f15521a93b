// CrashDisk: a disk in memory for an SQLite store, which can lose its power. The real SQLite and
// the real SqliteJournal run on it; only what they hand to the operating system ends here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <onceward/harness/disk_model.hpp>
#include <onceward/journal/store_files.hpp>

namespace onceward::harness {

/// SQLite settings that take the place of those a store asks for, behind its back: the store reads
/// back what it wanted. For negative controls. Empty: as asked.
struct WeakSettings {
  std::string journal_mode{};  ///< only "delete", the mode in which SQLite opens a new file
  std::string synchronous{};   ///< "off", "normal", "full", "extra"
};

/// One thread uses a disk and all connections to it. It is a VFS of its own with a name of its own;
/// connections end before it. Behaves towards SQLite like the file system of a Unix machine:
/// 512-byte sectors, a write harms no byte beside it, new logs are synced with their directory. It
/// has one directory: of the path of a store only the last part counts (the lock file is a real
/// one).
///
///     CrashDisk disk;
///     auto journal = SqliteJournal::open({..., .vfs = disk.vfs(), .anchors = &disk});
///     disk.cut_power();        // the process dies here
///     journal->reset();        // reaches nothing any more
///     disk.restart({Loss::Writes::sectors, Loss::Names::some, seed});
class CrashDisk final : public journal::AnchorPlace {
 public:
  explicit CrashDisk(WeakSettings settings = {});
  CrashDisk(const CrashDisk&) = delete;
  CrashDisk& operator=(const CrashDisk&) = delete;
  ~CrashDisk() override;

  [[nodiscard]] const std::string& vfs() const noexcept;
  /// For StoreFiles and SqliteJournalOptions; the anchor lies on this disk, too.
  [[nodiscard]] journal::StoreFiles files(const std::string& path) { return {path, vfs(), this}; }

  /// Called after every change (write, truncation, sync, creation, removal, renaming), while the
  /// store is in the middle of its work: every place where the power may fail. It may look at this
  /// disk but not use its connections.
  void on_io(std::function<void()> called);
  [[nodiscard]] std::uint64_t io_count() const noexcept;

  /// From now on every change fails and changes nothing.
  void cut_power();
  /// The machine starts again with what the loss has left. All connections must have ended.
  void restart(const Loss& loss);
  /// The same with a content of the caller's, all of it synced. A safe disk never loses anything.
  void restart(DiskImage image, DiskModel::Kind kind = DiskModel::Kind::losing);

  /// The next change after `count` others fails as if the device broke (SQLITE_IOERR), once.
  void fail_after(std::uint64_t count);
  /// Files may grow up to this in all; more is "disk full". Absent: no bound.
  void limit_size(std::optional<std::size_t> bytes_max);

  [[nodiscard]] const DiskModel& model() const noexcept;

  Result<std::optional<std::string>> read(const std::string& path) override;
  Result<Unit> replace(const std::string& path, const std::string& text) override;

  class State;  ///< private to the VFS

 private:
  std::unique_ptr<State> state_;
};

}  // namespace onceward::harness
