// HttpRequestReader: turns the bytes of one connection into complete requests or one refusal.
// Sans-I/O; Beast parses, this class is stricter than Beast. Private to the HTTP server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <onceward/platform/http_server.hpp>

namespace onceward::platform {

/// More bytes are needed. `phase` tells which timeout applies.
struct NeedMore {
  enum class Phase : std::uint8_t { between_requests, header, body };
  Phase phase = Phase::between_requests;
  bool send_continue = false;  ///< the client waits for "100 Continue", told once per request
};
struct ReadRequest {
  HttpRequest request;
  bool keep_alive = true;
  bool http_1_0 = false;
};
/// Answer with this status and end the connection: what follows cannot be trusted.
struct RefusedRequest {
  int status = 400;
  std::string reason;
};
using ReadOutcome = std::variant<NeedMore, ReadRequest, RefusedRequest>;

class HttpRequestReader {
 public:
  /// Reads header_bytes_max and body_bytes_max of the options, nothing else.
  explicit HttpRequestReader(const HttpServerOptions& options);
  ~HttpRequestReader();

  /// Takes what it can from the front of `input`; call again when more bytes were appended, or
  /// after a request for what is left of the next one. Not to be called after a refusal.
  [[nodiscard]] ReadOutcome read(std::string& input);

 private:
  class Parser;
  [[nodiscard]] ReadOutcome read_header(std::string& input);
  [[nodiscard]] ReadOutcome read_body(std::string& input);
  [[nodiscard]] ReadOutcome finish();

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onceward::platform
