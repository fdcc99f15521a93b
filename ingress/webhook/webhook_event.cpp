// Reads members by name with Boost.JSON's error codes; nothing here throws.
#include "ingress/webhook/webhook_event.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json.hpp>

namespace onceward::ingress {

namespace {

namespace json = boost::json;

constexpr std::size_t depth_max = 64;
constexpr std::size_t id_bytes_max = 255;

struct KnownType {
  std::string_view type;
  WebhookObject kind;
};
constexpr std::array known_types{
    KnownType{"payment_intent.created", WebhookObject::payment_intent},
    KnownType{"payment_intent.processing", WebhookObject::payment_intent},
    KnownType{"payment_intent.succeeded", WebhookObject::payment_intent},
    KnownType{"payment_intent.payment_failed", WebhookObject::payment_intent},
    KnownType{"payment_intent.requires_action", WebhookObject::payment_intent},
    KnownType{"payment_intent.canceled", WebhookObject::payment_intent},
    KnownType{"charge.succeeded", WebhookObject::charge},
    KnownType{"charge.pending", WebhookObject::charge},
    KnownType{"charge.failed", WebhookObject::charge},
    KnownType{"charge.updated", WebhookObject::charge},
    KnownType{"charge.refunded", WebhookObject::charge},
    KnownType{"charge.refund.updated", WebhookObject::refund},
    KnownType{"refund.created", WebhookObject::refund},
    KnownType{"refund.updated", WebhookObject::refund},
    KnownType{"refund.failed", WebhookObject::refund},
    KnownType{"charge.dispute.created", WebhookObject::dispute},
    KnownType{"charge.dispute.updated", WebhookObject::dispute},
    KnownType{"charge.dispute.closed", WebhookObject::dispute},
    KnownType{"charge.dispute.funds_withdrawn", WebhookObject::dispute},
    KnownType{"charge.dispute.funds_reinstated", WebhookObject::dispute},
};

Unexpected refuse(std::string why) {
  return fail(ErrorCode::invalid_argument, "the event " + std::move(why));
}

const json::object* object_at(const json::object& parent, std::string_view name) {
  const auto* value = parent.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

std::string text_at(const json::object* parent, std::string_view name) {
  const auto* value = parent == nullptr ? nullptr : parent->if_contains(name);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

/// The id of another object: as text, or of the object itself where the provider put it inside.
std::string id_at(const json::object& parent, std::string_view name) {
  if (const auto* inside = object_at(parent, name)) return text_at(inside, "id");
  return text_at(&parent, name);
}

/// Ids go into marks, names of entities and messages.
bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= id_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

void read_object(const json::object& object, WebhookEvent& event) {
  event.object = text_at(&object, "id");
  event.status = text_at(&object, "status");
  event.intent =
      event.kind == WebhookObject::payment_intent ? event.object : id_at(object, "payment_intent");
  event.charge = event.kind == WebhookObject::charge           ? event.object
                 : event.kind == WebhookObject::payment_intent ? id_at(object, "latest_charge")
                                                               : id_at(object, "charge");
  const auto* metadata = object_at(object, "metadata");
  event.ns = text_at(metadata, "onceward_namespace");
  event.customer = text_at(metadata, "onceward_customer");
  event.period = text_at(metadata, "onceward_period");
  event.purpose = text_at(metadata, "onceward_purpose");
}

}  // namespace

Result<WebhookEvent> parse_webhook_event(std::string_view body) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::error_code error;
  const auto value = json::parse({body.data(), body.size()}, error, {}, options);
  if (error) return refuse("is not JSON: " + error.message());
  const auto* top = value.if_object();
  if (top == nullptr) return refuse("is not a JSON object");
  WebhookEvent event;
  event.id = text_at(top, "id");
  event.type = text_at(top, "type");
  if (!is_id(event.id)) return refuse("has no id of 1 to 255 visible characters");
  if (!is_id(event.type)) return refuse("has no type");
  const auto* live = top->if_contains("livemode");
  if (live == nullptr || !live->is_bool()) return refuse("does not say its livemode");
  event.mode = live->get_bool() ? Mode::live : Mode::test;
  const auto known = std::find_if(known_types.begin(), known_types.end(),
                                  [&](const KnownType& k) { return k.type == event.type; });
  if (known == known_types.end()) return event;
  event.kind = known->kind;
  const auto* data = object_at(*top, "data");
  const auto* object = data == nullptr ? nullptr : object_at(*data, "object");
  if (object == nullptr) return refuse("has no data.object");
  read_object(*object, event);
  if (!is_id(event.object)) return refuse("its data.object has no id");
  return event;
}

}  // namespace onceward::ingress
