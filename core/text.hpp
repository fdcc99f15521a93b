// Decimal digits and foreign bytes as text, without locale. Private to core; used by its parsers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::text {

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Value of 1 to 18 digits and nothing else; absent for any other text.
[[nodiscard]] constexpr std::optional<std::int64_t> parse_digits(std::string_view digits) noexcept {
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// Appends the digits of `value`, with zeros in front up to `width`.
inline void append_padded(std::string& out, std::uint64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

/// `0x0a`: how an unexpected byte is shown, so that foreign bytes never reach a terminal or a log.
[[nodiscard]] inline std::string byte_name(char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', hex[byte >> 4U], hex[byte & 15U]};
}

/// The text in quotes if it is short and printable, otherwise its length: safe in a message.
[[nodiscard]] inline std::string quoted(std::string_view foreign) {
  constexpr std::size_t shown_max = 40;
  bool printable = foreign.size() <= shown_max;
  for (const char c : foreign) printable = printable && c >= ' ' && c <= '~';
  if (!printable) return "(" + std::to_string(foreign.size()) + " bytes)";
  return "\"" + std::string(foreign) + "\"";
}

}  // namespace onceward::text
