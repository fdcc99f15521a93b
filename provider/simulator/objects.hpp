// The provider's objects as plain values, with the JSON a client sees and the JSON that is stored
// (the same plus what only the simulator knows). No behaviour.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>

namespace onceward::provider::simulator {

/// In the order first set.
using Metadata = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string_view find(const Metadata& metadata, std::string_view key) noexcept;

struct Customer {
  std::string id;
  std::int64_t created_s = 0;
  std::string name;
  std::string email;
  std::string description;
  std::string payment_method;  ///< default for invoices; kept, not used
  Metadata metadata;
};

struct PaymentMethod {
  std::string id;
  std::int64_t created_s = 0;
  std::string customer;  ///< empty until attached
  std::string token;     ///< test token that decides how its charges end
  Metadata metadata;
};

/// Why a charge failed, as in `last_payment_error` and in `failure_code` of a charge.
struct PaymentError {
  std::string code;
  std::string decline_code;
  std::string message;
  std::string charge;
  std::string payment_method;
};

enum class ChargeStatus : std::uint8_t { succeeded, pending, failed };
[[nodiscard]] std::string_view to_text(ChargeStatus status) noexcept;

/// How and when a pending charge ends.
struct Settlement {
  Timestamp at;  ///< provider time
  bool succeeds = true;
};

struct Charge {
  std::string id;
  std::int64_t created_s = 0;
  std::int64_t amount = 0;
  std::string currency;
  std::string customer;
  std::string description;
  std::string payment_intent;  ///< empty in the charges flow
  std::string payment_method;  ///< `source` of the charges flow
  Metadata metadata;
  ChargeStatus status = ChargeStatus::succeeded;
  std::optional<PaymentError> error;
  std::optional<Settlement> settlement;  ///< only while pending
  bool disputed = false;
  std::int64_t amount_refunded = 0;  ///< also what pending refunds are to return
  std::string key;                   ///< of the request that made it; not shown to clients
  std::string request;

  [[nodiscard]] std::int64_t refundable() const noexcept {
    return status == ChargeStatus::succeeded ? amount - amount_refunded : 0;
  }
};

enum class RefundStatus : std::uint8_t { pending, succeeded, failed };
[[nodiscard]] std::string_view to_text(RefundStatus status) noexcept;

struct Refund {
  std::string id;
  std::int64_t created_s = 0;
  std::int64_t amount = 0;
  std::string currency;
  std::string charge;
  std::string payment_intent;  ///< of the charge; empty in the charges flow
  std::string reason;
  Metadata metadata;
  RefundStatus status = RefundStatus::succeeded;
  std::string failure_reason;
  std::optional<Settlement> settlement;  ///< only while pending
  std::string key;                       ///< of the request that made it; not shown to clients
  std::string request;
};

enum class IntentStatus : std::uint8_t {
  requires_payment_method,
  requires_confirmation,
  requires_action,
  processing,
  succeeded,
  canceled,
};
[[nodiscard]] std::string_view to_text(IntentStatus status) noexcept;

struct PaymentIntent {
  std::string id;
  std::int64_t created_s = 0;
  std::int64_t amount = 0;
  std::int64_t amount_received = 0;
  std::string currency;
  std::string customer;
  std::string description;
  std::string payment_method;
  std::vector<std::string> payment_method_types = {"card"};
  Metadata metadata;
  IntentStatus status = IntentStatus::requires_payment_method;
  std::string latest_charge;
  std::optional<PaymentError> last_error;
  std::string cancellation_reason;
  std::int64_t canceled_s = 0;
  std::string key;  ///< of the last confirm; not shown to clients
  std::string request;
};

enum class DisputeStatus : std::uint8_t { needs_response, won, lost };
[[nodiscard]] std::string_view to_text(DisputeStatus status) noexcept;

struct Dispute {
  std::string id;
  std::int64_t created_s = 0;
  std::int64_t amount = 0;
  std::string currency;
  std::string charge;
  std::string payment_intent;
  std::string reason;
  Metadata metadata;
  DisputeStatus status = DisputeStatus::needs_response;
  std::int64_t evidence_due_s = 0;
};

[[nodiscard]] boost::json::object to_json(const Customer& customer);
[[nodiscard]] boost::json::object to_json(const PaymentMethod& method);
[[nodiscard]] boost::json::object to_json(const Charge& charge);
[[nodiscard]] boost::json::object to_json(const PaymentIntent& intent);
[[nodiscard]] boost::json::object to_json(const Refund& refund);
[[nodiscard]] boost::json::object to_json(const Dispute& dispute);

[[nodiscard]] std::string to_stored(const Customer& customer);
[[nodiscard]] std::string to_stored(const PaymentMethod& method);
[[nodiscard]] std::string to_stored(const Charge& charge);
[[nodiscard]] std::string to_stored(const PaymentIntent& intent);
[[nodiscard]] std::string to_stored(const Refund& refund);
[[nodiscard]] std::string to_stored(const Dispute& dispute);
/// store_corrupt when the text is not what to_stored() writes.
template <class T>
[[nodiscard]] Result<T> parse_stored(std::string_view text);
template <>
Result<Customer> parse_stored<Customer>(std::string_view text);
template <>
Result<PaymentMethod> parse_stored<PaymentMethod>(std::string_view text);
template <>
Result<Charge> parse_stored<Charge>(std::string_view text);
template <>
Result<PaymentIntent> parse_stored<PaymentIntent>(std::string_view text);
template <>
Result<Refund> parse_stored<Refund>(std::string_view text);
template <>
Result<Dispute> parse_stored<Dispute>(std::string_view text);

}  // namespace onceward::provider::simulator
