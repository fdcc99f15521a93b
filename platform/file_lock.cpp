// flock rather than a POSIX record lock: closing any other descriptor of the file would drop those.
#include <onceward/platform/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace onceward::platform {
namespace {

std::string reason_of(int error_number) {
  return std::generic_category().message(error_number);
}

/// What the holder wrote; digits only, so that foreign bytes never reach a message.
std::string holder_of(int descriptor) {
  std::array<char, 32> bytes{};
  const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  std::string digits;
  for (ssize_t at = 0; at < count; ++at) {
    const char c = bytes[static_cast<std::size_t>(at)];
    if (c < '0' || c > '9') break;
    digits += c;
  }
  return digits.empty() ? "another process" : "process " + digits;
}

int lock_without_waiting(int descriptor) {
  int outcome = 0;
  do {
    outcome = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (outcome != 0 && errno == EINTR);
  return outcome == 0 ? 0 : errno;
}

bool write_owner(int descriptor) {
  const std::string text = std::to_string(::getpid()) + "\n";
  return ::ftruncate(descriptor, 0) == 0 &&
         ::pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    return fail(ErrorCode::io, "lock file " + path + ": " + reason_of(errno) +
                                   "; its directory must exist and be writable");
  }
  FileLock lock(descriptor);
  const int error_number = lock_without_waiting(descriptor);
  if (error_number == EWOULDBLOCK) {
    return fail(ErrorCode::store_locked, "lock file " + path + " is held by " +
                                             holder_of(descriptor) +
                                             ": stop it first, also if it is only paused");
  }
  if (error_number != 0) {
    return fail(ErrorCode::io, "lock file " + path + ": " + reason_of(error_number) +
                                   "; the file system must support flock");
  }
  if (!write_owner(descriptor)) {
    return fail(ErrorCode::io, "lock file " + path + ": " + reason_of(errno));
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace onceward::platform
