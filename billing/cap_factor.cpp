// Exact arithmetic of the spend cap's factor: no product is formed that could overflow.
#include <onceward/billing/cap_factor.hpp>

#include <string>

namespace onceward::billing {

namespace {

constexpr std::size_t whole_digits_max = 3;
constexpr std::size_t decimals_max = 4;
constexpr std::int64_t factor_max = 100;
constexpr std::int64_t part_max = 1'000'000;

bool append_digits(std::string_view text, std::int64_t& value) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + (c - '0');
  }
  return true;
}

}  // namespace

Result<CapFactor> parse_cap_factor(std::string_view text) {
  const auto refuse = [] {
    return fail(ErrorCode::invalid_argument,
                "a spend cap factor is a number from 1 to 100 with at most 4 decimals, e.g. 1.10");
  };
  const auto dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view decimals =
      dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
  if (whole.empty() || whole.size() > whole_digits_max) return refuse();
  if (dot != std::string_view::npos && decimals.empty()) return refuse();
  if (decimals.size() > decimals_max) return refuse();
  CapFactor factor{0, 1};
  if (!append_digits(whole, factor.numerator)) return refuse();
  if (!append_digits(decimals, factor.numerator)) return refuse();
  for (std::size_t i = 0; i < decimals.size(); ++i) factor.denominator *= 10;
  if (factor.numerator < factor.denominator) return refuse();
  if (factor.numerator > factor_max * factor.denominator) return refuse();
  return factor;
}

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
