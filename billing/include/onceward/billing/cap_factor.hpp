// CapFactor: by how much a period's spend cap exceeds the approved plans, as a ratio of integers.
#pragma once

#include <cstdint>
#include <string_view>

#include <onceward/core/money.hpp>

namespace onceward::billing {

/// `numerator / denominator` >= 1 in lowest digits, e.g. 110/100. At most 1,000,000 each.
struct CapFactor {
  std::int64_t numerator = 110;
  std::int64_t denominator = 100;

  friend bool operator==(const CapFactor&, const CapFactor&) = default;
};

/// A plain decimal number with at most four decimals, 1 to 100: `1.10`, `2`. Below 1 the cap would
/// refuse the very plan it was made from. Anything else is invalid_argument.
[[nodiscard]] Result<CapFactor> parse_cap_factor(std::string_view text);

/// The limit for a base: base x factor, rounded up to a whole minor unit (rounding down could
/// refuse the plan itself), at most amount_minor_max.
[[nodiscard]] Money cap_limit(const Money& base, const CapFactor& factor);

}  // namespace onceward::billing
