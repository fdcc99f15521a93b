// HttpServer: a strict HTTP/1.1 server for loopback and intranet use, with answers given later from
// any thread. It knows limits, timeouts and connections; no route, no business word. TLS belongs to
// a proxy in front. Used by the provider simulator and by ingress.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::platform {

struct HttpHeader {
  std::string name;  ///< as sent; compare without regard to case
  std::string value;

  friend bool operator==(const HttpHeader&, const HttpHeader&) = default;
};

/// Value of the first header of that name (case-insensitive); absent when there is none.
[[nodiscard]] std::optional<std::string_view> find_header(const std::vector<HttpHeader>& headers,
                                                          std::string_view name) noexcept;
/// How often the header was sent. Repeats are kept, so that "sent twice" can be refused.
[[nodiscard]] std::size_t count_headers(const std::vector<HttpHeader>& headers,
                                        std::string_view name) noexcept;

/// One complete request: head and whole body were read and passed the strict checks.
struct HttpRequest {
  std::string method;                  ///< as sent, e.g. "POST"
  std::string target;                  ///< raw request target, e.g. "/v1/charges?limit=3"
  std::string path;                    ///< target before the first '?', not decoded
  std::string query;                   ///< target after the first '?', not decoded; may be empty
  std::vector<HttpHeader> headers;     ///< in the order sent, repeats included
  std::string body;                    ///< chunked bodies are already joined; trailers are dropped
  std::uint64_t connection_id = 0;     ///< 1, 2, ... in order of acceptance by this server
  std::uint64_t nr_on_connection = 0;  ///< 1 for the first request on its connection
  std::string peer;                    ///< "127.0.0.1:51234"
};

/// The server adds Content-Length and Connection; the handler gives everything else, also Date.
struct HttpResponse {
  int status = 200;
  std::vector<HttpHeader> headers;
  std::string body;    ///< not sent for HEAD, 204 and 304
  bool close = false;  ///< end the connection after this answer
};

/// How a connection is ended by a fault answer: in order (FIN) or by a reset (RST).
enum class SocketEnd : std::uint8_t { fin, rst };

struct HttpResponderAccess;  // private to the server
struct StreamShared;         // private to the server

/// The sending end of a streamed answer (server-sent events). Move-only; any thread, one at a time.
class HttpResponseStream {
 public:
  HttpResponseStream(HttpResponseStream&&) noexcept;
  HttpResponseStream& operator=(HttpResponseStream&&) noexcept;
  HttpResponseStream(const HttpResponseStream&) = delete;
  HttpResponseStream& operator=(const HttpResponseStream&) = delete;
  /// Without close() before: the connection is cut, so that the reader sees an incomplete answer.
  ~HttpResponseStream();

  /// Queues a chunk; never blocks; nothing happens for an empty one. False when the peer is gone,
  /// the server stops, or more than HttpServerOptions::stream_buffer_bytes_max would wait for a
  /// slow reader: then drop the stream.
  [[nodiscard]] bool write(std::string chunk);
  /// Ends the answer in order. The stream takes no more writes.
  void close();

 private:
  friend struct HttpResponderAccess;
  explicit HttpResponseStream(std::shared_ptr<StreamShared> shared);
  void abandon();
  std::shared_ptr<StreamShared> shared_;  // with the connection, which drains it; null when closed
};

/// The right, and the duty, to answer one request. Move-only; may be used from any thread and may
/// outlive the server (then the answer goes nowhere). Exactly one of the members below is called,
/// once; a second call is a programming error and aborts. Dropped unanswered: the client gets 500.
/// None blocks; none reports whether the client ever reads the answer.
class HttpResponder {
 public:
  HttpResponder(HttpResponder&&) noexcept;
  HttpResponder& operator=(HttpResponder&&) noexcept;
  HttpResponder(const HttpResponder&) = delete;
  HttpResponder& operator=(const HttpResponder&) = delete;
  ~HttpResponder();

  void answer(HttpResponse response);
  /// Sends status and headers now and the body in chunks as they are written.
  [[nodiscard]] HttpResponseStream begin_stream(int status, std::vector<HttpHeader> headers);

  /// Fault answer: exactly these bytes (possibly none), then the end. Nothing is added.
  void raw(std::string bytes, SocketEnd end);
  /// Fault answer: none, until the client gives up or the server stops.
  void hang();

 private:
  friend struct HttpResponderAccess;
  struct Target;
  explicit HttpResponder(std::unique_ptr<Target> target);
  [[nodiscard]] std::unique_ptr<Target> take();
  std::unique_ptr<Target> target_;  // null once used
};

/// Called on an I/O thread for each request: must not block and must not throw (a throw answers
/// 500). With more than one I/O thread it runs concurrently for different connections.
using HttpHandler = std::function<void(HttpRequest, HttpResponder)>;

struct HttpServerOptions {
  /// HOST:PORT; port 0 takes a free one; IPv6 in brackets. Host names are resolved once.
  std::string listen = "127.0.0.1:0";
  std::size_t io_threads = 1;
  /// Open connections; one more is answered 503 and closed.
  std::size_t connections_max = 1024;
  /// Request line and headers together; above: 431 and close.
  std::size_t header_bytes_max = 16 * 1024;
  /// Body; above: 413 and close.
  std::size_t body_bytes_max = 1024 * 1024;
  std::size_t stream_buffer_bytes_max = 1024 * 1024;
  /// From the first byte of a request to the end of its headers; above: 408 and close.
  std::chrono::milliseconds header_timeout{10'000};
  /// From the end of the headers to the end of the body; above: 408 and close.
  std::chrono::milliseconds body_timeout{30'000};
  /// Between requests; above: closed without a word.
  std::chrono::milliseconds idle_timeout{75'000};
  /// For an answer that the client does not read; above: reset.
  std::chrono::milliseconds write_timeout{30'000};
};

/// Listens from start() to stop(). One owner; start, stop and the destructor are called by it, not
/// by an I/O thread. No exception leaves this class.
class HttpServer {
 public:
  /// Binds, listens and starts the I/O threads. invalid_argument for options that make no sense,
  /// io when the address cannot be bound; both name the address.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options,
                                                                 HttpHandler handler);

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// stop() with a deadline of zero.
  ~HttpServer();

  /// The bound port, also when 0 was asked for.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// "http://127.0.0.1:8080", for messages and clients.
  [[nodiscard]] std::string url() const;
  /// Connections open now.
  [[nodiscard]] std::size_t connections() const noexcept;

  /// Stops accepting and reading, lets outstanding answers go out for at most `deadline` (hanging
  /// ones are reset at once), then closes everything and joins the threads. Blocks. Idempotent.
  void stop(std::chrono::milliseconds deadline);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::platform
