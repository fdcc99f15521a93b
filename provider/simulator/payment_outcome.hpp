// How an attempt to take money ends: read off the test token or payment method, unless a fault rule
// says otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace onceward::provider::simulator {

enum class OutcomeKind : std::uint8_t {
  succeed,
  decline,         ///< 402 card_error
  authenticate,    ///< the payer must be present: 402 off-session, requires_action otherwise
  require_action,  ///< 200 with status requires_action, also off-session
  process,         ///< 200 with status processing; ends later
};

struct PaymentOutcome {
  OutcomeKind kind = OutcomeKind::succeed;
  std::string code;          ///< for decline
  std::string decline_code;  ///< for decline
  std::chrono::milliseconds process_for{0};
  bool process_succeeds = true;
};

/// How a refund ends that a fault rule keeps from succeeding at once.
struct RefundOutcome {
  std::chrono::milliseconds pending_for{0};  ///< 0: ends at once
  bool succeeds = true;
  std::string failure_reason;
};

/// `pm_card_...`, `tok_...` and card numbers that do not simply succeed; absent for all others.
[[nodiscard]] std::optional<PaymentOutcome> outcome_of_token(std::string_view token);
[[nodiscard]] PaymentOutcome decline_with(std::string_view decline_code);
/// True for what may be sent as payment method or source: pm_, tok_, card_, src_.
[[nodiscard]] bool is_payment_source(std::string_view id) noexcept;
[[nodiscard]] std::string decline_message(const PaymentOutcome& outcome);

}  // namespace onceward::provider::simulator
