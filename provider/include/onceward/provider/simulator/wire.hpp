// What travels between a client and the simulated provider, without sockets: one request, one
// answer and the way the connection ends. Values; used by the pure core and the socket adapter.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace onceward::provider::simulator {

/// In the order sent; repeats are kept. Names compare without regard to case.
using WireHeaders = std::vector<std::pair<std::string, std::string>>;

/// One request as it arrived, whole.
struct WireRequest {
  std::string method;   ///< "GET", "POST", "DELETE"
  std::string path;     ///< without query, not decoded
  std::string query;    ///< without '?', not decoded; may be empty
  WireHeaders headers;  ///< Authorization, Idempotency-Key, Content-Type, ... as sent
  std::string body;
  /// Where it came in, for the trace: connection number and position on it. 0 without sockets.
  std::uint64_t connection = 0;
  std::uint64_t nr_on_connection = 0;
};

/// How an answer ends for the client. Only `whole` is an ordinary HTTP exchange.
enum class WireEnding : std::uint8_t {
  whole,  ///< the complete answer; the connection may stay
  fin,    ///< the connection is closed in order after what `body_bytes_sent` says
  rst,    ///< the same, by a reset
  hang,   ///< nothing is ever sent; the client's own timeout ends it
  // The request never left the client. Where there are sockets it is too late for that: the request
  // is cut as by rst, and for WireAnswer::closed_for nobody else gets through.
  refused,     ///< no connection came about
  tls_failed,  ///< a connection came about, and its TLS handshake failed
};

/// How the length of a body that is cut is announced.
enum class WireFraming : std::uint8_t {
  length,        ///< Content-Length of the whole body
  chunked,       ///< chunks, the last of which does not come
  wrong_length,  ///< Content-Length of one byte more than there is
};

/// What the provider answers. `status`, `headers` and `body` are what it *means* to say, also when
/// the ending keeps part of it, or all of it, from the client.
struct WireAnswer {
  int status = 0;
  WireHeaders headers;
  std::string body;
  WireEnding ending = WireEnding::whole;
  /// For fin and rst: bytes of the body that still go out, after the complete head. Absent: not
  /// even the first byte of the head is sent.
  std::optional<std::size_t> body_bytes_sent;
  WireFraming framing = WireFraming::length;
  /// For refused and tls_failed: how long connections fail, in real time.
  std::chrono::milliseconds closed_for{0};

  /// True when the client holds every byte of the answer.
  [[nodiscard]] bool arrives_whole() const noexcept { return ending == WireEnding::whole; }
};

}  // namespace onceward::provider::simulator
