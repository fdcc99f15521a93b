// The verbs of the command line, one function each: options in, exit code out. Results go to
// stdout, messages to stderr. main.cpp parses; nothing here knows the parser.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <onceward/ingress/status_table.hpp>

namespace onceward::app {

using ingress::ExitCode;

/// Where a verb finds its data: a configuration file, a node, or neither (defaults).
struct Source {
  std::string config_file;  ///< -c FILE
  std::string node_url;     ///< --node URL
  std::string token_file;   ///< --token-file FILE
  bool json = false;
};

struct DevOptions {
  std::string db = "onceward-dev.db";
  std::uint16_t port = 8080;
};
struct SimOptions {
  std::string listen = "127.0.0.1:12111";
  std::uint64_t seed = 1;
  std::int64_t latency_ms = 0;
  std::string db;
};

/// Runs the node until SIGTERM or SIGINT (drains, exit 0); a second signal quits at once.
[[nodiscard]] ExitCode serve(const Source& source);
[[nodiscard]] ExitCode dev(const DevOptions& options);
[[nodiscard]] ExitCode sim(const SimOptions& options);

[[nodiscard]] ExitCode config_check(const Source& source);
[[nodiscard]] ExitCode config_show(const Source& source);
[[nodiscard]] ExitCode version(bool json);

}  // namespace onceward::app
