// The table of chargeable currencies, and exact arithmetic and text of amounts.
//
// The exponents are the provider's wire format, not ISO 4217: it sends ISK and UGX with two
// decimals that must be zero, and MGA with none.
#include <onceward/core/money.hpp>

#include <algorithm>
#include <array>

#include "core/text.hpp"

namespace onceward {
namespace {

constexpr std::string_view zero_decimal =
    "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf ";
constexpr std::string_view two_decimal_in_hundreds = "isk ugx ";
constexpr std::string_view three_decimal_in_tens = "bhd jod kwd omr tnd ";
constexpr std::string_view two_decimal =
    "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd "
    "cad cdf chf cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd "
    "hkd hnl htg huf idr ils inr jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk "
    "mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron "
    "rsd rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah usd "
    "uyu uzs wst xcd xcg yer zar zmw ";

static_assert(zero_decimal.size() % 4 == 0 && two_decimal_in_hundreds.size() % 4 == 0 &&
                  three_decimal_in_tens.size() % 4 == 0 && two_decimal.size() % 4 == 0,
              "a code is three letters and a blank");
static_assert(charge_amount_minor_max <= amount_minor_max);

struct CurrencyRow {
  std::string_view letters;
  int exponent = 2;
  std::int64_t granularity = 1;
};

constexpr std::size_t row_count = (zero_decimal.size() + two_decimal_in_hundreds.size() +
                                   three_decimal_in_tens.size() + two_decimal.size()) /
                                  4;

constexpr std::array<CurrencyRow, row_count> make_table() {
  std::array<CurrencyRow, row_count> table{};
  std::size_t next = 0;
  const auto add_rows = [&](std::string_view list, int exponent, std::int64_t granularity) {
    for (std::size_t at = 0; at < list.size(); at += 4) {
      table[next++] = {list.substr(at, 3), exponent, granularity};
    }
  };
  add_rows(zero_decimal, 0, 1);
  add_rows(two_decimal_in_hundreds, 2, 100);
  add_rows(three_decimal_in_tens, 3, 10);
  add_rows(two_decimal, 2, 1);
  std::sort(table.begin(), table.end(),
            [](const CurrencyRow& a, const CurrencyRow& b) { return a.letters < b.letters; });
  return table;
}

constexpr std::array<CurrencyRow, row_count> table = make_table();
static_assert(std::adjacent_find(table.begin(), table.end(),
                                 [](const CurrencyRow& a, const CurrencyRow& b) {
                                   return a.letters >= b.letters;
                                 }) == table.end(),
              "every currency stands in one list only");
static_assert(std::all_of(table.begin(), table.end(),
                          [](const CurrencyRow& row) {
                            return row.letters.find_first_not_of("abcdefghijklmnopqrstuvwxyz") ==
                                   std::string_view::npos;
                          }),
              "codes are lower-case letters");

const CurrencyRow* find_row(std::string_view letters) noexcept {
  const auto* const row = std::lower_bound(
      table.begin(), table.end(), letters,
      [](const CurrencyRow& a, std::string_view wanted) { return a.letters < wanted; });
  return row != table.end() && row->letters == letters ? row : nullptr;
}

constexpr std::int64_t power_of_ten(int exponent) {
  ONCEWARD_CHECK(exponent >= 0 && exponent <= 3, "currencies have 0 to 3 decimals");
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// Digits of an amount by its exponent: (4990, 2) gives "49.90".
std::string major_text(std::int64_t minor, int exponent) {
  // The magnitude of the smallest integer exists only unsigned.
  const auto magnitude =
      minor < 0 ? 0U - static_cast<std::uint64_t>(minor) : static_cast<std::uint64_t>(minor);
  const auto unit = static_cast<std::uint64_t>(power_of_ten(exponent));
  std::string text = minor < 0 ? "-" : "";
  text::append_padded(text, magnitude / unit, 1);
  if (exponent > 0) {
    text += '.';
    text::append_padded(text, magnitude % unit, static_cast<std::size_t>(exponent));
  }
  return text;
}

bool is_in_range(std::int64_t minor) {
  return minor >= -amount_minor_max && minor <= amount_minor_max;
}

Unexpected refuse_amount(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "amount " + what);
}

}  // namespace

Result<Currency> Currency::parse(std::string_view text) {
  Currency currency;
  if (text.size() == 3) {
    for (std::size_t at = 0; at < 3; ++at) {
      const char c = text[at];
      currency.letters_[at] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (find_row(currency.text()) != nullptr) return currency;
  }
  return fail(ErrorCode::invalid_argument,
              "currency " + text::quoted(text) +
                  " is unknown: give the three letters of a currency the provider charges, such as "
                  "usd");
}

int Currency::exponent() const noexcept {
  const CurrencyRow* const row = find_row(text());
  return row == nullptr ? 2 : row->exponent;
}

std::int64_t Currency::granularity() const noexcept {
  const CurrencyRow* const row = find_row(text());
  return row == nullptr ? 1 : row->granularity;
}

Result<Money> add(const Money& left, const Money& right) {
  if (left.currency != right.currency) {
    return refuse_amount("in " + std::string(left.currency.text()) + " cannot be added to one in " +
                         std::string(right.currency.text()));
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(left.minor, right.minor, &sum) || !is_in_range(sum)) {
    return refuse_amount(to_display(left) + " plus " + to_display(right) +
                         " is beyond the largest amount");
  }
  return Money{sum, left.currency};
}

Result<Money> parse_chargeable(std::int64_t minor, const Currency& currency) {
  const auto refuse = [&](const std::string& why) {
    return refuse_amount(std::to_string(minor) + " " + std::string(currency.text()) + " " + why);
  };
  const CurrencyRow* const row = find_row(currency.text());
  if (row == nullptr) return refuse("has no currency");
  if (minor < 0 || minor > charge_amount_minor_max) {
    return refuse("cannot be charged: give 0 to " + std::to_string(charge_amount_minor_max) +
                  " minor units");
  }
  if (minor % row->granularity != 0) {
    return refuse("cannot be charged: give a multiple of " + std::to_string(row->granularity) +
                  " minor units");
  }
  return Money{minor, currency};
}

std::string to_display(const Money& money) {
  return major_text(money.minor, money.currency.exponent()) + " " +
         std::string(money.currency.text());
}

Result<Money> parse_major(std::string_view text, const Currency& currency) {
  const auto exponent = static_cast<std::size_t>(currency.exponent());
  const auto refuse = [&](std::string_view why) {
    return refuse_amount(text::quoted(text) + " " + std::string(why) + ": give it like " +
                         major_text(4990, currency.exponent()) + " for " +
                         std::string(currency.text()));
  };
  const bool is_negative = text.starts_with('-');
  const std::string_view digits = text.substr(is_negative ? 1 : 0);
  const std::size_t point = digits.find('.');
  const bool has_point = point != std::string_view::npos;
  const auto whole = text::parse_digits(digits.substr(0, point));
  const std::string_view decimals = has_point ? digits.substr(point + 1) : "0";
  const auto fraction = text::parse_digits(decimals);
  if (!whole || !fraction) return refuse("is not a plain decimal number in range");
  if (has_point && decimals.size() > exponent) return refuse("is finer than the currency");
  const std::int64_t missing =
      has_point ? power_of_ten(static_cast<int>(exponent - decimals.size())) : 1;
  const std::int64_t unit = power_of_ten(static_cast<int>(exponent));
  if (*whole > amount_minor_max / unit) return refuse("is beyond the largest amount");
  ONCEWARD_CHECK(*fraction * missing < unit, "the decimals are less than one whole unit");
  const std::int64_t minor = *whole * unit + *fraction * missing;
  if (!is_in_range(minor)) return refuse("is beyond the largest amount");
  return Money{is_negative ? -minor : minor, currency};
}

}  // namespace onceward
