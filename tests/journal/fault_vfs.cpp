// The shim: each file object holds the real one behind it.
#include "tests/journal/fault_vfs.hpp"

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

namespace onceward::journal::testing {
namespace {

struct Script {
  FaultVfs::Operation operation = FaultVfs::Operation::sync;
  std::string suffix;
  int nth = 0;
  int more = 0;
  bool is_torn = false;
  bool is_armed = false;
  bool is_disk_full = false;
  int seen = 0;
  int failures = 0;
};
Script script;
std::mutex script_mutex;

struct ShimFile {
  sqlite3_file base;
  bool is_named;
  char name[1024];
};

sqlite3_vfs* real_vfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}
constexpr int shim_bytes = (sizeof(ShimFile) + 15) / 16 * 16;
sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + shim_bytes);
}

bool ends_with(const char* text, const std::string& suffix) {
  const std::string whole(text);
  return whole.size() >= suffix.size() &&
         whole.compare(whole.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// 0, or the SQLite code with which this operation fails.
int verdict(FaultVfs::Operation operation, sqlite3_file* file, bool& is_torn) {
  const auto* const shim = reinterpret_cast<ShimFile*>(file);
  const std::lock_guard guard(script_mutex);
  if (script.is_disk_full && operation == FaultVfs::Operation::write) {
    ++script.failures;
    return SQLITE_FULL;
  }
  if (!script.is_armed || operation != script.operation || !shim->is_named ||
      !ends_with(shim->name, script.suffix)) {
    return SQLITE_OK;
  }
  ++script.seen;
  if (script.seen < script.nth || script.seen > script.nth + script.more) return SQLITE_OK;
  ++script.failures;
  is_torn = script.is_torn;
  switch (operation) {
    case FaultVfs::Operation::sync:
      return SQLITE_IOERR_FSYNC;
    case FaultVfs::Operation::write:
      return SQLITE_IOERR_WRITE;
    case FaultVfs::Operation::read:
      return SQLITE_IOERR_READ;
  }
  return SQLITE_IOERR;
}

int shim_close(sqlite3_file* file) {
  return real(file)->pMethods->xClose(real(file));
}
int shim_read(sqlite3_file* file, void* bytes, int count, sqlite3_int64 at) {
  bool is_torn = false;
  const int code = verdict(FaultVfs::Operation::read, file, is_torn);
  return code == SQLITE_OK ? real(file)->pMethods->xRead(real(file), bytes, count, at) : code;
}
int shim_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  bool is_torn = false;
  const int code = verdict(FaultVfs::Operation::write, file, is_torn);
  if (code == SQLITE_OK) return real(file)->pMethods->xWrite(real(file), bytes, count, at);
  if (is_torn) real(file)->pMethods->xWrite(real(file), bytes, count / 2, at);
  return code;
}
int shim_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return real(file)->pMethods->xTruncate(real(file), size);
}
int shim_sync(sqlite3_file* file, int flags) {
  bool is_torn = false;
  const int code = verdict(FaultVfs::Operation::sync, file, is_torn);
  return code == SQLITE_OK ? real(file)->pMethods->xSync(real(file), flags) : code;
}
int shim_file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int shim_lock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
int shim_unlock(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int shim_check_reserved(sqlite3_file* file, int* out) {
  return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int shim_control(sqlite3_file* file, int op, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), op, argument);
}
int shim_sector_size(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
int shim_characteristics(sqlite3_file* file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
int shim_shm_map(sqlite3_file* file, int page, int size, int extend, volatile void** out) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
int shim_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shim_shm_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}
int shim_shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

// Version 2: shared memory, which WAL needs, but no memory mapping of the file.
constexpr sqlite3_io_methods methods = {2,
                                        shim_close,
                                        shim_read,
                                        shim_write,
                                        shim_truncate,
                                        shim_sync,
                                        shim_file_size,
                                        shim_lock,
                                        shim_unlock,
                                        shim_check_reserved,
                                        shim_control,
                                        shim_sector_size,
                                        shim_characteristics,
                                        shim_shm_map,
                                        shim_shm_lock,
                                        shim_shm_barrier,
                                        shim_shm_unmap,
                                        nullptr,
                                        nullptr};

int shim_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* const shim = new (file) ShimFile{};
  shim->is_named = name != nullptr;
  if (name != nullptr) std::strncpy(shim->name, name, sizeof(shim->name) - 1);
  const int code = real_vfs()->xOpen(real_vfs(), name, real(file), flags, out_flags);
  if (code == SQLITE_OK) file->pMethods = &methods;
  return code;
}

sqlite3_vfs make_vfs(const char* name) {
  sqlite3_vfs vfs = *real_vfs();
  vfs.szOsFile = shim_bytes + real_vfs()->szOsFile;
  vfs.zName = name;
  vfs.pNext = nullptr;
  vfs.xOpen = shim_open;
  return vfs;
}

}  // namespace

const char* FaultVfs::name() {
  static const char* const vfs_name = "onceward-fault";
  static sqlite3_vfs vfs = make_vfs(vfs_name);
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  return registered == SQLITE_OK ? vfs_name : "registration failed";
}

void FaultVfs::fail(Operation operation, const std::string& suffix, int nth, int more,
                    bool is_torn) {
  const std::lock_guard guard(script_mutex);
  const int failures = script.failures;
  script = Script{operation, suffix, nth, more, is_torn, true, script.is_disk_full, 0, failures};
}
void FaultVfs::fill_disk() {
  const std::lock_guard guard(script_mutex);
  script.is_disk_full = true;
}
void FaultVfs::heal() {
  const std::lock_guard guard(script_mutex);
  script = Script{};
}
int FaultVfs::failures() {
  const std::lock_guard guard(script_mutex);
  return script.failures;
}
int FaultVfs::seen() {
  const std::lock_guard guard(script_mutex);
  return script.seen;
}

}  // namespace onceward::journal::testing
