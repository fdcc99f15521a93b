// The text side of HTTP/1.1 that needs no library: strict scan of a request head, target parts,
// and writing of answers. Pure functions; private to the HTTP server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onceward/platform/http_server.hpp>

namespace onceward::platform {

[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept;

/// Finds the end of a request head and refuses, as early as it is visible, what lenient parsers
/// disagree about: bare CR or LF, folded header lines, NUL, an empty first line.
class HeadScanner {
 public:
  enum class Verdict : std::uint8_t { incomplete, complete, malformed };

  /// `head` begins at the request line and only grows between calls; bytes are looked at once.
  [[nodiscard]] Verdict scan(std::string_view head) noexcept;
  /// After complete: bytes of the head including its empty line.
  [[nodiscard]] std::size_t head_bytes() const noexcept { return at_; }
  void reset() noexcept { at_ = 0; }

 private:
  std::size_t at_ = 0;  // start of the first line that was not yet seen whole
};

/// Splits the target into path and query; an absolute-form target loses scheme and authority.
void split_target(HttpRequest& request);

/// What the connection adds to an answer of the handler.
struct AnswerFraming {
  bool head_only = false;  ///< HEAD request: headers as for GET, no body
  bool close = false;
  bool http_1_0 = false;
  bool chunked = false;  ///< streamed: no Content-Length
};
/// Appends status line, headers, empty line and (unless chunked or head only) the body to `out`.
/// CR, LF and NUL in the handler's headers become spaces; framing headers of his are left out.
void append_answer(std::string& out, const HttpResponse& response, const AnswerFraming& framing);
/// One chunk of a chunked body; `data` must not be empty.
void append_chunk(std::string& out, std::string_view data);
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// A short text/plain answer of the server itself, which ends the connection.
[[nodiscard]] HttpResponse plain_answer(int status, std::string_view reason);

}  // namespace onceward::platform
