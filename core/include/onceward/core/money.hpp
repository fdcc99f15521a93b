// Money: minor units with their currency, exactly as they travel to the provider. No floating
// point, no conversion; adding two currencies or overflowing is an error value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <onceward/core/result.hpp>

namespace onceward {

/// A currency the provider can charge, as three lower-case letters. Regular value; 3 bytes.
class Currency {
 public:
  /// `xxx`, no currency: equal to itself, shown with two decimals, never chargeable.
  Currency() = default;
  /// Text as in the provider's API: exactly three letters; upper case is accepted and lowered. A
  /// currency that the provider does not charge is invalid_argument.
  [[nodiscard]] static Result<Currency> parse(std::string_view text);

  [[nodiscard]] std::string_view text() const noexcept { return {letters_, 3}; }
  /// Digits between major and minor unit in the provider's API (0, 2 or 3): not ISO 4217, e.g. MGA
  /// is 0, ISK and UGX are 2.
  [[nodiscard]] int exponent() const noexcept;
  /// The provider accepts only multiples of this many minor units (ISK, UGX: 100; three-decimal
  /// currencies: 10; otherwise 1).
  [[nodiscard]] std::int64_t granularity() const noexcept;

  friend auto operator<=>(const Currency&, const Currency&) = default;

 private:
  char letters_[3] = {'x', 'x', 'x'};
};

/// Largest amount ever accepted: integers beyond 2^53-1 do not survive JSON readers.
inline constexpr std::int64_t amount_minor_max = 9'007'199'254'740'991;
static_assert(amount_minor_max == (std::int64_t{1} << 53) - 1);
/// Largest amount of one charge at the provider (default of its API: eight digits).
inline constexpr std::int64_t charge_amount_minor_max = 99'999'999;

struct Money {
  std::int64_t minor = 0;
  Currency currency;

  friend bool operator==(const Money&, const Money&) = default;
};

/// Sum of two amounts; invalid_argument on different currencies or when the sum is beyond
/// amount_minor_max on either side of zero.
[[nodiscard]] Result<Money> add(const Money& left, const Money& right);
/// An amount that may be charged: 0 .. charge_amount_minor_max and a multiple of the currency's
/// granularity; otherwise invalid_argument with a text that says what would be acceptable.
[[nodiscard]] Result<Money> parse_chargeable(std::int64_t minor, const Currency& currency);
/// For people, by the exponent: "49.90 usd", "4990 jpy", "5.120 kwd".
[[nodiscard]] std::string to_display(const Money& money);
/// Amount in major units with at most the currency's exponent of decimals ("49.90", "49.9", "49",
/// "-5"): exact. Anything finer, beyond amount_minor_max or not a plain decimal number is
/// invalid_argument. Reads what to_display prints, without the currency.
[[nodiscard]] Result<Money> parse_major(std::string_view text, const Currency& currency);

}  // namespace onceward
