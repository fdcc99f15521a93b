// WebhookEndpoint: a registered receiver of events, as a value, with the JSON a client sees and the
// JSON that is stored. No behaviour beyond its secrets.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>

#include "provider/simulator/objects.hpp"

namespace onceward::provider::simulator {

/// A rolled secret signs beside its successor for at most this long.
inline constexpr std::chrono::hours old_secret_life_max{24};

/// As many as the provider allows per account.
inline constexpr std::size_t webhook_endpoints_max = 16;

struct WebhookSecret {
  std::string text;
  std::optional<Timestamp> expires_at;  ///< provider time; absent: the present one
};

struct WebhookEndpoint {
  std::string id;
  std::int64_t created_s = 0;
  std::string url;
  std::string description;
  std::string api_version;
  std::vector<std::string> enabled_events;  ///< "*" or types
  Metadata metadata;
  bool enabled = true;
  std::vector<WebhookSecret> secrets;  ///< newest first

  [[nodiscard]] bool takes(std::string_view type) const;
  /// Those that sign at `now`, newest first; never none.
  [[nodiscard]] std::vector<std::string> active_secrets(Timestamp now) const;
  /// `secret` signs from now on; the present one beside it for `keep_old_for`, one before that no
  /// more.
  void roll(std::string secret, Timestamp now, std::chrono::milliseconds keep_old_for);
};

/// Without secrets.
[[nodiscard]] boost::json::object to_json(const WebhookEndpoint& endpoint);
[[nodiscard]] std::string to_stored(const WebhookEndpoint& endpoint);
[[nodiscard]] Result<WebhookEndpoint> parse_webhook_endpoint(std::string_view text);

}  // namespace onceward::provider::simulator
