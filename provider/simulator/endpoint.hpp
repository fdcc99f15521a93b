// The shape of an endpoint: parameters, checks before the key store, execution behind it. The
// tables of endpoints live beside their objects; route() finds them all.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "provider/simulator/api_error.hpp"
#include "provider/simulator/events.hpp"
#include "provider/simulator/object_store.hpp"
#include "provider/simulator/params.hpp"
#include "provider/simulator/payment_outcome.hpp"

#include <onceward/provider/simulator/ledger.hpp>

namespace onceward::provider::simulator {

class SearchIndex;
class WebhookSender;

/// What an endpoint works on. References outlive the call.
struct EndpointContext {
  ObjectStore& store;
  Ledger& ledger;
  EventLog& events;
  ChangeLog& changes;
  WebhookSender& webhooks;
  SearchIndex& search;
  Timestamp now;         ///< provider time
  Timestamp driver_now;  ///< driver time
  bool strict_customers = false;
  std::string key = {};
  std::string request_id = {};
  /// Lists show no more at once; absent: what was asked for.
  std::optional<std::uint64_t> page_max = std::nullopt;
  /// Asked once per attempt to take money, so that a fault rule counts attempts and not requests.
  std::function<std::optional<PaymentOutcome>()> forced_outcome = [] { return std::nullopt; };
  /// Asked once per refund that is made.
  std::function<std::optional<RefundOutcome>()> forced_refund = [] { return std::nullopt; };
  /// Deliveries that must have been tried before this request is answered.
  std::vector<std::uint64_t> awaited_webhooks = {};

  [[nodiscard]] std::int64_t now_s() const noexcept { return now.ms / 1000; }
};

struct EndpointAnswer {
  int status = 200;
  boost::json::object body;
};
[[nodiscard]] inline EndpointAnswer refuse(const ApiError& error) {
  return {error.status, to_json(error)};
}

struct Endpoint {
  std::string_view method;
  std::string_view path;  ///< "{}" stands for the id
  std::span<const ParamSpec> params;
  /// Checks beyond the shapes; runs before the key store. May be null.
  std::optional<ApiError> (*check)(const Params&) = nullptr;
  /// Runs behind the key store; what it answers is saved.
  EndpointAnswer (*execute)(EndpointContext&, const Params&, const std::string& id) = nullptr;
};

[[nodiscard]] std::span<const Endpoint> charge_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> intent_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> customer_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> refund_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> dispute_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> event_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> search_endpoints() noexcept;
[[nodiscard]] std::span<const Endpoint> webhook_endpoints() noexcept;

struct Route {
  const Endpoint* endpoint = nullptr;
  std::string id;
};
/// 404 for an unknown path, 405 for a known one with another method.
[[nodiscard]] std::variant<Route, ApiError> find_route(std::string_view method,
                                                       std::string_view path);

}  // namespace onceward::provider::simulator
