// StoreJudge: starts a node's store on what a crash has left, as production does, and says what it
// finds. Knows nothing of what was acknowledged; see CrashStates.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include <onceward/harness/crash_disk.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::harness {

/// What a start has found. `error` is empty if the store was opened and everything in it agrees:
/// database, chains, rolling hash, rows and caps against the fold of the events.
struct Found {
  std::string error;
  bool is_refused_as_restored = false;
  std::uint64_t commit_count = 0;
  std::uint64_t epoch = 0;  ///< taken by this start
  std::string rolling;
};

struct StoreUnderTest {
  /// A real directory for lock files; the rest lies on crash disks.
  std::string directory;
  journal::StoreIdentity identity;
  WeakSettings settings{};
  std::uint32_t anchor_every = 3;
};

/// The path of such a store in a directory of its own below; each open store needs one.
[[nodiscard]] std::string store_path(const StoreUnderTest& store, const std::string& below);

/// One thread. SQLite recovers each image; what it recovers to is opened and verified by the
/// journal once for each distinct content, since the journal sees nothing else.
class StoreJudge {
 public:
  explicit StoreJudge(StoreUnderTest store);

  /// The reference lives as long as the judge.
  const Found& judge(const DiskImage& image);
  /// How many distinct contents were opened and verified.
  [[nodiscard]] std::size_t contents() const noexcept { return known_.size(); }

 private:
  [[nodiscard]] std::string recovered_content(const DiskImage& image);
  [[nodiscard]] Found start(const DiskImage& image);

  const StoreUnderTest store_;
  const std::string path_;
  CrashDisk disk_;
  std::unordered_map<std::string, Found> known_;
};

}  // namespace onceward::harness
