// Router: which route a request means, and whether its caller may take it. Pure but for the call of
// the route.
#pragma once

#include <string_view>
#include <vector>

#include "ingress/http/routes.hpp"

namespace onceward::ingress {

/// A route of the API. `pattern` is split at `/`; a segment `*` takes any text.
struct Route {
  std::string_view method;
  std::string_view pattern;
  Role role = Role::operator_;  ///< the lowest that may take it
  void (*run)(Services&, Call) = nullptr;
  /// Its sender proves himself by a signature over the body: no token is asked for.
  bool is_signed = false;
};
[[nodiscard]] const std::vector<Route>& api_routes();

/// Runs the route the request means, or answers why there is none: 400, 401, 403, 404, 405. A HEAD
/// is answered as a GET; the server leaves out the body.
void route(Services& services, const std::vector<Token>& tokens, const std::vector<Route>& routes,
           platform::HttpRequest request, Answer answer);

}  // namespace onceward::ingress
