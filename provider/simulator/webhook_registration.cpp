// Implementation of the registration of webhook receivers.
#include "provider/simulator/webhook_registration.hpp"

#include <utility>

namespace onceward::provider::simulator {

Result<WebhookRegistration> register_webhook(ProviderState& state, NewWebhookEndpoint endpoint) {
  if (endpoint.url.empty()) {
    return fail(ErrorCode::invalid_argument, "webhook endpoint: the url is empty");
  }
  if (state.webhooks.endpoints().size() >= webhook_endpoints_max) {
    return fail(ErrorCode::invalid_argument, "webhook endpoint: there are 16 already; delete one");
  }
  if (endpoint.secret.empty()) endpoint.secret = state.store.next_id("whsec_");
  WebhookEndpoint made;
  made.id = state.store.next_id("we_");
  made.created_s = state.clock.now().ms / 1000;
  made.url = std::move(endpoint.url);
  made.enabled_events = std::move(endpoint.enabled_events);
  made.secrets.push_back({std::move(endpoint.secret), std::nullopt});
  const WebhookEndpoint& kept = state.webhooks.add(std::move(made));
  return WebhookRegistration{kept.id, kept.secrets[0].text};
}

Result<WebhookRegistration> roll_webhook(ProviderState& state, const std::string& id,
                                         std::string secret,
                                         std::chrono::milliseconds keep_old_for) {
  WebhookEndpoint* endpoint = state.webhooks.find(id);
  if (endpoint == nullptr) return fail(ErrorCode::not_found, "no webhook endpoint " + id);
  if (keep_old_for.count() < 0 || keep_old_for > old_secret_life_max) {
    return fail(ErrorCode::invalid_argument, "an old secret signs for 0 to 86400 s");
  }
  if (secret.empty()) secret = state.store.next_id("whsec_");
  endpoint->roll(std::move(secret), state.clock.now(), keep_old_for);
  state.webhooks.save(*endpoint);
  return WebhookRegistration{endpoint->id, endpoint->secrets[0].text};
}

}  // namespace onceward::provider::simulator
