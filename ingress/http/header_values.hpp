// Values of the request headers that the API gives a meaning: Idempotency-Key and Prefer. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>
#include <onceward/platform/http_server.hpp>

namespace onceward::ingress {

inline constexpr std::int64_t wait_seconds_default = 10;
inline constexpr std::int64_t wait_seconds_max = 60;

/// The caller's key: a quoted string of structured fields (RFC 8941), or a bare token; 1-255
/// visible ASCII characters. invalid_argument that says what is
/// wrong if it is missing, sent twice, empty, too long or malformed.
[[nodiscard]] Result<std::string> parse_idempotency_key(
    const std::vector<platform::HttpHeader>& headers);

struct Wait {
  std::int64_t seconds = wait_seconds_default;
  bool was_asked = false;  ///< then the answer carries Preference-Applied
};
/// `Prefer: wait=N` (RFC 7240), at most wait_seconds_max; other and malformed preferences are
/// ignored, as that document wants.
[[nodiscard]] Wait parse_prefer_wait(const std::vector<platform::HttpHeader>& headers);

/// Digits only, clamped to wait_seconds_max; absent for anything else.
[[nodiscard]] std::optional<std::int64_t> parse_wait_seconds(std::string_view text);

/// "Sat, 01 Aug 2026 00:00:00 GMT" for the Date header.
[[nodiscard]] std::string http_date(Timestamp at);

}  // namespace onceward::ingress
