// FileLock: keeps a second process away from what a lock file stands for, for the life of this
// process, also while it is stopped.
#pragma once

#include <string>

#include <onceward/core/result.hpp>

namespace onceward::platform {

/// An exclusive flock on a file that holds the owner's process id as text. The kernel frees it when
/// the process ends, however it ends; stopping the process frees nothing. The descriptor is not
/// inherited by programs that the process starts (but by a fork without exec, which must not be
/// done while it is held). The file stays: removing it would let two processes lock two files of
/// one name. Move-only.
class FileLock {
 public:
  /// Creates the file if needed; never waits. store_locked naming the holder's process id if
  /// another FileLock holds it, in this process or another; io if the file cannot be opened, locked
  /// or written.
  [[nodiscard]] static Result<FileLock> acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace onceward::platform
