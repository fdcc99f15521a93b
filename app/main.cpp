// The one executable.
#include <csignal>

#include "app/cli.hpp"

int main(int argc, char** argv) {
  // A reader of our output or a peer that goes away is an error to tell, not a reason to die.
  std::signal(SIGPIPE, SIG_IGN);
  return onceward::app::run_command_line(argc, argv);
}
