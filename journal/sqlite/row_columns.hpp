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

/// The columns of `events`, named v, that read_event() expects, in this order.
inline constexpr std::string_view event_columns =
    "v.sequence_nr, v.manifest, v.version, v.payload, v.epoch, v.writer, v.at, v.head";

[[nodiscard]] Result<StoredEvent> read_event(const platform::SqliteStatement& statement, int first);

[[nodiscard]] Result<Digest> read_digest(const platform::SqliteStatement& statement, int column);
[[nodiscard]] inline std::span<const std::uint8_t> bytes_of(const Digest& digest) noexcept {
  return digest.bytes;
}

}  // namespace onceward::journal::sqlite
