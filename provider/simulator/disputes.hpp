// Disputes: opened by the control API, won or lost later. They do not change the ledger, which says
// what the merchant's own requests have moved.
#pragma once

#include <cstdint>
#include <string>

#include "provider/simulator/endpoint.hpp"

namespace onceward::provider::simulator {

/// Opens a dispute about a charge that took money; `amount` 0 disputes all of it.
Dispute& open_dispute(EndpointContext& context, Charge& charge, std::int64_t amount,
                      std::string reason);
/// False when it is closed already.
[[nodiscard]] bool close_dispute(EndpointContext& context, Dispute& dispute, bool won);

}  // namespace onceward::provider::simulator
