// HttpClient: HTTP/1.1 requests on one thread, with proof of what went on the wire: how often a
// request left, and whether it surely never did. It knows no route, no retry, no business word.
// Used by the provider's client; anything that speaks HTTP to one service may use it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::platform {

enum class HttpMethod : std::uint8_t { get, post };

/// How far one request came. Nothing but `complete` says anything about an answer.
enum class HttpOutcome : std::uint8_t {
  complete,  ///< a whole answer with its whole body was read, by the rules of HTTP
  not_sent,  ///< proven: no byte of the request left (no connection, TLS refused, not allowed)
  broken,    ///< it may have left, and no whole answer came; also when a status line was seen
};

struct HttpClientRequest {
  HttpMethod method = HttpMethod::get;
  std::string url;                   ///< absolute, http or https, already percent-encoded
  std::vector<std::string> headers;  ///< "Name: value", in addition to the common ones
  std::string body;                  ///< of a POST; sent as application/x-www-form-urlencoded
  /// For everything from the start of the connection to the end of the answer. A request that waits
  /// for a connection of ours to become free has not started.
  std::chrono::milliseconds timeout{80'000};
  /// Asked on the client's thread right before each time the request would go on the wire, after
  /// the connection stands; also before a re-send that the library makes on its own when a kept
  /// connection turns out dead. False: it does not leave. Must not block or throw; empty: always.
  std::function<bool()> may_send;
};

struct HttpClientResult {
  HttpOutcome outcome = HttpOutcome::broken;
  /// Of the answer; 0 if none was seen. Without `complete` it proves nothing.
  int status = 0;
  std::string body;
  /// Those of HttpClientOptions::kept_headers that were sent, names in lower case.
  std::vector<std::pair<std::string, std::string>> headers;
  /// How often the request went on the wire, or may have: 0 exactly for `not_sent`.
  std::uint32_t wire_requests = 0;
  /// Stable name of the failure, empty for `complete`: "dns", "connect", "tls", "timeout",
  /// "empty_answer", "reset", "truncated", "too_large", "not_allowed" (by may_send), "busy",
  /// "stopped", "malformed" (URL or header), "protocol", "other".
  std::string_view failure;
  std::string detail;  ///< of the failure, for people; empty for `complete`

  /// First value of a kept header; `name` in lower case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;
};

/// Called exactly once per request, on the client's thread (exceptions: see send()); must not block
/// or throw. It may call send() and call_after().
using HttpDone = std::function<void(HttpClientResult&&)>;

struct HttpClientOptions {
  /// Connections, and so requests on the wire at the same time; more requests wait in line.
  std::size_t connections_max = 64;
  /// Requests waiting in line; one more is answered `not_sent`, "busy", inside send().
  std::size_t waiting_max = 4096;
  std::chrono::milliseconds connect_timeout{30'000};
  /// A kept connection that was idle longer is not used again: servers close idle ones.
  std::chrono::seconds idle_connection_max{50};
  /// Body of an answer; above: `broken`, "too_large".
  std::size_t response_bytes_max = 4 * 1024 * 1024;
  /// PEM file of the authorities to trust; empty: those of the system. Certificates and host names
  /// are always verified.
  std::string ca_file;
  /// "Name: value", sent with every request.
  std::vector<std::string> common_headers;
  /// Names, in lower case, of the answer headers to report.
  std::vector<std::string> kept_headers;
};

/// All members are thread-safe and do not block, except stop() and the destructor. Redirects are
/// not followed, cookies not kept, proxies and credentials of the environment not used.
class HttpClient {
 public:
  /// Starts the thread. invalid_argument for options that make no sense, io when the library is too
  /// old to prove what it sends (before 7.85) or cannot be set up.
  [[nodiscard]] static Result<std::unique_ptr<HttpClient>> start(HttpClientOptions options);

  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  /// stop() with a grace of zero.
  ~HttpClient();

  /// Queues the request; first come, first served. After stop(), or with a full line, `done` is
  /// called inside send(), with `not_sent`.
  void send(HttpClientRequest request, HttpDone done);

  /// Runs `task` once on the client's thread, `delay` from now or later. False after stop(): it
  /// will not run. A task whose time has come when stop() is called still runs, others are dropped.
  [[nodiscard]] bool call_after(std::chrono::milliseconds delay, std::function<void()> task);

  /// Takes no more requests; lets those on the wire end for at most `grace`, then gives them up
  /// (`broken`, or `not_sent` with proof), calls every outstanding `done` and joins the thread.
  /// Never from a callback. Idempotent.
  void stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::platform
