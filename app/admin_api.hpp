// The admin listener's answers: is the process alive, may it take work, has it started. Pure.
#pragma once

#include <string>
#include <vector>

#include <onceward/platform/http_server.hpp>

namespace onceward::app {

/// One condition of readiness; `problem` empty = it holds.
struct HealthCheck {
  std::string name;
  std::string problem;
  std::string warning{};  ///< worth a look, although the node can take work
};

struct NodeHealth {
  bool started = false;  ///< start-up is over (the first pass over open rows was begun)
  std::vector<HealthCheck> checks;
};

/// /livez: 200 while the process answers. /readyz[?verbose]: 200 if all checks hold, else 503 with
/// the reasons. /startupz: 200 once started. Anything else: 404, other methods 405.
[[nodiscard]] platform::HttpResponse answer_admin(const platform::HttpRequest& request,
                                                  const NodeHealth& health);

}  // namespace onceward::app
