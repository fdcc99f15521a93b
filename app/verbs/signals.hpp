// Waiting for the signals that end a daemon. Blocks them in every thread started later, so that one
// thread receives them as data.
#pragma once

#include <functional>

namespace onceward::app {

/// Call first in main's thread, before any other thread exists. Also ignores SIGPIPE.
void block_end_signals();

/// Waits for SIGTERM or SIGINT, then runs `drain`; a second signal meanwhile ends the process at
/// once with exit code 1: whatever is in memory is resumable, as after a kill.
void drain_on_signal(const std::function<void()>& drain);

}  // namespace onceward::app
