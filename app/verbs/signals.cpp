// sigwait instead of handlers: nothing runs in signal context.
#include "app/verbs/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace onceward::app {

namespace {

sigset_t end_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

void wait_for_end_signal() {
  const sigset_t set = end_signals();
  int received = 0;
  while (sigwait(&set, &received) != 0) {
  }
}

}  // namespace

void block_end_signals() {
  const sigset_t set = end_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

void drain_on_signal(const std::function<void()>& drain) {
  wait_for_end_signal();
  std::thread([] {
    wait_for_end_signal();
    constexpr char text[] = "second signal: quitting without drain; unfinished work is resumable\n";
    (void)!::write(STDERR_FILENO, text, sizeof text - 1);
    ::_exit(1);
  }).detach();
  drain();
}

}  // namespace onceward::app
