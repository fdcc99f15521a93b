// The shape of the control API's handlers. Their tables live beside them.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "provider/simulator/provider_state.hpp"

namespace onceward::provider::simulator {

struct ControlRequest {
  ProviderState& state;
  const std::function<void()>& give_up_requests;
  Params query;
  boost::json::object body;
};
struct ControlAnswer {
  int status = 200;
  boost::json::value body;
};
using ControlHandler = ControlAnswer (*)(ControlRequest&);

struct ControlRoute {
  std::string_view method;
  std::string_view path;
  ControlHandler handler;
};

[[nodiscard]] inline ControlAnswer bad(const std::string& why) {
  return {400, boost::json::object({{"error", why}})};
}

/// Webhooks, disputes, API keys, chaos, limits, search.
[[nodiscard]] std::span<const ControlRoute> extra_control_routes() noexcept;

}  // namespace onceward::provider::simulator
