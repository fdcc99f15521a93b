// How obligation rows, digests and events are read from columns; damaged values become
// store_corrupt, never defaults. Private to journal.
#pragma once

#include <span>
#include <string_view>

#include <onceward/core/commit_unit.hpp>
#include <onceward/platform/sqlite.hpp>

namespace onceward::journal::sqlite {

/// The columns of `obligations`, named o, that read_row() expects, in this order.
inline constexpr std::string_view row_columns =
    "o.period, o.customer, o.purpose, o.status, o.amount_minor, o.currency, o.charge_id, "
    "o.attempt, "
    "o.decline_code, o.reason, o.request_id, o.initiated_at, o.updated_at, o.next_action_at, "
    "o.next_attempt_at";

[[nodiscard]] Result<ObligationRow> read_row(const platform::SqliteStatement& statement,
                                             int first = 0);

/// The columns of `refunds`, named r, that read_refund() expects, in this order.
inline constexpr std::string_view refund_columns =
    "r.customer, r.period, r.purpose, r.number, r.amount_minor, r.currency, r.status, "
    "r.refund_id, r.reason, r.request_id, r.who, r.why, r.requested_at, r.updated_at, "
    "r.next_action_at";

[[nodiscard]] Result<RefundRow> read_refund(const platform::SqliteStatement& statement);

/// The columns of `events`, named v, that read_event() expects, in this order.
inline constexpr std::string_view event_columns =
    "v.sequence_nr, v.manifest, v.version, v.payload, v.epoch, v.writer, v.at, v.head";

[[nodiscard]] Result<StoredEvent> read_event(const platform::SqliteStatement& statement, int first);

[[nodiscard]] Result<Digest> read_digest(const platform::SqliteStatement& statement, int column);
[[nodiscard]] inline std::span<const std::uint8_t> bytes_of(const Digest& digest) noexcept {
  return digest.bytes;
}

}  // namespace onceward::journal::sqlite
