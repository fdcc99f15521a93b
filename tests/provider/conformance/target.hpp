// What the conformance suite runs against: a server that speaks the provider's API. Three of them:
// the simulator as a state machine, the simulator behind a socket, and any server by its URL.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace onceward::test {

struct ConformanceReply {
  int status = 0;  ///< 0: no whole answer came
  boost::json::value body;
  /// Names in lower case.
  std::vector<std::pair<std::string, std::string>> headers;

  /// Value at a path such as "error.code"; "" when absent or null.
  [[nodiscard]] std::string at(std::string_view path) const;
  [[nodiscard]] std::string header(std::string_view name) const;
};

struct ConformanceRequest {
  std::string method;
  std::string path;  ///< with the query
  std::string form;
  std::string key;
  bool authorized = true;
};

class ConformanceTarget {
 public:
  virtual ~ConformanceTarget() = default;
  /// Blocks until the answer is there.
  [[nodiscard]] virtual ConformanceReply ask(const ConformanceRequest& request) = 0;
};

/// Environment variable with the base URL of the server to test, and with the secret key to use
/// there (absent: sk_test_conformance).
inline constexpr const char* conformance_url_variable = "ONCEWARD_CONFORMANCE_URL";
inline constexpr const char* conformance_key_variable = "ONCEWARD_CONFORMANCE_KEY";

/// "in_process", "socket", and "url" when the variable is set.
[[nodiscard]] std::vector<std::string> conformance_target_names();
/// Null when the target cannot be reached; the reason goes to stderr.
[[nodiscard]] std::unique_ptr<ConformanceTarget> make_conformance_target(const std::string& name);

}  // namespace onceward::test
