// Reproducible numbers: a sequence for probabilities and a bijection for object ids.
#pragma once

#include <cstdint>

namespace onceward::provider::simulator {

/// SplitMix64's finaliser: a bijection on 64 bits, so that different counters never collide.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15ULL); }
  /// True in `parts` of a million cases.
  [[nodiscard]] bool happens(std::uint64_t parts) noexcept { return next() % 1'000'000 < parts; }

 private:
  std::uint64_t state_;
};

}  // namespace onceward::provider::simulator
