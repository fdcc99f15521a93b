// The one function that makes the provider's idempotency key, and the only inputs it may see:
// business fields and journaled counters. No time, randomness, process, node, path or reply
// address.
#pragma once

#include <cstdint>
#include <string_view>

#include <onceward/billing/billing_policy.hpp>
#include <onceward/core/obligation.hpp>

namespace onceward::billing {

/// What a request does for its obligation. Names are part of the key and never change.
enum class Step : std::uint8_t {
  charge,          ///< POST charges
  create,          ///< create an unconfirmed intent: moves no money
  create_confirm,  ///< create and confirm in one request
  confirm,         ///< confirm an intent
  cancel,          ///< cancel an intent
  refund,          ///< give money back
};
[[nodiscard]] std::string_view to_text(Step step) noexcept;
[[nodiscard]] Result<Step> parse_step(std::string_view text);
/// Whether a request of this step can take money from the customer.
[[nodiscard]] bool moves_money(Step step) noexcept;

struct KeyInputs {
  ObligationKey obligation;
  Step step = Step::create;
  std::uint32_t attempt = 1;     ///< grows only by a journaled decline
  std::uint32_t generation = 0;  ///< grows only where a second send cannot take money twice
};

/// 32 lower-case hex digits: the first half of SHA-256 over the netstrings of
/// ("onceward-key-v1", account, mode, namespace, customer, period, purpose, step, attempt,
/// generation). Scheme `colon` instead hashes `customer:period:namespace` for charges of purpose
/// `subscription`, attempt 1, generation 0, and is v1 for everything else.
[[nodiscard]] IdempotencyKey idempotency_key(const BillingPolicy& policy, const KeyInputs& inputs);

}  // namespace onceward::billing
