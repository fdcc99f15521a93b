// A webhook's event, read as far as it is needed to find whom it concerns. What it says about money
// is never believed: the object is read again at the provider. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <onceward/core/clock.hpp>
#include <onceward/core/ids.hpp>
#include <onceward/core/result.hpp>

namespace onceward::ingress {

/// Kinds of objects whose changes concern us, as the provider names them.
enum class WebhookObject : std::uint8_t { payment_intent, charge, refund, dispute };

/// Members are empty where the event has none; texts are as the provider wrote them.
struct WebhookEvent {
  std::string id;
  std::string type;
  Mode mode = Mode::test;
  /// Absent for a type that is none of ours: such an event is accepted without effect, and nothing
  /// below is set.
  std::optional<WebhookObject> kind;
  std::string object;    ///< id of the object that changed
  std::string status;    ///< of the object when the event was made; may be out of date
  std::string intent;    ///< the payment intent it belongs to, also if it is that itself
  std::string charge;    ///< the charge it belongs to, also if it is that itself
  std::string ns;        ///< metadata onceward_namespace
  std::string customer;  ///< metadata onceward_customer
  std::string period;    ///< metadata onceward_period
  std::string purpose;   ///< metadata onceward_purpose
};

/// invalid_argument, saying what is wrong, if the body is not JSON, nested deeper than 64, or lacks
/// id, type, livemode or, for a type of ours, data.object and its id. Other members are ignored if
/// they are not what is expected.
[[nodiscard]] Result<WebhookEvent> parse_webhook_event(std::string_view body);

}  // namespace onceward::ingress
