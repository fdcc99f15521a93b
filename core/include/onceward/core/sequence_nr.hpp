// SequenceNr and Epoch: the position of an event in one history, and the fencing token under which
// it was written. Both only ever grow.
#pragma once

#include <compare>
#include <cstdint>

namespace onceward {

/// 1-based, gapless position of an event in one persistence id; 0 = nothing stored yet.
struct SequenceNr {
  std::uint64_t value = 0;

  /// The position `n` events later. 64 bits do not run out, so there is no overflow to answer.
  [[nodiscard]] constexpr SequenceNr plus(std::uint64_t n) const noexcept { return {value + n}; }
  friend constexpr auto operator<=>(const SequenceNr&, const SequenceNr&) = default;
};

/// Fencing token allocated by the journal; a write under an epoch older than the store's is
/// refused.
struct Epoch {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const Epoch&, const Epoch&) = default;
};

/// Fixed bucket of persistence ids, the unit of ownership in a cluster; 0 .. shard count - 1.
struct ShardNr {
  std::uint32_t value = 0;

  friend constexpr auto operator<=>(const ShardNr&, const ShardNr&) = default;
};

}  // namespace onceward
