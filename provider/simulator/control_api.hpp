// The control API under /_sim: fault rules, clock, reset, and everything that can be inspected.
// Not part of the provider's own API; never counted, delayed or faulted.
#pragma once

#include <functional>

#include "provider/simulator/provider_state.hpp"

namespace onceward::provider::simulator {

/// `give_up_requests` ends requests in flight by a reset; called before the state is cleared.
[[nodiscard]] WireAnswer answer_control(ProviderState& state, const WireRequest& request,
                                        const std::function<void()>& give_up_requests);

}  // namespace onceward::provider::simulator
