// Webhooks of the simulated provider as values: who receives them, one delivery, and what comes
// back. Without sockets: whoever drives the provider delivers, or lets deliver_webhooks() do it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <onceward/provider/simulator/wire.hpp>

namespace onceward::provider::simulator {

/// A receiver to register.
struct NewWebhookEndpoint {
  std::string url;
  /// `whsec_...`; empty: one is made.
  std::string secret;
  /// Types to send, or "*" for all.
  std::vector<std::string> enabled_events = {"*"};
};

/// What the receiver needs to know of its registration.
struct WebhookRegistration {
  std::string id;      ///< `we_...`
  std::string secret;  ///< that signs from now on
};

/// One attempt to deliver one event to one endpoint.
struct WebhookCall {
  std::uint64_t nr = 0;  ///< of this attempt; names it in webhook_answered()
  std::string endpoint;
  std::string url;
  std::string event;  ///< id; a repeat of an event has the same
  std::string type;   ///< e.g. payment_intent.succeeded
  std::uint32_t attempt = 1;
  /// Content-Type, User-Agent and Stripe-Signature, which signs the body's bytes anew each time.
  WireHeaders headers;
  std::string body;
};

/// Delivers one call and returns the HTTP status of the answer; absent: there was none in time.
/// It may use the provider.
using WebhookSink = std::function<std::optional<int>(const WebhookCall&)>;

/// Waiting time after that many failed attempts: one minute, doubling, at most twelve hours.
[[nodiscard]] std::chrono::milliseconds webhook_retry_delay(std::uint32_t attempts_made) noexcept;
/// An event is given up this long after it was made, in provider time.
inline constexpr std::chrono::hours webhook_retries_end{72};

}  // namespace onceward::provider::simulator
