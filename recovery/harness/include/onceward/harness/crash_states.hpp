// CrashStates: lets the power of a CrashDisk fail at every change in every given way, restarts the
// store on what is left, and counts what was lost. The store goes on working meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <onceward/harness/store_judge.hpp>

namespace onceward::harness {

struct CrashTally {
  std::uint64_t io_points = 0;          ///< changes at which the power failed
  std::uint64_t states = 0;             ///< restarts
  std::uint64_t lost_acknowledged = 0;  ///< a commit or an epoch was answered and is gone
  std::uint64_t refused = 0;            ///< the store did not start: older than its anchor
  std::uint64_t damaged = 0;            ///< gap, half a commit, rows apart from events, corruption
  std::uint64_t unanswered_kept = 0;    ///< the commit in flight survived, whole
  std::string first_problem;

  [[nodiscard]] std::uint64_t bad() const { return lost_acknowledged + refused + damaged; }
};

struct CrashStatesOptions {
  StoreUnderTest store;
  /// Of the losses at each change; its seed moves on from change to change.
  LossSample losses{};
  /// Every so many states, the restart itself is a flow whose every change is a crash point
  /// (0 = never).
  std::uint64_t recovery_every = 0;
};

/// One thread. Tell it what the store has answered, as it happens.
class CrashStates {
 public:
  /// Watches the disk until its end; both must outlive the other's use.
  CrashStates(CrashStatesOptions options, CrashDisk& disk);
  ~CrashStates();
  CrashStates(const CrashStates&) = delete;
  CrashStates& operator=(const CrashStates&) = delete;

  /// A commit is on its way; until the next acknowledgement either outcome is right.
  void commit_begins() { is_in_flight_ = true; }
  /// This many commits are answered in all, no more and no less may be found from now on.
  void acknowledged(std::uint64_t commit_count);
  /// The store has returned this epoch; a later start must get a higher one.
  void epoch_taken(std::uint64_t epoch) { epoch_ = epoch; }

  /// Those of recoveries are among them.
  [[nodiscard]] const CrashTally& tally() const noexcept { return tally_; }
  [[nodiscard]] std::size_t contents() const noexcept { return judge_->contents(); }

 private:
  /// Shares the judge with the one that it crashes a recovery for.
  CrashStates(const CrashStates& outer, CrashDisk& disk, std::uint64_t seed);
  void crash_here();
  void compare(const Found& found, const Loss& loss);
  void crash_in_recovery(const DiskImage& image);
  void add(const CrashTally& other);
  void report(std::uint64_t& count, const Loss& loss, const std::string& what);

  CrashStatesOptions options_;
  CrashDisk& disk_;
  std::shared_ptr<StoreJudge> judge_;  // of the outermost one
  CrashTally tally_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t epoch_ = 0;
  bool is_in_flight_ = false;
  std::map<std::uint64_t, std::string> rolling_;  // by commit count, as first found
};

}  // namespace onceward::harness
