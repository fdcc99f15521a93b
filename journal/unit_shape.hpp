// The first check of every commit: is the unit itself in order? Needs nothing but the unit; the
// same for all backends. Private to journal.
#pragma once

#include <cstddef>
#include <optional>

#include <onceward/core/commit_unit.hpp>

namespace onceward::journal {

/// Longest persistence id in bytes; visible ASCII only.
inline constexpr std::size_t persistence_id_bytes_max = 255;
/// Longest free text of a row, mark or quarantine in bytes.
inline constexpr std::size_t short_text_bytes_max = 4096;
/// Largest snapshot in bytes.
inline constexpr std::size_t snapshot_bytes_max = 16 * event_payload_bytes_max;

/// Why no store may ever take this unit; absent if it is in order.
[[nodiscard]] std::optional<Error> shape_error(const CommitUnit& unit, std::uint32_t shards);

/// Visible ASCII, 1 .. persistence_id_bytes_max bytes.
[[nodiscard]] bool is_persistence_id(std::string_view text) noexcept;

}  // namespace onceward::journal
