// A request to bill one obligation, taken from header and body and checked as far as it can be
// without asking anybody. Pure.
#pragma once

#include <string>
#include <vector>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/core/result.hpp>
#include <onceward/platform/http_server.hpp>

#include "ingress/http/header_values.hpp"

namespace onceward::ingress {

/// Caller keys are kept this long.
inline constexpr std::chrono::hours caller_key_life{24 * 30};

struct BillRequest {
  std::string caller_key;
  Wait wait;
  ObligationKey key;
  Money amount;
  PaymentMethod payment_method;
  ProviderCustomer provider_customer;
  billing::Metadata metadata;  ///< ordered by name
  /// SHA-256 (hex) over the netstrings of every member after defaults: the same for two requests
  /// exactly if they ask for the same.
  std::string fingerprint;
};

/// invalid_argument naming header or member, what is wrong and what is accepted.
[[nodiscard]] Result<BillRequest> parse_bill_request(const platform::HttpRequest& request);

/// The provider's own names of test cards; real ids do not begin like this.
[[nodiscard]] bool is_test_method(const PaymentMethod& method);
/// Why a live node takes none of them.
[[nodiscard]] Error test_method_refused();

/// Scope of a principal's caller keys among the marks.
[[nodiscard]] std::string caller_scope(std::string_view principal);

/// The command for the customer's entity. `settled` or `accepted` by whether the caller waits.
[[nodiscard]] billing::BillCustomer to_command(const BillRequest& request,
                                               std::string_view principal, Timestamp now);

}  // namespace onceward::ingress
