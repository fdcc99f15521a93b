// Options of `onceward harness`: recovery testing of the billing entity.
#pragma once

#include <cstdint>
#include <string>

#include <onceward/ingress/status_table.hpp>

namespace onceward::app {

struct HarnessOptions {
  std::string scenario = "all";
  bool exhaustive = false;
  std::string seeds;         ///< `N` or `A..B`; empty: 2000, or none with --exhaustive
  std::int64_t seconds = 0;  ///< stop after this long, incomplete; 0: no limit
  std::string report_file;   ///< HTML
  std::string json_file;     ///< `-`: stdout
  std::string junit_file;
  std::string without;  ///< guard to take out
  bool deep = false;    ///< larger bounds
  bool real = false;    ///< processes instead of simulated worlds
  int kills = 100;      ///< of --real: how often the node is killed or stopped
  // Of one schedule:
  std::string choices;
  std::int64_t seed = -1;  ///< with --real: of the faults; -1: 1
};

/// Exit 0 all hold; 1 a violation; 9 not everything within the bound was run, or something that
/// must happen sometimes never did; 10 two runs of one schedule differ; 2 usage.
[[nodiscard]] ingress::ExitCode harness_run(const HarnessOptions& options);
/// One schedule; `explain` prints its diagram also if everything holds.
[[nodiscard]] ingress::ExitCode harness_replay(const HarnessOptions& options, bool explains);
[[nodiscard]] ingress::ExitCode harness_shrink(const HarnessOptions& options);
/// Takes each guard out in turn; exit 1 if any of them is not missed.
[[nodiscard]] ingress::ExitCode harness_mutants(const HarnessOptions& options);
/// Schedules and worlds per second on this machine.
[[nodiscard]] ingress::ExitCode harness_bench(const HarnessOptions& options);
[[nodiscard]] ingress::ExitCode harness_list(const HarnessOptions& options);

}  // namespace onceward::app
