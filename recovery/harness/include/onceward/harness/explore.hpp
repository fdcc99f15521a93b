// The engines: exhaustive to the scenario's bound, random from seeds, replay of one schedule, and
// the search for the shortest schedule that still fails. One world under all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <onceward/harness/world.hpp>

namespace onceward::harness {

/// A schedule under which an invariant did not hold.
struct Failure {
  Violation violation;
  Choices choices;
  std::optional<std::uint64_t> seed;  ///< of the random run that found it
};

/// What a run of one scenario under one engine showed.
struct Report {
  std::string scenario;
  std::string engine;  ///< "exhaustive" or "random"
  /// Schedules within the bound that were run or shown to be equal to one that was.
  std::uint64_t schedules = 0;
  std::uint64_t executed = 0;  ///< run to their end
  std::uint64_t cut = 0;       ///< ended where all that follows had been run before
  std::uint64_t states = 0;    ///< different states in which a schedule could go several ways
  bool complete = false;       ///< nothing of the bound, or of the seeds, was left out
  Counts counts;               ///< of what was executed
  std::optional<Failure> failure;
  /// Two runs of one schedule that differ; empty if there are none.
  std::string non_deterministic;
  std::string problem;                 ///< the scenario cannot be run at all
  std::vector<std::string> unreached;  ///< labels of `sometimes` that no schedule reached
  double seconds = 0;
  /// Of one core: what a rate per core is taken over, also on a machine with other work.
  double cpu_seconds = 0;
  FaultBounds bound;

  /// Schedules per second of one core.
  [[nodiscard]] double per_second(std::uint64_t count) const noexcept {
    return cpu_seconds > 0 ? static_cast<double>(count) / cpu_seconds : 0;
  }
  [[nodiscard]] bool holds() const noexcept {
    return !failure && non_deterministic.empty() && problem.empty() && unreached.empty();
  }
};

struct ExploreOptions {
  /// Stop, incomplete, after this time; 0: no limit.
  std::chrono::milliseconds time_max{0};
  /// False runs every schedule to its end; the same verdict, only slower.
  bool prunes = true;
  /// Called now and then, at least every 100 ms of a long run.
  std::function<void(const Report&)> progress;
};

/// Every schedule within the scenario's bounds; stops at the first violation.
[[nodiscard]] Report explore(const Scenario& scenario, const ExploreOptions& options = {});

/// Seeds first .. first + count - 1, each run twice if `twice`, with equal digests demanded.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t count = 1000;
  bool twice = false;
};
[[nodiscard]] Report run_seeds(const Scenario& scenario, const SeedRange& seeds,
                               const ExploreOptions& options = {});

/// One schedule, with everything that happened.
struct Replay {
  std::optional<Violation> violation;
  std::vector<TraceLine> trace;
  std::uint64_t digest = 0;
  Counts counts;
};
[[nodiscard]] Replay replay(const Scenario& scenario, const Choices& choices);
/// The choices that a seed draws.
[[nodiscard]] Choices choices_of(const Scenario& scenario, std::uint64_t seed);

/// The schedule with the fewest faults, then the earliest, that breaks the same invariant. Looks
/// through all smaller bounds made of the failure's own kinds of fault until `time_max`, then drops
/// single faults. Never worse than what it is given.
[[nodiscard]] Failure shrink(const Scenario& scenario, const Failure& failure,
                             std::chrono::milliseconds time_max = std::chrono::seconds{5});

}  // namespace onceward::harness
