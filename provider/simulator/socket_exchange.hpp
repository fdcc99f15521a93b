// Translation between the HTTP server and the pure provider.
#pragma once

#include <onceward/platform/http_server.hpp>
#include <onceward/provider/simulator/wire.hpp>

namespace onceward::provider::simulator {

[[nodiscard]] WireRequest to_wire(platform::HttpRequest request);
/// Answers, or ends the connection in the way that was meant. Does not block.
void deliver(WireAnswer answer, platform::HttpResponder responder);

}  // namespace onceward::provider::simulator
