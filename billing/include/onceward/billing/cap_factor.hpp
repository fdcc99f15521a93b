// CapFactor: by how much a period's spend cap exceeds the approved plans, as a ratio of integers.
#pragma once

#include <cstdint>

#include <onceward/core/money.hpp>

namespace onceward::billing {

/// `numerator / denominator`, at least 1 (a smaller one would refuse the very plan that the cap was
/// made from), e.g. 110/100. At most 1,000,000 each.
struct CapFactor {
  std::int64_t numerator = 110;
  std::int64_t denominator = 100;

  friend bool operator==(const CapFactor&, const CapFactor&) = default;
};

/// The limit for a base: base x factor, rounded up to a whole minor unit (rounding down could
/// refuse the plan itself), at most amount_minor_max.
[[nodiscard]] Money cap_limit(const Money& base, const CapFactor& factor);

}  // namespace onceward::billing
