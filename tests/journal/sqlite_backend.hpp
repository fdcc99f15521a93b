// An SQLite store in a directory of its own, removed at the end; with faults on demand.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include <onceward/journal/sqlite_journal.hpp>

#include "tests/journal/fault_vfs.hpp"

namespace onceward::journal::testing {

/// A fresh directory under the test's temporary one.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    static std::atomic<int> count{0};
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("journal_" + std::to_string(::getpid()) + "_" + std::to_string(++count));
    std::filesystem::create_directories(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline StoreIdentity test_identity(std::uint32_t shards = 4) {
  return StoreIdentity{Namespace("test-billing"), AccountLabel("default"), Mode::test, "v1",
                       shards};
}

/// Backend of JournalFixture.
class SqliteBackend {
 public:
  static constexpr std::uint32_t shards = 4;

  SqliteBackend() { open(); }
  SqliteBackend(const SqliteBackend&) = delete;
  SqliteBackend& operator=(const SqliteBackend&) = delete;
  ~SqliteBackend() {
    FaultVfs::heal();
    journal_.reset();
  }

  SqliteJournal& journal() { return *journal_; }
  void reopen() {
    close();
    open();
  }
  void close() { journal_.reset(); }
  void open() {
    auto opened = SqliteJournal::open(options());
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    journal_ = std::move(opened).value();
  }
  void break_next_commit() { FaultVfs::fail(FaultVfs::Operation::sync, "-wal", 1); }

  [[nodiscard]] SqliteJournalOptions options() const {
    return {
        .path = path(), .identity = test_identity(), .anchor_every = 3, .vfs = FaultVfs::name()};
  }
  [[nodiscard]] std::string path() const { return directory_.file("billing.db"); }
  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<SqliteJournal> journal_;
};

}  // namespace onceward::journal::testing
