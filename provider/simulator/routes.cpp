// Finding the endpoint of a request.
#include "provider/simulator/endpoint.hpp"

namespace onceward::provider::simulator {
namespace {

/// The part of `path` that stands for "{}"; empty text when the pattern has none.
std::optional<std::string> match(std::string_view pattern, std::string_view path) {
  const std::size_t hole = pattern.find("{}");
  if (hole == std::string_view::npos) {
    return pattern == path ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, hole);
  const std::string_view after = pattern.substr(hole + 2);
  if (path.size() <= before.size() + after.size()) return std::nullopt;
  if (path.substr(0, before.size()) != before) return std::nullopt;
  if (path.substr(path.size() - after.size()) != after) return std::nullopt;
  const auto id = path.substr(before.size(), path.size() - before.size() - after.size());
  if (id.find('/') != std::string_view::npos) return std::nullopt;
  return std::string(id);
}

}  // namespace

std::variant<Route, ApiError> find_route(std::string_view method, std::string_view path) {
  bool path_known = false;
  // Search first: its last segment would also be an id.
  for (const auto table :
       {search_endpoints(), charge_endpoints(), intent_endpoints(), customer_endpoints(),
        refund_endpoints(), dispute_endpoints(), event_endpoints(), webhook_endpoints()}) {
    for (const Endpoint& endpoint : table) {
      auto id = match(endpoint.path, path);
      if (!id) continue;
      if (endpoint.method == method) return Route{&endpoint, *std::move(id)};
      path_known = true;
    }
  }
  ApiError error;
  error.status = path_known ? 405 : 404;
  error.message = "Unrecognized request: " + std::string(method) + " " + std::string(path) +
                  " (not part of the simulator, see docs/simulator.md).";
  return error;
}

}  // namespace onceward::provider::simulator
