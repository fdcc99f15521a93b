// A forked child that runs a function and tells its parent bytes through a pipe. For tests that
// stop or kill a process in the middle of its work.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>

namespace onceward::journal::testing {

class ChildProcess {
 public:
  /// Runs `body(write_descriptor)` in the child, which then exits with what it returns.
  explicit ChildProcess(const std::function<int(int)>& body) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      ::_exit(body(ends[1]));
    }
    ::close(ends[1]);
    told_ = ends[0];
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    kill();
    ::close(told_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The next `count` bytes; fewer if the child has ended.
  std::string read(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) {
      char chunk[4096];
      const ssize_t got = ::read(told_, chunk, std::min(sizeof(chunk), count - bytes.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      bytes.append(chunk, static_cast<std::size_t>(got));
    }
    return bytes;
  }
  /// All that was told, after the end of the child.
  std::string read_rest() { return read(std::size_t{1} << 30U); }

  void stop() {
    ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// Waits for the end; the exit status, or -1 if a signal ended it.
  int wait() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int told_ = -1;
};

/// In the child: tells the parent one number.
inline void tell(int descriptor, std::uint32_t number) {
  if (::write(descriptor, &number, sizeof(number)) != static_cast<ssize_t>(sizeof(number))) {
    ::_exit(3);
  }
}

}  // namespace onceward::journal::testing
