// The refund row: money given back of one charged obligation. Beside the obligation's row, never in
// its place: a refunded period stays billed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onceward/core/obligation.hpp>

namespace onceward {

/// Names are fixed and stored as text.
enum class RefundStatus : std::uint8_t {
  in_progress,  ///< open: recorded, outcome not yet known
  unknown,      ///< open: the provider may or may not have given the money back; being resolved
  pending,      ///< open: the provider has taken it on and the money is on its way
  parked,       ///< open, operator's: no automatic step is safe
  succeeded,    ///< closed: the money was given back
  failed,       ///< closed: certainly not given back
};
inline constexpr std::array<RefundStatus, 6> all_refund_statuses = {
    RefundStatus::in_progress, RefundStatus::unknown,   RefundStatus::pending,
    RefundStatus::parked,      RefundStatus::succeeded, RefundStatus::failed};

[[nodiscard]] std::string_view to_text(RefundStatus status) noexcept;
[[nodiscard]] Result<RefundStatus> parse_refund_status(std::string_view text);
/// Open refunds are resumed, or wait for an operator (parked).
[[nodiscard]] bool is_open(RefundStatus status) noexcept;

/// One row for each (obligation, number). Never deleted; rewritten in every commit that changes it
/// and derivable from the events of its entity.
struct RefundRow {
  ObligationKey obligation;
  std::uint32_t number = 1;  ///< 1, 2, 3, ... within its obligation; part of the provider's key
  Money amount;
  RefundStatus status = RefundStatus::in_progress;
  std::string refund_id;  ///< at the provider; empty until known
  std::string reason;     ///< why it is in this status, for operators; empty if obvious
  RequestId request_id;   ///< of the command that asked for it
  std::string who;        ///< who asked
  std::string why;        ///< the reason that was given
  Timestamp requested_at;
  Timestamp updated_at;
  /// When the entity must look at it again; the row of the obligation is due by then. Set on every
  /// open refund that is not parked.
  std::optional<Timestamp> next_action_at;

  friend bool operator==(const RefundRow&, const RefundRow&) = default;
};

}  // namespace onceward
