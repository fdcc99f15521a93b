// The command line: which verb was asked for, with which options. The only user of the argument
// parser.
#pragma once

namespace onceward::app {

/// Runs the verb and returns the process's exit code. Usage errors are told on stderr with exit
/// code 2; help goes to stdout.
[[nodiscard]] int run_command_line(int argc, const char* const* argv);

}  // namespace onceward::app
