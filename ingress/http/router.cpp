// The table of routes, and the checks that all of them share.
#include "ingress/http/router.hpp"

#include <algorithm>

#include "ingress/http/url.hpp"

namespace onceward::ingress {

namespace {

constexpr std::string_view anonymous = "anonymous";

bool matches(std::string_view pattern, const std::vector<std::string>& segments) {
  std::size_t index = 0;
  pattern.remove_prefix(1);
  while (true) {
    const auto slash = pattern.find('/');
    const auto part = pattern.substr(0, slash);
    if (index >= segments.size()) return false;
    if (part == "*" ? segments[index].empty() : part != segments[index]) return false;
    ++index;
    if (slash == std::string_view::npos) return index == segments.size();
    pattern.remove_prefix(slash + 1);
  }
}

struct Caller {
  std::string principal;
  Role role = Role::viewer;
};

/// Who sends it; absent if a token is wanted and none of ours was sent.
std::optional<Caller> authenticate(const std::vector<Token>& tokens,
                                   const platform::HttpRequest& request) {
  if (tokens.empty()) return Caller{std::string(anonymous), Role::operator_};
  constexpr std::string_view scheme = "Bearer ";
  const auto header = platform::find_header(request.headers, "Authorization").value_or("");
  if (header.substr(0, scheme.size()) != scheme) return std::nullopt;
  const auto sent = to_hex(sha256(header.substr(scheme.size())));
  std::optional<Caller> caller;
  for (const auto& token : tokens) {  // all of them, so that time does not tell which one it was
    if (equal_constant_time(to_hex(token.sha256), sent)) caller = Caller{token.name, token.role};
  }
  return caller;
}

/// A page of another site must not steer a node through the browser of someone who can reach it.
bool comes_from_another_site(const platform::HttpRequest& request) {
  const auto origin = platform::find_header(request.headers, "Origin");
  if (!origin) return false;
  const std::string host(platform::find_header(request.headers, "Host").value_or(""));
  return *origin != "http://" + host && *origin != "https://" + host;
}

platform::HttpResponse refusal(ProblemKind kind, std::string detail) {
  Problem problem;
  problem.kind = kind;
  problem.detail = std::move(detail);
  return problem_answer(std::move(problem));
}

platform::HttpResponse unauthorized() {
  auto response = refusal(ProblemKind::unauthorized,
                          "send the header Authorization: Bearer TOKEN with one of the tokens of "
                          "[auth] tokens_file");
  add_header(response, "WWW-Authenticate", "Bearer");
  return response;
}

platform::HttpResponse method_not_allowed(const std::vector<const Route*>& candidates) {
  std::string allowed;
  for (const auto* candidate : candidates) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(candidate->method);
    if (candidate->method == "GET") allowed += ", HEAD";
  }
  auto response = refusal(ProblemKind::method_not_allowed, "this path takes: " + allowed);
  add_header(response, "Allow", allowed);
  return response;
}

}  // namespace

const std::vector<Route>& api_routes() {
  static const std::vector<Route> routes{
      {"POST", "/v1/billing", Role::service, post_billing},
      {"GET", "/v1/billing/*", Role::viewer, list_period},
      {"GET", "/v1/billing/*/*", Role::viewer, get_obligation},
      {"GET", "/v1/customers/*", Role::viewer, get_customer},
      {"GET", "/v1/customers/*/timeline", Role::viewer, get_timeline},
      {"POST", "/v1/runs", Role::operator_, post_run},
      {"GET", "/v1/plans/*", Role::viewer, get_plan},
      {"GET", "/v1/runs", Role::viewer, list_runs},
      {"GET", "/v1/runs/*", Role::viewer, get_run},
      {"GET", "/v1/runs/*/report", Role::viewer, report_run},
      {"POST", "/v1/runs/*/pause", Role::operator_, pause_run},
      {"POST", "/v1/runs/*/resume", Role::operator_, resume_run},
      {"POST", "/v1/runs/*/cancel", Role::operator_, cancel_run},
      {"POST", "/v1/billing/*/*/refunds", Role::service, post_refund},
      {"POST", "/v1/billing/*/*/cancel", Role::service, post_cancel},
      {"POST", "/v1/customers/*/payment-method", Role::service, post_payment_method},
      {"GET", "/v1/attention", Role::viewer, list_attention},
      {"GET", "/v1/attention/*", Role::viewer, get_attention},
      {"POST", "/v1/attention/*/retry", Role::operator_, retry_attention},
      {"POST", "/v1/attention/*/resolve", Role::operator_, resolve_attention},
      {"POST", "/v1/webhooks/stripe", Role::service, post_webhook, true},
  };
  return routes;
}

void route(Services& services, const std::vector<Token>& tokens, const std::vector<Route>& routes,
           platform::HttpRequest request, Answer answer) {
  auto segments = split_path(request.path);
  if (!segments) return answer(bad_request(segments.error()));
  std::vector<const Route*> candidates;
  for (const auto& candidate : routes) {
    if (matches(candidate.pattern, *segments)) candidates.push_back(&candidate);
  }
  const bool is_signed = candidates.size() == 1 && candidates.front()->is_signed;
  auto caller = is_signed ? Caller{"webhook", Role::service} : authenticate(tokens, request);
  if (!caller) return answer(unauthorized());
  if (candidates.empty()) {
    return answer(refusal(ProblemKind::no_such_route,
                          "this node has no such path; its routes begin with /v1/"));
  }
  // Not `? "GET" : request.method`: that makes a temporary string, which the view would outlive.
  std::string_view method = request.method;
  if (method == "HEAD") method = "GET";
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Route* r) { return r->method == method; });
  if (found == candidates.end()) return answer(method_not_allowed(candidates));
  const Route& chosen = **found;
  if (caller->role < chosen.role) {
    return answer(
        refusal(ProblemKind::forbidden,
                "the token " + caller->principal + " may not do this; use one with more rights"));
  }
  if (method != "GET" && comes_from_another_site(request)) {
    return answer(refusal(ProblemKind::forbidden, "the request comes from another site"));
  }
  chosen.run(services, Call{std::move(request), std::move(*segments), std::move(caller->principal),
                            std::move(answer)});
}

}  // namespace onceward::ingress
