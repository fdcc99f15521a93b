// From the provider's deliveries to hints.
#include "tests/cases/webhook_edge.hpp"

#include <algorithm>
#include <utility>

#include "ingress/webhook/webhook_event.hpp"

namespace onceward::cases {

namespace sim = provider::simulator;

namespace {

constexpr const char* secret = "whsec_cases";

HintedKind kind_of(ingress::WebhookObject kind) {
  switch (kind) {
    case ingress::WebhookObject::payment_intent:
      return HintedKind::payment_intent;
    case ingress::WebhookObject::charge:
      return HintedKind::charge;
    case ingress::WebhookObject::refund:
      return HintedKind::refund;
    case ingress::WebhookObject::dispute:
      return HintedKind::dispute;
  }
  return HintedKind::payment_intent;
}

}  // namespace

WebhookEdge::WebhookEdge(CaseWorld& world)
    : world_(world), secrets_(std::move(*ingress::WebhookSecrets::parse(secret))) {
  const auto registered =
      world_.port().provider().add_webhook_endpoint({"http://node/v1/webhooks/stripe", secret});
  ONCEWARD_CHECK(registered.has_value(), "the provider registers a receiver");
  world_.on_webhook([this](const sim::WebhookCall& call) -> std::optional<int> {
    Delivery delivery{call.event, call.type, std::nullopt, "", call.body};
    for (const auto& [name, value] : call.headers) {
      if (name == ingress::signature_header) delivery.signature = value;
    }
    delivery.status = take(delivery);
    deliveries_.push_back(delivery);
    return delivery.status;
  });
}

Result<Unit> WebhookEdge::verify(const Delivery& delivery, Timestamp now) const {
  return ingress::verify_signature({delivery.signature, delivery.body}, secrets_, now);
}

int WebhookEdge::taken(const std::string& type) const {
  return static_cast<int>(std::count_if(
      deliveries_.begin(), deliveries_.end(),
      [&](const Delivery& delivery) { return delivery.type == type && delivery.status == 200; }));
}

std::optional<int> WebhookEdge::take(const Delivery& delivery) {
  if (!verify(delivery, world_.now())) return 400;
  const auto event = ingress::parse_webhook_event(delivery.body);
  if (!event) return 400;
  if (!event->kind) return 200;
  const Mark mark{"webhook", event->id, event->type, std::nullopt};
  if (!event->customer.empty()) {
    ProviderHint hint;
    hint.key = CaseWorld::key_of(event->customer, event->period, event->purpose);
    hint.mark = mark;
    hint.type = event->type;
    hint.kind = kind_of(*event->kind);
    hint.object = event->object;
    hint.intent = event->intent;
    hint.charge = event->charge;
    const auto told = world_.send(hint);
    if (!told->is_answered()) return std::nullopt;
    if (std::holds_alternative<HintTaken>(told->replies.back())) return 200;
    if (!std::holds_alternative<NoSuchObligation>(told->replies.back())) return 503;
  }
  const StoreHint stray{mark, event->type, kind_of(*event->kind), event->customer};
  return world_.send_to_inbox(event->object, stray) ? std::optional(200) : std::nullopt;
}

}  // namespace onceward::cases
