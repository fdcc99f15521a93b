// Returning money: the only place that makes refunds and writes them into the ledger.
#pragma once

#include <string>

#include "provider/simulator/endpoint.hpp"

namespace onceward::provider::simulator {

/// Returns `refund.amount` of `charge`, which must have so much left. Completes `refund` (id, time,
/// charge, status, request), stores both, tells the events, and writes the ledger if money moved.
Refund& make_refund(EndpointContext& context, Charge& charge, Refund refund);

/// Ends every pending refund whose time has come.
void settle_due_refunds(EndpointContext& context);

}  // namespace onceward::provider::simulator
