// Reading request headers and writing the provider's Date header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onceward/core/clock.hpp>
#include <onceward/provider/simulator/wire.hpp>

#include "provider/simulator/api_error.hpp"

namespace onceward::provider::simulator {

/// First header of that name, without regard to case.
[[nodiscard]] std::optional<std::string> find_header(const WireHeaders& headers,
                                                     std::string_view name);
[[nodiscard]] std::size_t count_headers(const WireHeaders& headers, std::string_view name);

/// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] std::string to_http_date(Timestamp at);

/// The secret key out of "Bearer KEY" or "Basic base64(KEY:)"; empty for anything else.
[[nodiscard]] std::string secret_of(std::string_view authorization);
/// At most one key, not empty, not too long. Absent: none was sent.
struct KeyHeader {
  std::optional<std::string> key;
  std::optional<ApiError> error;
};
[[nodiscard]] KeyHeader read_key_header(const WireHeaders& headers);

}  // namespace onceward::provider::simulator
