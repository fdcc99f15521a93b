// Exact arithmetic of the spend cap's factor: no product is formed that could overflow.
#include <onceward/billing/cap_factor.hpp>

namespace onceward::billing {

namespace {

constexpr std::int64_t part_max = 1'000'000;

}  // namespace

Money cap_limit(const Money& base, const CapFactor& factor) {
  ONCEWARD_CHECK(factor.denominator >= 1 && factor.denominator <= part_max,
                 "a cap factor has a small denominator");
  ONCEWARD_CHECK(factor.numerator >= factor.denominator && factor.numerator <= part_max,
                 "a cap factor is at least 1 and small");
  ONCEWARD_CHECK(base.minor >= 0, "plans hold no negative amounts");
  const std::int64_t whole = base.minor / factor.denominator;
  const std::int64_t rest = base.minor % factor.denominator;
  if (whole > amount_minor_max / factor.numerator) return {amount_minor_max, base.currency};
  const std::int64_t rounded_up =
      (rest * factor.numerator + factor.denominator - 1) / factor.denominator;
  const std::int64_t limit = whole * factor.numerator + rounded_up;
  return {limit < amount_minor_max ? limit : amount_minor_max, base.currency};
}

}  // namespace onceward::billing
