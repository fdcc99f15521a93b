// The signature of a webhook: who may have sent these bytes, and when. Pure; knows nothing of what
// the bytes say. Called by the webhook route before anything else looks at the body.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>
#include <onceward/platform/secret.hpp>

namespace onceward::ingress {

/// The header that carries it: `t=<unix seconds>,v1=<hex>[,v1=<hex>...][,<other scheme>=...]`.
inline constexpr std::string_view signature_header = "Stripe-Signature";
/// How far its time may lie from ours, in either direction: one that is old may be replayed by
/// whoever saw it, one from the future could be kept and used later. At most this, inclusive.
inline constexpr std::chrono::seconds signature_tolerance{300};
/// Longest header that is looked at, and the most v1 values in it.
inline constexpr std::size_t signature_header_bytes_max = 4096;
inline constexpr std::size_t signature_values_max = 16;

/// The endpoint's secrets: one, or several while one of them is being replaced. Move-only.
class WebhookSecrets {
 public:
  static constexpr std::size_t secrets_max = 4;

  /// None: nothing verifies.
  WebhookSecrets() = default;
  /// One secret per line; blanks around it and empty lines are left out, since a stray blank is the
  /// usual reason why nothing verifies. invalid_config, never quoting a secret, if there is none or
  /// more than secrets_max, or one holds anything but visible ASCII characters.
  [[nodiscard]] static Result<WebhookSecrets> parse(std::string_view lines);

  [[nodiscard]] bool is_empty() const noexcept { return secrets_.empty(); }
  [[nodiscard]] const std::vector<platform::Secret>& all() const noexcept { return secrets_; }

 private:
  std::vector<platform::Secret> secrets_;
};

/// Who claims to have sent what.
struct SignedBody {
  std::string_view header;  ///< value of signature_header
  std::string_view body;    ///< the raw bytes as they came, never re-serialised
};

/// ok if one of the header's v1 values is the HMAC-SHA-256 of `t.body` under one of the secrets and
/// its time is within the tolerance of `now` (wall time of this node). Otherwise unauthorized with
/// a sentence on what to look at. Compares every value with every secret in constant time.
[[nodiscard]] Result<Unit> verify_signature(const SignedBody& message,
                                            const WebhookSecrets& secrets, Timestamp now);

}  // namespace onceward::ingress
