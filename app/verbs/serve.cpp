// serve, dev and sim: the verbs that stay.
#include <cstdio>
#include <filesystem>
#include <stop_token>
#include <thread>

#include <onceward/provider/simulator/simulator.hpp>

#include "app/config/config_load.hpp"
#include "app/node.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/signals.hpp"
#include "app/verbs/verbs.hpp"

namespace onceward::app {

namespace {

platform::LogOptions log_options(const Config& config) {
  platform::LogOptions options;
  options.style =
      config.log.format == LogFormat::json ? platform::LogStyle::json : platform::LogStyle::text;
  switch (config.log.level) {
    case LogLevel::debug:
      options.level = platform::LogLevel::debug;
      break;
    case LogLevel::info:
      options.level = platform::LogLevel::info;
      break;
    case LogLevel::warn:
      options.level = platform::LogLevel::warn;
      break;
    case LogLevel::error:
      options.level = platform::LogLevel::error;
      break;
  }
  options.node = config.node.name;
  return options;
}

ExitCode run_node(const Config& config, const std::function<void(const Node&)>& started) {
  platform::Log log(log_options(config));
  auto node = Node::start(config, log);
  if (!node) return report(node.error());
  started(**node);
  drain_on_signal([&node] { (*node)->drain(); });
  log.info("node", "stopped");
  return ExitCode::ok;
}

}  // namespace

ExitCode serve(const Source& source) {
  ConfigSources sources;
  sources.file = source.config_file;
  sources.environment = config_environment();
  auto loaded = load_config(sources);
  if (!loaded) return report(loaded.error());
  return run_node(loaded->config, [](const Node& node) {
    std::fprintf(stderr, "onceward: API %s, admin %s\n", node.api_url().c_str(),
                 node.admin_url().c_str());
  });
}

ExitCode dev(const DevOptions& options) {
  const std::filesystem::path db = std::filesystem::absolute(options.db);
  ConfigSources sources;
  sources.flags = {{"node.name", "dev"},
                   {"node.data_dir", db.parent_path().string()},
                   {"store.path", db.string()},
                   {"http.listen", "127.0.0.1:" + std::to_string(options.port)},
                   {"http.admin_listen",
                    "127.0.0.1:" + std::to_string(options.port == 0 ? 0 : options.port + 1)},
                   {"provider.kind", "simulator"},
                   {"keys.namespace", "dev"},
                   {"log.format", "text"},
                   {"log.level", "warn"}};
  auto loaded = load_config(sources);
  if (!loaded) return report(loaded.error());
  return run_node(loaded->config, [&db](const Node& node) {
    std::printf("api        %s\nadmin      %s\nsimulator  %s\nstore      %s\n",
                node.api_url().c_str(), node.admin_url().c_str(), node.simulator_url().c_str(),
                db.c_str());
    std::fflush(stdout);
  });
}

ExitCode sim(const SimOptions& options) {
  provider::simulator::SimulatorOptions wanted;
  wanted.listen = options.listen;
  wanted.settings.seed = options.seed;
  wanted.settings.latency = std::chrono::milliseconds{options.latency_ms};
  wanted.db = options.db;
  std::stop_source stop;
  std::thread waiter([&stop] { drain_on_signal([&stop] { stop.request_stop(); }); });
  waiter.detach();
  auto ended = provider::simulator::run_simulator(
      std::move(wanted), stop.get_token(), [](const provider::simulator::Simulator& simulator) {
        std::fprintf(stderr, "onceward sim: %s\n", simulator.url().c_str());
      });
  if (!ended) return report(ended.error());
  return ExitCode::ok;
}

}  // namespace onceward::app
