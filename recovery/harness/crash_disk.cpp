// The disk as the harness handles it: power, limits, anchor. Its VFS is crash_vfs.cpp.
#include <onceward/harness/crash_disk.hpp>

#include <sqlite3.h>

#include <atomic>

#include <onceward/core/check.hpp>

#include "recovery/harness/crash_disk_state.hpp"

namespace onceward::harness {
namespace {

std::string next_name() {
  static std::atomic<std::uint64_t> count{0};
  return "onceward-crash-" + std::to_string(++count);
}

std::string anchor_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1) + ".anchor";
}

Unexpected failed(CrashDisk::State::Verdict verdict, const std::string& name) {
  const bool is_full = verdict == CrashDisk::State::Verdict::full;
  return fail(is_full ? ErrorCode::store_full : ErrorCode::store_io,
              "anchor: write " + name + (is_full ? ": disk full" : ": the device failed"));
}

}  // namespace

CrashDisk::State::Verdict CrashDisk::State::admit(std::size_t growth) {
  if (!has_power) return Verdict::no_power;
  if (fails_in) {
    const bool is_now = *fails_in == 0;
    is_now ? fails_in.reset() : void(--*fails_in);
    if (is_now) return Verdict::broken;
  }
  if (growth != 0 && bytes_max && disk.size() + growth > *bytes_max) return Verdict::full;
  return Verdict::ok;
}

FileSharing& CrashDisk::State::sharing_of(DiskModel::FileNr file) {
  auto& found = sharing[file];
  if (!found) found = std::make_unique<FileSharing>();
  return *found;
}

CrashDisk::CrashDisk(WeakSettings settings) : state_(std::make_unique<State>()) {
  state_->name = next_name();
  state_->settings = std::move(settings);
  make_vfs(*state_);
  ONCEWARD_CHECK(sqlite3_vfs_register(&state_->vfs, 0) == SQLITE_OK, "a VFS can be registered");
}

CrashDisk::~CrashDisk() {
  ONCEWARD_CHECK(state_->open_files == 0, "connections end before their disk");
  sqlite3_vfs_unregister(&state_->vfs);
}

const std::string& CrashDisk::vfs() const noexcept {
  return state_->name;
}
void CrashDisk::on_io(std::function<void()> called) {
  state_->on_io = std::move(called);
}
std::uint64_t CrashDisk::io_count() const noexcept {
  return state_->io_count;
}
void CrashDisk::cut_power() {
  state_->has_power = false;
}
void CrashDisk::restart(const Loss& loss) {
  restart(state_->disk.image_after(loss));
}
void CrashDisk::restart(DiskImage image, DiskModel::Kind kind) {
  ONCEWARD_CHECK(state_->open_files == 0, "connections end before their machine starts again");
  state_->disk = DiskModel(std::move(image), kind);
  state_->sharing.clear();
  state_->has_power = true;
}
void CrashDisk::fail_after(std::uint64_t count) {
  state_->fails_in = count;
}
void CrashDisk::limit_size(std::optional<std::size_t> bytes_max) {
  state_->bytes_max = bytes_max;
}
const DiskModel& CrashDisk::model() const noexcept {
  return state_->disk;
}

Result<std::optional<std::string>> CrashDisk::read(const std::string& path) {
  const auto file = state_->disk.find(anchor_name(path));
  if (!file) return std::optional<std::string>();
  return std::optional(state_->disk.content(*file));
}

/// The steps of the file that production writes, each of them a place for the power to fail.
Result<Unit> CrashDisk::replace(const std::string& path, const std::string& text) {
  using Verdict = State::Verdict;
  const std::string name = anchor_name(path);
  const std::string temporary = name + ".new";
  DiskModel& disk = state_->disk;
  DiskModel::FileNr file = 0;
  const auto steps = {std::function<void()>([&] {
                        if (const auto old = disk.find(temporary)) {
                          disk.truncate(file = *old, 0);
                        } else {
                          file = disk.create(temporary);
                        }
                      }),
                      std::function<void()>([&] { disk.write(file, 0, text); }),
                      std::function<void()>([&] { disk.sync(file); }),
                      std::function<void()>([&] { disk.rename(temporary, name); }),
                      std::function<void()>([&] { disk.sync_names(); })};
  for (const auto& step : steps) {
    const auto verdict = state_->admit(&step == steps.begin() + 1 ? text.size() : 0);
    if (verdict != Verdict::ok) return failed(verdict, name);
    step();
    state_->changed();
  }
  return ok();
}

}  // namespace onceward::harness
