// The obligation: what is owed once. Its key, its statuses and its row, which is guard, read side
// and alarm clock at the same time. Shared by journal, billing and every reader.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onceward/core/billing_period.hpp>
#include <onceward/core/clock.hpp>
#include <onceward/core/ids.hpp>
#include <onceward/core/money.hpp>

namespace onceward {

/// Statuses as users see them; names are fixed and stored as text.
enum class ObligationStatus : std::uint8_t {
  in_progress,      ///< open: initiated, outcome not yet recorded
  processing,       ///< open: the provider is working on it (bank debits: days)
  action_required,  ///< open: the customer must act
  unknown,          ///< open: the provider may or may not have acted; being resolved
  parked,           ///< open, operator's: no automatic step is safe
  rejected,         ///< open, operator's: refused by the provider as malformed
  declined,         ///< open: refused by the payer's side, next try planned
  capped,           ///< open, operator's: refused by the spend cap
  completed,        ///< closed: charged
  waived,           ///< closed: nothing to charge
  cancelled,        ///< closed: called off before money moved
  uncollectible,    ///< closed: dunning exhausted
};
inline constexpr std::array<ObligationStatus, 12> all_obligation_statuses = {
    ObligationStatus::in_progress, ObligationStatus::processing, ObligationStatus::action_required,
    ObligationStatus::unknown,     ObligationStatus::parked,     ObligationStatus::rejected,
    ObligationStatus::declined,    ObligationStatus::capped,     ObligationStatus::completed,
    ObligationStatus::waived,      ObligationStatus::cancelled,  ObligationStatus::uncollectible};

[[nodiscard]] std::string_view to_text(ObligationStatus status) noexcept;
[[nodiscard]] Result<ObligationStatus> parse_obligation_status(std::string_view text);
/// Open obligations are resumed; only a closed one means done.
[[nodiscard]] bool is_open(ObligationStatus status) noexcept;
/// Open and waiting for an operator: the only open rows without a next_action_at.
[[nodiscard]] bool is_operator_owned(ObligationStatus status) noexcept;

/// Identity within one store (the namespace is recorded once per store).
struct ObligationKey {
  CustomerId customer;
  BillingPeriod period;
  Purpose purpose;

  friend bool operator==(const ObligationKey&, const ObligationKey&) = default;
  friend auto operator<=>(const ObligationKey&, const ObligationKey&) = default;
};
/// `cust_1/2026-08/subscription`, for messages and logs.
[[nodiscard]] std::string to_display(const ObligationKey& key);

/// The one row of an obligation. Never deleted; rewritten in every commit that changes it and
/// derivable from the events of its entity.
struct ObligationRow {
  ObligationKey key;
  ObligationStatus status = ObligationStatus::in_progress;
  Money amount;
  std::string charge_id;      ///< empty until charged
  std::uint32_t attempt = 0;  ///< number of the present provider try; 0 before the first
  std::string decline_code;   ///< of the newest decline, empty if none
  std::string reason;         ///< why it is in this status, for operators; empty if obvious
  RequestId request_id;       ///< of the command that initiated it
  Timestamp initiated_at;
  Timestamp updated_at;
  /// When the entity must be woken; set on every open row that no operator owns.
  std::optional<Timestamp> next_action_at;
  /// When dunning tries again; shown to callers.
  std::optional<Timestamp> next_attempt_at;

  friend bool operator==(const ObligationRow&, const ObligationRow&) = default;
};

}  // namespace onceward
