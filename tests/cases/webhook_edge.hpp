// WebhookEdge: what the route for webhooks does, as far as a case needs it: verifies the signature
// over the bytes as they came, finds whom the event concerns, and answers 2xx only when the hint is
// durable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <onceward/ingress/webhook_signature.hpp>
#include <onceward/provider/simulator/webhooks.hpp>

#include "tests/cases/case_run.hpp"

namespace onceward::cases {

class WebhookEdge {
 public:
  /// Registers with the world's provider and delivers what it sends from now on. Borrows the world.
  explicit WebhookEdge(CaseWorld& world);
  WebhookEdge(const WebhookEdge&) = delete;
  WebhookEdge& operator=(const WebhookEdge&) = delete;

  struct Delivery {
    std::string event;
    std::string type;
    std::optional<int> status;  ///< absent: nobody answered
    std::string signature;
    std::string body;
  };
  [[nodiscard]] const std::vector<Delivery>& deliveries() const { return deliveries_; }
  /// Deliveries of this type that were answered 2xx.
  [[nodiscard]] int taken(const std::string& type) const;
  [[nodiscard]] Result<Unit> verify(const Delivery& delivery, Timestamp now) const;

 private:
  std::optional<int> take(const Delivery& delivery);

  CaseWorld& world_;
  ingress::WebhookSecrets secrets_;
  std::vector<Delivery> deliveries_;
};

}  // namespace onceward::cases
