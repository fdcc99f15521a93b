// NodeClient: how verbs talk to a running node. One request at a time; what the node did not answer
// is told as what it is: not reached, or not known.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include <onceward/core/result.hpp>
#include <onceward/platform/http_client.hpp>

#include "app/verbs/verbs.hpp"

namespace onceward::app {

struct NodeAnswer {
  int status = 0;
  std::string text{};       ///< the body as it came
  boost::json::value body;  ///< null if it is not JSON

  [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
  /// Member of a JSON object as text; empty if absent, null or no object.
  [[nodiscard]] std::string text_at(std::string_view member) const;
};

struct NodeRequest {
  platform::HttpMethod method = platform::HttpMethod::get;
  std::string path{};  ///< with query, percent-encoded
  std::string body{};
  std::string content_type = "application/json";
  std::vector<std::string> headers{};  ///< "Name: value"
  std::chrono::milliseconds timeout{45'000};
};

class NodeClient {
 public:
  /// --node, else the listen address of the configuration (-c), else http://127.0.0.1:8080; with
  /// the token of --token-file, if one is given. invalid_config says what is wrong.
  [[nodiscard]] static Result<NodeClient> open(const Source& source);

  /// Blocks. unreachable: nothing left this machine, or nobody listens there; store_uncertain: the
  /// request may have arrived, but no whole answer came.
  [[nodiscard]] Result<NodeAnswer> ask(NodeRequest request);

  [[nodiscard]] const std::string& url() const noexcept { return url_; }

 private:
  NodeClient(std::string url, std::string token, std::unique_ptr<platform::HttpClient> http)
      : url_(std::move(url)), token_(std::move(token)), http_(std::move(http)) {}

  std::string url_;
  std::string token_;
  std::unique_ptr<platform::HttpClient> http_;
};

/// Percent-encoded for one segment of a path or one value of a query.
[[nodiscard]] std::string url_part(std::string_view text);

}  // namespace onceward::app
