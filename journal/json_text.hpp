// Which bytes may be stored as text and as an event's payload. Checked before every write by all
// backends, so that each payload is readable by any JSON tool and any SQL database.
#pragma once

#include <string_view>

namespace onceward::journal {

/// Deepest nesting of arrays and objects accepted in a payload.
inline constexpr int json_depth_max = 64;

/// Well-formed UTF-8 (no surrogates, nothing overlong) without NUL.
[[nodiscard]] bool is_stored_text(std::string_view text) noexcept;

/// One JSON value as RFC 8259 defines it, in well-formed UTF-8, at most json_depth_max deep.
[[nodiscard]] bool is_json(std::string_view text) noexcept;

}  // namespace onceward::journal
