// Registering receivers of webhooks other than by the provider's own API: with a secret of one's
// own.
#pragma once

#include <chrono>
#include <string>

#include <onceward/core/result.hpp>
#include <onceward/provider/simulator/webhooks.hpp>

#include "provider/simulator/provider_state.hpp"

namespace onceward::provider::simulator {

/// invalid_argument for an empty URL or too many receivers.
[[nodiscard]] Result<WebhookRegistration> register_webhook(ProviderState& state,
                                                           NewWebhookEndpoint endpoint);
/// not_found for an unknown id, invalid_argument for an old secret that would live above 24 h.
[[nodiscard]] Result<WebhookRegistration> roll_webhook(ProviderState& state, const std::string& id,
                                                       std::string secret,
                                                       std::chrono::milliseconds keep_old_for);

}  // namespace onceward::provider::simulator
