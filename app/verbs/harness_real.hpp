// `onceward harness run --real`: nodes and a simulator as processes, killed, stopped and restarted.
#pragma once

#include "app/verbs/harness.hpp"

namespace onceward::app {

/// Bills customers through a real node until `options.kills` faults were done to its process, lets
/// the runs end, and compares the provider's own ledger and the store with what was planned. Works
/// in a directory of its own, which stays if anything failed. Exit 0 holds, 1 does not, 9 the
/// processes could not be driven to the end.
[[nodiscard]] ingress::ExitCode harness_real(const HarnessOptions& options);

}  // namespace onceward::app
