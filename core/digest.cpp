// SHA-256, HMAC and their text forms. The only file that knows libcrypto.
//
// The SHA256_* functions are deprecated in favour of EVP, but they alone keep the state on the
// stack: EVP allocates a context for each hash and takes twice as long, and every event pays.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <onceward/core/digest.hpp>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "core/text.hpp"

namespace onceward {
namespace {

constexpr std::size_t block_bytes = 64;
static_assert(block_bytes == SHA256_CBLOCK);
static_assert(sizeof(Digest) == SHA256_DIGEST_LENGTH);
static_assert(sizeof(Digest) <= block_bytes, "a hashed key fits one block");

/// One running SHA-256; lives on the stack, never fails.
class Hasher {
 public:
  Hasher() {
    const int is_ready = SHA256_Init(&context_);
    ONCEWARD_CHECK(is_ready == 1, "SHA-256 starts");
  }

  void update(std::string_view bytes) {
    const int is_taken = SHA256_Update(&context_, bytes.data(), bytes.size());
    ONCEWARD_CHECK(is_taken == 1, "SHA-256 takes bytes");
  }
  void update(std::span<const std::uint8_t> bytes) {
    const int is_taken = SHA256_Update(&context_, bytes.data(), bytes.size());
    ONCEWARD_CHECK(is_taken == 1, "SHA-256 takes bytes");
  }

  [[nodiscard]] Digest finish() {
    Digest digest;
    const int is_done = SHA256_Final(digest.bytes.data(), &context_);
    ONCEWARD_CHECK(is_done == 1, "SHA-256 ends");
    return digest;
  }

 private:
  SHA256_CTX context_;
};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

Digest sha256(std::span<const std::string_view> parts) {
  Hasher hasher;
  for (const std::string_view part : parts) hasher.update(part);
  return hasher.finish();
}

// RFC 2104 over the hasher above; libcrypto's own HMAC would look the digest up at each call.
Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  std::array<std::uint8_t, block_bytes> padded{};
  if (key.size() > block_bytes) {
    const Digest short_key = sha256(key);
    std::copy(short_key.bytes.begin(), short_key.bytes.end(), padded.begin());
  } else {
    std::copy(key.begin(), key.end(), padded.begin());
  }
  for (auto& byte : padded) byte ^= 0x36U;
  Hasher inner;
  inner.update(padded);
  inner.update(bytes);
  const Digest inner_digest = inner.finish();
  for (auto& byte : padded) byte ^= 0x36U ^ 0x5cU;
  Hasher outer;
  outer.update(padded);
  outer.update(inner_digest.bytes);
  OPENSSL_cleanse(padded.data(), padded.size());
  return outer.finish();
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(digest.bytes.size() * 2);
  for (const std::uint8_t byte : digest.bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  ONCEWARD_CHECK(text.size() == 64, "a digest has 64 hexadecimal digits");
  return text;
}

Result<Digest> parse_hex_digest(std::string_view text) {
  Digest digest;
  bool is_hex = text.size() == digest.bytes.size() * 2;
  for (std::size_t at = 0; is_hex && at < digest.bytes.size(); ++at) {
    const int high = hex_value(text[2 * at]);
    const int low = hex_value(text[2 * at + 1]);
    is_hex = high >= 0 && low >= 0;
    if (is_hex) digest.bytes[at] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (is_hex) return digest;
  return fail(ErrorCode::invalid_argument, "digest of " + std::to_string(text.size()) +
                                               " bytes: give 64 lower-case hexadecimal digits");
}

bool equal_constant_time(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::string netstrings(std::span<const std::string_view> fields) {
  constexpr std::size_t framing_usual = 8;
  std::size_t size = 0;
  for (const std::string_view field : fields) size += field.size() + framing_usual;
  std::string out;
  out.reserve(size);
  for (const std::string_view field : fields) {
    text::append_padded(out, field.size(), 1);
    out += ':';
    out += field;
    out += ',';
  }
  return out;
}

}  // namespace onceward
