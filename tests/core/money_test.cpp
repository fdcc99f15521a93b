// The currency table, exact arithmetic, and amounts as text.
#include <onceward/core/money.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace onceward {
namespace {

using std::string_literals::operator""s;

Currency currency_of(std::string_view text) {
  return Currency::parse(text).value();
}
Money money_of(std::int64_t minor, std::string_view currency) {
  return {minor, currency_of(currency)};
}

/// Every currency, found by asking for each of the 17,576 possible codes.
const std::vector<Currency>& all_currencies() {
  static const std::vector<Currency> found = [] {
    std::vector<Currency> currencies;
    std::string code = "aaa";
    for (code[0] = 'a'; code[0] <= 'z'; ++code[0]) {
      for (code[1] = 'a'; code[1] <= 'z'; ++code[1]) {
        for (code[2] = 'a'; code[2] <= 'z'; ++code[2]) {
          const auto currency = Currency::parse(code);
          if (currency.has_value()) currencies.push_back(currency.value());
        }
      }
    }
    return currencies;
  }();
  return found;
}

TEST(Currency, KnowsEveryCurrencyTheProviderCharges) {
  EXPECT_EQ(all_currencies().size(), 140U);
  for (const char* code : {"usd", "eur", "gbp", "chf", "jpy", "aud", "cad", "sek", "inr", "brl",
                           "mxn", "zar", "pln", "huf", "twd", "sle", "xcg", "zmw", "aed"}) {
    EXPECT_TRUE(Currency::parse(code).has_value()) << code;
  }
}

// Deriving these from ISO 4217 charges a hundred times too much or too little.
TEST(Currency, HasTheProvidersExponentsAndNotThoseOfIso4217) {
  const auto is_one_of = [](const Currency& currency, const std::vector<std::string>& codes) {
    return std::find(codes.begin(), codes.end(), currency.text()) != codes.end();
  };
  const std::vector<std::string> zero = {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga",
                                         "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"};
  const std::vector<std::string> three = {"bhd", "jod", "kwd", "omr", "tnd"};
  std::size_t special = 0;
  for (const Currency& currency : all_currencies()) {
    const bool is_zero = is_one_of(currency, zero);
    const bool is_three = is_one_of(currency, three);
    const bool is_hundreds = is_one_of(currency, {"isk", "ugx"});
    special += is_zero || is_three || is_hundreds ? 1U : 0U;
    EXPECT_EQ(currency.exponent(), is_zero ? 0 : is_three ? 3 : 2) << currency.text();
    EXPECT_EQ(currency.granularity(), is_hundreds ? 100 : is_three ? 10 : 1) << currency.text();
  }
  EXPECT_EQ(special, zero.size() + three.size() + 2);
}

TEST(Currency, AcceptsUpperCaseAndKeepsLowerCase) {
  EXPECT_EQ(currency_of("USD").text(), "usd");
  EXPECT_EQ(currency_of("uSd"), currency_of("usd"));
  EXPECT_NE(currency_of("usd"), currency_of("eur"));
}

TEST(Currency, RefusesWhatTheProviderDoesNotCharge) {
  for (const auto& text : {""s, "us"s, "usdd"s, "usd "s, " us"s, "u$d"s, "us1"s, "xxx"s, "btc"s,
                           "aaa"s, "zzz"s, "us\0"s, "\0\0\0"s, "\xe2\x82\xac"s, "$"s, "euro"s}) {
    const auto parsed = Currency::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Currency, IsThreeBytesAndRegular) {
  static_assert(sizeof(Currency) == 3);
  EXPECT_EQ(Currency(), Currency());
  EXPECT_EQ(Currency().text(), "xxx");
  EXPECT_EQ(Currency().exponent(), 2);
  EXPECT_EQ(Currency().granularity(), 1);
}

TEST(Add, SumsAmountsOfOneCurrency) {
  EXPECT_EQ(add(money_of(4990, "usd"), money_of(10, "usd")).value(), money_of(5000, "usd"));
  EXPECT_EQ(add(money_of(5, "jpy"), money_of(-8, "jpy")).value(), money_of(-3, "jpy"));
}

TEST(Add, RefusesTwoCurrencies) {
  const auto sum = add(money_of(1, "usd"), money_of(1, "eur"));
  ASSERT_FALSE(sum.has_value());
  EXPECT_EQ(sum.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(sum.error().context, "amount in usd cannot be added to one in eur");
}

TEST(Add, RefusesSumsBeyondTheLargestAmount) {
  const Money largest = money_of(amount_minor_max, "usd");
  EXPECT_EQ(add(largest, money_of(0, "usd")).value(), largest);
  EXPECT_FALSE(add(largest, money_of(1, "usd")).has_value());
  EXPECT_FALSE(add(money_of(-amount_minor_max, "usd"), money_of(-1, "usd")).has_value());
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_FALSE(add(money_of(highest, "usd"), money_of(highest, "usd")).has_value());
  EXPECT_FALSE(add(money_of(lowest, "usd"), money_of(lowest, "usd")).has_value());
}

RC_GTEST_PROP(Add, IsExactAndCommutativeOrRefused, ()) {
  const auto amount = rc::gen::inRange<std::int64_t>(-amount_minor_max, amount_minor_max + 1);
  const Money left = money_of(*amount, "eur");
  const Money right = money_of(*amount, "eur");
  const std::int64_t exact = left.minor + right.minor;  // 54 bits: cannot overflow
  const auto sum = add(left, right);
  const bool is_in_range = exact <= amount_minor_max && exact >= -amount_minor_max;
  RC_ASSERT(sum.has_value() == is_in_range);
  RC_ASSERT(add(right, left).has_value() == is_in_range);
  if (is_in_range) RC_ASSERT(sum.value() == Money({exact, left.currency}));
  if (is_in_range) RC_ASSERT(add(right, left).value() == sum.value());
}

TEST(ParseChargeable, TakesZeroToTheLargestCharge) {
  const Currency usd = currency_of("usd");
  EXPECT_EQ(parse_chargeable(0, usd).value(), money_of(0, "usd"));
  EXPECT_EQ(parse_chargeable(1, usd).value(), money_of(1, "usd"));
  EXPECT_EQ(parse_chargeable(99'999'999, usd).value(), money_of(99'999'999, "usd"));
}

TEST(ParseChargeable, RefusesNegativeAndOversizedAmounts) {
  const Currency usd = currency_of("usd");
  for (const std::int64_t minor :
       {std::int64_t{-1}, std::int64_t{100'000'000}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max()}) {
    const auto parsed = parse_chargeable(minor, usd);
    ASSERT_FALSE(parsed.has_value()) << minor;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(parse_chargeable(-5, usd).error().context,
            "amount -5 usd cannot be charged: give 0 to 99999999 minor units");
}

TEST(ParseChargeable, TakesOnlyMultiplesOfTheGranularity) {
  for (const char* code : {"isk", "ugx"}) {
    EXPECT_TRUE(parse_chargeable(500, currency_of(code)).has_value()) << code;
    for (const std::int64_t minor : {1, 5, 50, 99, 101, 550}) {
      EXPECT_FALSE(parse_chargeable(minor, currency_of(code)).has_value()) << code << minor;
    }
  }
  for (const char* code : {"bhd", "jod", "kwd", "omr", "tnd"}) {
    EXPECT_TRUE(parse_chargeable(5120, currency_of(code)).has_value()) << code;
    EXPECT_FALSE(parse_chargeable(5124, currency_of(code)).has_value()) << code;
    EXPECT_FALSE(parse_chargeable(1, currency_of(code)).has_value()) << code;
  }
  EXPECT_EQ(parse_chargeable(5124, currency_of("kwd")).error().context,
            "amount 5124 kwd cannot be charged: give a multiple of 10 minor units");
  EXPECT_TRUE(parse_chargeable(80, currency_of("jpy")).has_value());
  EXPECT_TRUE(parse_chargeable(5001, currency_of("mga")).has_value());
}

TEST(ParseChargeable, RefusesAnAmountWithoutCurrency) {
  EXPECT_FALSE(parse_chargeable(100, Currency()).has_value());
}

TEST(ToDisplay, UsesTheExponentOfTheCurrency) {
  EXPECT_EQ(to_display(money_of(4990, "usd")), "49.90 usd");
  EXPECT_EQ(to_display(money_of(4990, "jpy")), "4990 jpy");
  EXPECT_EQ(to_display(money_of(5120, "kwd")), "5.120 kwd");
  EXPECT_EQ(to_display(money_of(500, "isk")), "5.00 isk");
  EXPECT_EQ(to_display(money_of(0, "usd")), "0.00 usd");
  EXPECT_EQ(to_display(money_of(7, "kwd")), "0.007 kwd");
  EXPECT_EQ(to_display(money_of(-5, "usd")), "-0.05 usd");
  EXPECT_EQ(to_display(money_of(std::numeric_limits<std::int64_t>::min(), "jpy")),
            "-9223372036854775808 jpy");
}

TEST(ParseMajor, ReadsExactDecimals) {
  EXPECT_EQ(parse_major("49.90", currency_of("usd")).value(), money_of(4990, "usd"));
  EXPECT_EQ(parse_major("49.9", currency_of("usd")).value(), money_of(4990, "usd"));
  EXPECT_EQ(parse_major("49", currency_of("usd")).value(), money_of(4900, "usd"));
  EXPECT_EQ(parse_major("80", currency_of("jpy")).value(), money_of(80, "jpy"));
  EXPECT_EQ(parse_major("5", currency_of("isk")).value(), money_of(500, "isk"));
  EXPECT_EQ(parse_major("5.12", currency_of("kwd")).value(), money_of(5120, "kwd"));
  EXPECT_EQ(parse_major("-0.05", currency_of("usd")).value(), money_of(-5, "usd"));
}

TEST(ParseMajor, RefusesMoreDigitsThanTheCurrencyHas) {
  for (const char* text : {"0.001", "49.900", "1.999"}) {
    EXPECT_FALSE(parse_major(text, currency_of("usd")).has_value()) << text;
  }
  EXPECT_FALSE(parse_major("80.0", currency_of("jpy")).has_value());
  EXPECT_FALSE(parse_major("1.2345", currency_of("kwd")).has_value());
  EXPECT_EQ(parse_major("0.001", currency_of("usd")).error().context,
            "amount \"0.001\" is finer than the currency: give it like 49.90 for usd");
}

TEST(ParseMajor, RefusesWhatIsNoPlainDecimalNumber) {
  for (const char* text : {"", "-", ".", "-.5", ".5", "5.", "+5", "--5", " 5", "5 ", "1,000", "1e3",
                           "0x10", "5.-1", "5.1.2", "nan", "\xd9\xa5", "1_000"}) {
    const auto parsed = parse_major(text, currency_of("usd"));
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

// 184467440737095517 times 100 is 84 in 64 bits: unguarded, it would be read as 84 cents.
TEST(ParseMajor, RefusesAmountsBeyondTheLargest) {
  EXPECT_EQ(parse_major("90071992547409.91", currency_of("usd")).value().minor, amount_minor_max);
  EXPECT_EQ(parse_major("-90071992547409.91", currency_of("usd")).value().minor, -amount_minor_max);
  for (const char* text : {"90071992547409.92", "-90071992547409.92", "90071992547410",
                           "184467440737095517", "999999999999999999", "9999999999999999999999"}) {
    EXPECT_FALSE(parse_major(text, currency_of("usd")).has_value()) << text;
  }
}

RC_GTEST_PROP(ParseMajor, ReadsBackWhatIsDisplayed, ()) {
  const Currency currency = *rc::gen::elementOf(all_currencies());
  const auto minor =
      *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(-amount_minor_max, amount_minor_max + 1),
                      rc::gen::inRange<std::int64_t>(-2000, 2001));
  const Money money{minor, currency};
  const std::string shown = to_display(money);
  RC_ASSERT(shown.substr(shown.size() - 4) == " " + std::string(currency.text()));
  RC_ASSERT(parse_major(shown.substr(0, shown.size() - 4), currency).value() == money);
}

}  // namespace
}  // namespace onceward
