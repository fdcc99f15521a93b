// One POST /v1/billing from its checked request to its one answer: caller key, command, wait.
#pragma once

#include "ingress/http/bill_request.hpp"
#include "ingress/http/services.hpp"

namespace onceward::ingress {

/// Answers the call exactly once, from any thread. `services` must outlive the exchange; it ends
/// when the runtime has answered and the wait is over.
void bill(Services& services, Call call, BillRequest request);

}  // namespace onceward::ingress
