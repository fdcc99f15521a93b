// announce(): the only way by which the provider tells that something happened.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "provider/simulator/endpoint.hpp"

namespace onceward::provider::simulator {

/// The request that made it happen; both empty when time did.
struct Cause {
  std::string request;
  std::string key;
};

/// Makes an event of `type` about `object` as it is now.
void announce(EndpointContext& context, std::string type, const boost::json::object& object,
              Cause cause);

}  // namespace onceward::provider::simulator
