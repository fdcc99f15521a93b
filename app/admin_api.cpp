// Health answers as plain text: one line per check, readable by people and by probes.
#include "app/admin_api.hpp"

#include <algorithm>

namespace onceward::app {

namespace {

platform::HttpResponse text(int status, std::string body) {
  platform::HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}};
  response.body = std::move(body);
  return response;
}

platform::HttpResponse ready(const NodeHealth& health, bool verbose) {
  const bool holds = std::all_of(health.checks.begin(), health.checks.end(),
                                 [](const HealthCheck& check) { return check.problem.empty(); });
  std::string body;
  for (const auto& check : health.checks) {
    if (!check.problem.empty()) {
      body += "[-] " + check.name + ": " + check.problem + "\n";
    } else if (!check.warning.empty()) {
      body += "[!] " + check.name + ": " + check.warning + "\n";
    } else if (verbose) {
      body += "[+] " + check.name + " ok\n";
    }
  }
  body += holds ? "ready\n" : "not ready\n";
  return text(holds ? 200 : 503, std::move(body));
}

}  // namespace

platform::HttpResponse answer_admin(const platform::HttpRequest& request,
                                    const NodeHealth& health) {
  const bool known =
      request.path == "/livez" || request.path == "/readyz" || request.path == "/startupz";
  if (!known) return text(404, "not found; try /livez, /readyz?verbose or /startupz\n");
  if (request.method != "GET" && request.method != "HEAD") {
    auto refused = text(405, "only GET\n");
    refused.headers.push_back({"Allow", "GET, HEAD"});
    return refused;
  }
  if (request.path == "/livez") return text(200, "alive\n");
  if (request.path == "/readyz") {
    return ready(health, request.query.find("verbose") != std::string::npos);
  }
  return health.started ? text(200, "started\n") : text(503, "starting\n");
}

}  // namespace onceward::app
