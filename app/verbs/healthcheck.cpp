// healthcheck: asks a node's admin listener whether it is ready, for service managers.
#include <cstdio>

#include "app/config/config_load.hpp"
#include "app/verbs/client_verbs.hpp"
#include "app/verbs/node_verbs.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

ExitCode healthcheck(const Source& source) {
  Source admin = source;
  if (admin.node_url.empty()) {
    ConfigSources sources;
    if (!source.config_file.empty()) sources.file = source.config_file;
    sources.environment = config_environment();
    auto loaded = load_config(sources);
    if (!loaded && !source.config_file.empty()) return report(loaded.error());
    admin.node_url =
        "http://" + (loaded ? loaded->config.http.admin_listen : HttpConfig{}.admin_listen);
  }
  auto client = NodeClient::open(admin);
  if (!client) return report(client.error());
  auto answer = client->ask({.path = "/readyz?verbose", .timeout = std::chrono::seconds{5}});
  if (!answer) {
    (void)report(answer.error());  // whatever kept it from answering, it is not ready
    return ExitCode::unreachable;
  }
  std::printf("%s%s", answer->text.c_str(),
              !answer->text.empty() && answer->text.back() == '\n' ? "" : "\n");
  return answer->is_success() ? ExitCode::ok : ExitCode::unreachable;
}

}  // namespace onceward::app
