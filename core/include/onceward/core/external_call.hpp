// What an entity asks of the outside world and what comes back: frozen requests and three-valued
// answers. The provider port performs them; the machine carries them; neither knows the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/core/ids.hpp>

namespace onceward {

/// Ordered name/value pairs, already in the provider's spelling (`metadata[onceward_period]`).
using Params = std::vector<std::pair<std::string, std::string>>;

/// Closed list of operations an entity may ask for.
enum class Operation : std::uint8_t {
  create_charge,   ///< POST charges: moves money
  create_intent,   ///< POST payment_intents, unconfirmed or (one step) confirmed by its params
  confirm_intent,  ///< POST payment_intents/{target}/confirm: moves money
  cancel_intent,   ///< POST payment_intents/{target}/cancel
  update_intent,   ///< POST payment_intents/{target}
  create_refund,   ///< POST refunds
  get_intent,      ///< GET payment_intents/{target}
  get_charge,      ///< GET charges/{target}
  get_refund,      ///< GET refunds/{target}
  list_intents,    ///< GET payment_intents by customer and created range, all pages
  list_charges,    ///< GET charges by customer and created range, all pages
  list_refunds,    ///< GET refunds by charge, all pages
};
[[nodiscard]] std::string_view to_text(Operation operation) noexcept;
/// True for the GETs: they move nothing, carry no key on the wire and may be repeated freely.
[[nodiscard]] bool is_look_up(Operation operation) noexcept;

/// A request frozen by its entity. A value; resends are byte-equal.
struct ExternalRequest {
  /// For POSTs the idempotency key on the wire. For look-ups a correlation only, never sent.
  IdempotencyKey key;
  Operation operation = Operation::get_intent;
  std::string target;  ///< object id in the path; empty where the operation has none
  Params params;
  /// Never put on the wire after this CLOCK_BOOTTIME instant (ms), not even as a silent re-send.
  std::int64_t not_after_boottime_ms = 0;

  friend bool operator==(const ExternalRequest&, const ExternalRequest&) = default;
};

/// The fields of a provider object that billing acts on. Absent text fields are empty.
struct ProviderObject {
  std::string object;  ///< "payment_intent", "charge", "refund"
  std::string id;
  std::string status;  ///< as the provider spells it; an unknown string is never a success
  std::int64_t amount_minor = -1;
  std::string currency;
  std::string customer;
  std::string charge;          ///< latest_charge of an intent; the charge of a refund
  std::string payment_intent;  ///< of a charge or refund
  std::string failure_code;    ///< of the last payment error
  std::string decline_code;    ///< of the last payment error
  std::string failure_charge;  ///< charge of the last payment error
  std::int64_t created_s = 0;  ///< provider time, whole seconds
  Params metadata;

  friend bool operator==(const ProviderObject&, const ProviderObject&) = default;
};

/// What was observed of one call, one name per row of the classification table (see
/// provider/classification.hpp, which also says what each means for a first and a tainted send).
enum class Observation : std::uint8_t {
  object,              ///< 2xx, whole body, parsed: `objects` holds it (lists: all pages)
  declined,            ///< 402 card_error
  invalid_request,     ///< 400 validation
  unexpected_state,    ///< 400 payment_intent_unexpected_state: GET the intent
  key_mismatch,        ///< 400 idempotency_error: the key was used with other parameters
  unauthorized,        ///< 401, 403
  not_found,           ///< 404
  key_in_use,          ///< 409
  rate_limited,        ///< 429, limiter
  lock_timeout,        ///< 429, object lock
  other_client_error,  ///< 424 and any other 4xx
  server_error,        ///< 500: may be saved and replayed
  gateway_error,       ///< 502, 503, 504
  redirect,            ///< 3xx, never followed
  bad_body,            ///< 2xx but truncated, not JSON or without the expected members
  not_sent,            ///< connect, DNS or TLS failed, or dropped unsent: no byte left
  broken,              ///< timeout, reset or end of stream after bytes left
};
[[nodiscard]] std::string_view to_text(Observation observation) noexcept;

/// The answer to one ExternalRequest; always matched by key and operation, never by position.
struct ExternalAnswer {
  IdempotencyKey key;
  Operation operation = Operation::get_intent;
  Observation observation = Observation::broken;
  /// For `object`: one for a create or GET, 0..n for lists (complete, newest first).
  std::vector<ProviderObject> objects;
  /// Error code and decline code as the provider gave them; `code` also names transport failures.
  std::string code;
  std::string decline_code;
  std::string message;  ///< for people; never a secret
  /// True only with proof that at most one request went on the wire (fresh connection, or exactly
  /// one pre-request callback): the condition for "untainted".
  bool single_wire_send = false;
  /// Provider asked to wait this long (Retry-After), if it did.
  std::optional<std::chrono::milliseconds> retry_after;

  friend bool operator==(const ExternalAnswer&, const ExternalAnswer&) = default;
};

}  // namespace onceward
