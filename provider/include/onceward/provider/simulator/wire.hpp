// What travels between a client and the simulated provider, without sockets: one request, one
// answer and the way the connection ends. Values; used by the pure core and the socket adapter.
#pragma once

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

  /// True when the client holds every byte of the answer.
  [[nodiscard]] bool arrives_whole() const noexcept { return ending == WireEnding::whole; }
};

}  // namespace onceward::provider::simulator
