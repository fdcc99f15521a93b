// SHA-256 and HMAC-SHA-256 as plain functions over bytes: the only use of the crypto library in
// core. Thread-safe; no state.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <onceward/core/result.hpp>

namespace onceward {

/// A SHA-256 value. All zero means "nothing hashed yet" (the head of an empty history).
struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  friend auto operator<=>(const Digest&, const Digest&) = default;
};
static_assert(sizeof(Digest) == 32);

/// None of the three allocates or fails; about 0.25 us for 256 bytes on a machine with SHA
/// extensions.
[[nodiscard]] Digest sha256(std::string_view bytes);
/// Hashes the concatenation without building it; used where every event pays.
[[nodiscard]] Digest sha256(std::span<const std::string_view> parts);
/// RFC 2104; any length of key.
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view bytes);

/// 64 lower-case hex digits.
[[nodiscard]] std::string to_hex(const Digest& digest);
/// Exactly 64 lower-case hex digits; anything else is invalid_argument.
[[nodiscard]] Result<Digest> parse_hex_digest(std::string_view text);
/// Compares without leaking the position of the first difference through time. Texts of different
/// length are unequal at once: the length is not a secret.
[[nodiscard]] bool equal_constant_time(std::string_view left, std::string_view right) noexcept;

/// `<length>:<bytes>,` for each field, length in decimal: an injective encoding of a list of byte
/// strings. Keys and hashes are taken over it, so the bytes never change.
[[nodiscard]] std::string netstrings(std::span<const std::string_view> fields);

}  // namespace onceward
