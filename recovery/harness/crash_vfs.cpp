// The functions that SQLite calls. Files are numbers in the disk model; a file without a name is
// scratch memory that nobody expects to find again.
#include <sqlite3.h>

#include <cstring>
#include <memory>

#include <onceward/core/check.hpp>

#include "recovery/harness/crash_disk_state.hpp"

namespace onceward::harness {
namespace {

using State = CrashDisk::State;
using Verdict = State::Verdict;

/// The object that SQLite allocates for each open file.
struct OpenFile {
  sqlite3_file base;
  State* state;
  std::optional<DiskModel::FileNr> number;  // absent: scratch
  std::string scratch;
  bool is_name_unsynced;  // created by this open as a log: its directory is synced with it
  int lock;
  bool is_mapper;
};

OpenFile& self(sqlite3_file* file) {
  return *reinterpret_cast<OpenFile*>(file);
}
FileSharing& sharing(OpenFile& file) {
  return file.state->sharing_of(*file.number);
}
const std::string& content(const OpenFile& file) {
  return file.number ? file.state->disk.content(*file.number) : file.scratch;
}

int code_of(Verdict verdict, int io_code) {
  switch (verdict) {
    case Verdict::ok:
      return SQLITE_OK;
    case Verdict::no_power:
    case Verdict::broken:
      return io_code;
    case Verdict::full:
      return SQLITE_FULL;
  }
  return SQLITE_IOERR;
}

int file_close(sqlite3_file* base) {
  OpenFile& file = self(base);
  --file.state->open_files;
  std::destroy_at(&file);
  return SQLITE_OK;
}

int file_read(sqlite3_file* base, void* bytes, int count, sqlite3_int64 at) {
  const std::string& whole = content(self(base));
  const auto from = static_cast<std::size_t>(at);
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t there = from < whole.size() ? std::min(wanted, whole.size() - from) : 0;
  if (there != 0) std::memcpy(bytes, whole.data() + from, there);
  if (there == wanted) return SQLITE_OK;
  std::memset(static_cast<char*>(bytes) + there, 0, wanted - there);
  return SQLITE_IOERR_SHORT_READ;
}

int file_write(sqlite3_file* base, const void* bytes, int count, sqlite3_int64 at) {
  OpenFile& file = self(base);
  const std::string_view text(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
  const auto from = static_cast<std::size_t>(at);
  const std::size_t end = from + text.size();
  if (!file.number) {
    if (file.scratch.size() < end) file.scratch.resize(end);
    file.scratch.replace(from, text.size(), text);
    return SQLITE_OK;
  }
  const std::size_t size = content(file).size();
  const Verdict verdict = file.state->admit(end > size ? end - size : 0);
  if (verdict != Verdict::ok) return code_of(verdict, SQLITE_IOERR_WRITE);
  file.state->disk.write(*file.number, from, text);
  file.state->changed();
  return SQLITE_OK;
}

int file_truncate(sqlite3_file* base, sqlite3_int64 size) {
  OpenFile& file = self(base);
  if (!file.number) {
    file.scratch.resize(static_cast<std::size_t>(size));
    return SQLITE_OK;
  }
  const Verdict verdict = file.state->admit(0);
  if (verdict != Verdict::ok) return code_of(verdict, SQLITE_IOERR_TRUNCATE);
  file.state->disk.truncate(*file.number, static_cast<std::size_t>(size));
  file.state->changed();
  return SQLITE_OK;
}

int file_sync(sqlite3_file* base, int) {
  OpenFile& file = self(base);
  if (!file.number) return SQLITE_OK;
  Verdict verdict = file.state->admit(0);
  if (verdict != Verdict::ok) return code_of(verdict, SQLITE_IOERR_FSYNC);
  file.state->disk.sync(*file.number);
  file.state->changed();
  if (!file.is_name_unsynced) return SQLITE_OK;
  verdict = file.state->admit(0);
  if (verdict != Verdict::ok) return code_of(verdict, SQLITE_IOERR_DIR_FSYNC);
  file.state->disk.sync_names();
  file.is_name_unsynced = false;
  file.state->changed();
  return SQLITE_OK;
}

int file_size(sqlite3_file* base, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(content(self(base)).size());
  return SQLITE_OK;
}

bool is_others(const void* holder, const OpenFile& file) {
  return holder != nullptr && holder != &file;
}

int file_lock(sqlite3_file* base, int level) {
  OpenFile& file = self(base);
  if (!file.number || level <= file.lock) return SQLITE_OK;
  FileSharing& locks = sharing(file);
  if (level == SQLITE_LOCK_SHARED) {
    if (is_others(locks.pending, file) || is_others(locks.exclusive, file)) return SQLITE_BUSY;
    ++locks.readers;
  } else if (level == SQLITE_LOCK_RESERVED) {
    if (is_others(locks.reserved, file)) return SQLITE_BUSY;
    locks.reserved = &file;
  } else {
    if (is_others(locks.reserved, file) || is_others(locks.pending, file)) return SQLITE_BUSY;
    locks.pending = &file;
    file.lock = SQLITE_LOCK_PENDING;
    if (locks.readers > 1) return SQLITE_BUSY;
    locks.exclusive = &file;
  }
  file.lock = level;
  return SQLITE_OK;
}

int file_unlock(sqlite3_file* base, int level) {
  OpenFile& file = self(base);
  if (!file.number || level >= file.lock) return SQLITE_OK;
  FileSharing& locks = sharing(file);
  for (const void** holder : {&locks.reserved, &locks.pending, &locks.exclusive}) {
    if (*holder == &file) *holder = nullptr;
  }
  if (level == SQLITE_LOCK_NONE) --locks.readers;
  file.lock = level;
  return SQLITE_OK;
}

int file_check_reserved(sqlite3_file* base, int* is_reserved) {
  const OpenFile& file = self(base);
  const FileSharing& locks = sharing(self(base));
  *is_reserved = is_others(locks.reserved, file) || is_others(locks.pending, file) ||
                 is_others(locks.exclusive, file);
  return SQLITE_OK;
}

/// A pragma that a weak disk answers as the store wants to hear it, without doing it.
int answer_pragma(const State& state, char** argument) {
  if (state.is_weakening) return SQLITE_NOTFOUND;
  const std::string_view name = argument[1];
  if (name == "journal_mode" && !state.settings.journal_mode.empty()) {
    argument[0] = sqlite3_mprintf("wal");
    return SQLITE_OK;
  }
  if (name == "synchronous" && !state.settings.synchronous.empty()) {
    argument[0] = sqlite3_mprintf("2");
    return SQLITE_OK;
  }
  return SQLITE_NOTFOUND;
}

int file_control(sqlite3_file* base, int operation, void* argument) {
  const OpenFile& file = self(base);
  if (operation == SQLITE_FCNTL_PRAGMA) {
    return answer_pragma(*file.state, static_cast<char**>(argument));
  }
  return SQLITE_NOTFOUND;
}

int file_sector_size(sqlite3_file*) {
  return static_cast<int>(sector_bytes);
}
int file_characteristics(sqlite3_file*) {
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

int shm_map(sqlite3_file* base, int region, int bytes, int is_extending, volatile void** out) {
  OpenFile& file = self(base);
  FileSharing& memory = sharing(file);
  if (!file.is_mapper) ++memory.mappers;
  file.is_mapper = true;
  const auto wanted = static_cast<std::size_t>(region) + 1;
  *out = nullptr;
  if (memory.regions.size() < wanted && is_extending == 0) return SQLITE_OK;
  while (memory.regions.size() < wanted) {
    memory.regions.emplace_back(static_cast<std::size_t>(bytes), '\0');
  }
  *out = memory.regions[wanted - 1].data();
  return SQLITE_OK;
}

int shm_lock(sqlite3_file* base, int offset, int count, int flags) {
  OpenFile& file = self(base);
  FileSharing& memory = sharing(file);
  const auto from = static_cast<std::size_t>(offset);
  const auto to = from + static_cast<std::size_t>(count);
  const bool is_shared = (flags & SQLITE_SHM_SHARED) != 0;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    for (std::size_t slot = from; slot < to; ++slot) {
      if (is_shared) {
        --memory.shared_slots[slot];
      } else if (memory.exclusive_slots[slot] == &file) {
        memory.exclusive_slots[slot] = nullptr;
      }
    }
    return SQLITE_OK;
  }
  for (std::size_t slot = from; slot < to; ++slot) {
    if (memory.exclusive_slots[slot] != nullptr) return SQLITE_BUSY;
    if (!is_shared && memory.shared_slots[slot] != 0) return SQLITE_BUSY;
  }
  for (std::size_t slot = from; slot < to; ++slot) {
    if (is_shared) {
      ++memory.shared_slots[slot];
    } else {
      memory.exclusive_slots[slot] = &file;
    }
  }
  return SQLITE_OK;
}

void shm_barrier(sqlite3_file*) {}

int shm_unmap(sqlite3_file* base, int) {
  OpenFile& file = self(base);
  if (!file.is_mapper) return SQLITE_OK;
  file.is_mapper = false;
  FileSharing& memory = sharing(file);
  if (--memory.mappers == 0) memory.regions.clear();
  return SQLITE_OK;
}

// Version 2: shared memory, which WAL needs, but no memory mapping of the file.
constexpr sqlite3_io_methods file_methods = {2,
                                             file_close,
                                             file_read,
                                             file_write,
                                             file_truncate,
                                             file_sync,
                                             file_size,
                                             file_lock,
                                             file_unlock,
                                             file_check_reserved,
                                             file_control,
                                             file_sector_size,
                                             file_characteristics,
                                             shm_map,
                                             shm_lock,
                                             shm_barrier,
                                             shm_unmap,
                                             nullptr,
                                             nullptr};

/// The disk has one directory: where a test keeps the lock file beside it does not matter.
std::string name_on_disk(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

State& state_of(sqlite3_vfs* vfs) {
  return *static_cast<State*>(vfs->pAppData);
}
sqlite3_vfs* real_vfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

int vfs_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* base, int flags, int* out_flags) {
  State& state = state_of(vfs);
  base->pMethods = nullptr;
  std::optional<DiskModel::FileNr> number;
  bool is_new = false;
  if (name != nullptr) {
    number = state.disk.find(name_on_disk(name));
    if (!number) {
      if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
      const Verdict verdict = state.admit(0);
      if (verdict != Verdict::ok) return code_of(verdict, SQLITE_CANTOPEN);
      number = state.disk.create(name_on_disk(name));
      is_new = true;
    }
  }
  constexpr int logs = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL;
  auto* const file = std::construct_at(reinterpret_cast<OpenFile*>(base));
  file->state = &state;
  file->number = number;
  file->is_name_unsynced = is_new && (flags & logs) != 0;
  file->base.pMethods = &file_methods;
  ++state.open_files;
  if (out_flags != nullptr) *out_flags = flags;
  if (is_new) state.changed();
  return SQLITE_OK;
}

int vfs_delete(sqlite3_vfs* vfs, const char* path, int is_synced) {
  State& state = state_of(vfs);
  const std::string name = name_on_disk(path);
  if (!state.disk.find(name)) return SQLITE_IOERR_DELETE_NOENT;
  Verdict verdict = state.admit(0);
  if (verdict != Verdict::ok) return code_of(verdict, SQLITE_IOERR_DELETE);
  state.disk.remove(name);
  state.changed();
  if (is_synced == 0) return SQLITE_OK;
  verdict = state.admit(0);
  if (verdict != Verdict::ok) return code_of(verdict, SQLITE_IOERR_DIR_FSYNC);
  state.disk.sync_names();
  state.changed();
  return SQLITE_OK;
}

/// As on Unix, a file without content does not count as there.
int vfs_access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
  const State& state = state_of(vfs);
  const auto file = state.disk.find(name_on_disk(name));
  *out = file && (flags != SQLITE_ACCESS_EXISTS || !state.disk.content(*file).empty());
  return SQLITE_OK;
}

int vfs_full_name(sqlite3_vfs*, const char* name, int bytes, char* out) {
  if (std::strlen(name) >= static_cast<std::size_t>(bytes)) return SQLITE_CANTOPEN;
  std::memcpy(out, name, std::strlen(name) + 1);
  return SQLITE_OK;
}

int vfs_randomness(sqlite3_vfs*, int count, char* out) {
  return real_vfs()->xRandomness(real_vfs(), count, out);
}
int vfs_sleep(sqlite3_vfs*, int microseconds) {
  return microseconds;  // one thread: whoever holds the lock will not let go meanwhile
}
int vfs_time(sqlite3_vfs*, double* out) {
  return real_vfs()->xCurrentTime(real_vfs(), out);
}
int vfs_last_error(sqlite3_vfs*, int, char*) {
  return 0;
}

/// SQLite calls it for each new connection of the process.
int weaken(sqlite3* connection, char**, const sqlite3_api_routines*) {
  sqlite3_vfs* vfs = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  if (vfs == nullptr || vfs->xOpen != vfs_open) return SQLITE_OK;
  State& state = state_of(vfs);
  if (state.settings.synchronous.empty()) return SQLITE_OK;
  const std::string sql = "PRAGMA synchronous = " + state.settings.synchronous;
  state.is_weakening = true;
  sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
  state.is_weakening = false;
  return SQLITE_OK;
}

}  // namespace

void make_vfs(CrashDisk::State& state) {
  [[maybe_unused]] static const int registered =
      sqlite3_auto_extension(reinterpret_cast<void (*)()>(weaken));
  state.vfs.iVersion = 1;
  state.vfs.szOsFile = static_cast<int>(sizeof(OpenFile));
  state.vfs.mxPathname = 1024;
  state.vfs.zName = state.name.c_str();
  state.vfs.pAppData = &state;
  state.vfs.xOpen = vfs_open;
  state.vfs.xDelete = vfs_delete;
  state.vfs.xAccess = vfs_access;
  state.vfs.xFullPathname = vfs_full_name;
  state.vfs.xRandomness = vfs_randomness;
  state.vfs.xSleep = vfs_sleep;
  state.vfs.xCurrentTime = vfs_time;
  state.vfs.xGetLastError = vfs_last_error;
}

}  // namespace onceward::harness
