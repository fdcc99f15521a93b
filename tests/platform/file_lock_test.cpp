// FileLock against real processes: a running, a stopped and a killed holder.
#include <onceward/platform/file_lock.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace onceward::platform {
namespace {

class FileLockTest : public testing::Test {
 protected:
  void TearDown() override {
    if (holder_ > 0) end_holder();
    std::filesystem::remove(path_);
  }

  /// Starts a process that takes the lock and waits; returns once it holds it.
  void start_holder() {
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    holder_ = ::fork();
    ASSERT_GE(holder_, 0);
    if (holder_ == 0) {
      const auto lock = FileLock::acquire(path_);
      const char answer = lock.has_value() ? 'y' : 'n';
      if (::write(told[1], &answer, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char answer = '?';
    ASSERT_EQ(::read(told[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    ::close(told[0]);
    ::close(told[1]);
  }
  void end_holder() {
    ::kill(holder_, SIGKILL);
    ::waitpid(holder_, nullptr, 0);
    holder_ = -1;
  }
  void expect_refused_by_holder() {
    const auto refused = FileLock::acquire(path_);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::store_locked);
    EXPECT_NE(refused.error().context.find("process " + std::to_string(holder_)), std::string::npos)
        << refused.error().context;
  }

  std::string path_ = testing::TempDir() + "file_lock_test_" + std::to_string(::getpid());
  pid_t holder_ = -1;
};

TEST_F(FileLockTest, KeepsOthersOutWhileTheHolderRunsOrIsStoppedAndLetsThemInWhenItIsKilled) {
  start_holder();
  expect_refused_by_holder();
  ASSERT_EQ(::kill(holder_, SIGSTOP), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(holder_, &status, WUNTRACED), holder_);
  ASSERT_TRUE(WIFSTOPPED(status));
  expect_refused_by_holder();
  end_holder();
  EXPECT_TRUE(FileLock::acquire(path_).has_value());
}

TEST_F(FileLockTest, IsExclusiveInsideOneProcessAndEndsWithTheObject) {
  {
    auto first = FileLock::acquire(path_);
    ASSERT_TRUE(first.has_value());
    const FileLock moved = std::move(first).value();
    EXPECT_FALSE(FileLock::acquire(path_).has_value());
  }
  EXPECT_TRUE(FileLock::acquire(path_).has_value());
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(FileLockTest, WritesItsProcessIdOverWhatWasThere) {
  std::ofstream(path_) << "99999999999 and more";
  const auto lock = FileLock::acquire(path_);
  ASSERT_TRUE(lock.has_value());
  std::string content;
  std::getline(std::ifstream(path_), content);
  EXPECT_EQ(content, std::to_string(::getpid()));
}

TEST_F(FileLockTest, SaysWhatIsWrongWithTheDirectory) {
  const auto lock = FileLock::acquire("/nonexistent-directory/lock");
  ASSERT_FALSE(lock.has_value());
  EXPECT_EQ(lock.error().code, ErrorCode::io);
  EXPECT_NE(lock.error().context.find("/nonexistent-directory/lock"), std::string::npos);
}

}  // namespace
}  // namespace onceward::platform
