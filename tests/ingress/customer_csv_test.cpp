// The customers' file: what is read from good ones, and what every bad one is told.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "ingress/customer_csv.hpp"

namespace onceward::ingress {
namespace {

using journal::PlanRow;

const std::string header =
    "customer,amount_minor,currency,payment_method,provider_customer,purpose,anchor\n";

struct Parsed {
  std::vector<PlanRow> rows;
  std::string error;
  ErrorCode code{};
};

Parsed parse(std::string_view text, std::size_t piece = 7) {
  Parsed parsed;
  CustomerCsv csv("customers.csv", [&parsed](PlanRow&& row) -> Result<Unit> {
    parsed.rows.push_back(std::move(row));
    return ok();
  });
  Result<Unit> done = ok();
  for (std::size_t at = 0; done && at < text.size(); at += piece) {
    done = csv.feed(text.substr(at, piece));
  }
  if (done) done = csv.finish();
  if (!done) {
    parsed.error = done.error().context;
    parsed.code = done.error().code;
  }
  return parsed;
}

Money money(std::int64_t minor, const char* currency) {
  return {minor, Currency::parse(currency).value()};
}

TEST(CustomerCsv, ReadsAllColumns) {
  const auto parsed = parse(header + "cust_1,4990,usd,pm_1,cus_9,seats,2026-01-31@Europe/Berlin\n");
  ASSERT_EQ(parsed.error, "");
  ASSERT_EQ(parsed.rows.size(), 1U);
  const PlanRow expected{CustomerId{"cust_1"},
                         Purpose{"seats"},
                         money(4990, "usd"),
                         PaymentMethod{"pm_1"},
                         ProviderCustomer{"cus_9"},
                         "2026-01-31@Europe/Berlin",
                         ""};
  EXPECT_EQ(parsed.rows[0], expected);
}

TEST(CustomerCsv, FillsInWhatIsAbsent) {
  for (const char* text : {"customer,amount_minor,currency,payment_method\ncust_1,0,JPY,pm_1\n",
                           "customer,amount_minor,currency,payment_method,provider_customer,"
                           "purpose,anchor\ncust_1,0,jpy,pm_1,,,\n"}) {
    const auto parsed = parse(text);
    ASSERT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.rows[0].purpose.value(), "subscription");
    EXPECT_EQ(parsed.rows[0].provider_customer.value(), "cust_1");
    EXPECT_EQ(parsed.rows[0].anchor, "");
    EXPECT_EQ(parsed.rows[0].amount, money(0, "jpy"));
  }
}

TEST(CustomerCsv, FindsColumnsByName) {
  const auto parsed = parse("currency,payment_method,customer,amount_minor\nkwd,pm_1,a,5120\n");
  ASSERT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.rows[0].customer.value(), "a");
  EXPECT_EQ(parsed.rows[0].amount, money(5120, "kwd"));
}

TEST(CustomerCsv, KeepsARowWithoutAPaymentMethodAsNotBillable) {
  for (const char* text : {"customer,amount_minor,currency\na,100,usd\n",
                           "customer,amount_minor,currency,payment_method\na,100,usd,\n"}) {
    const auto parsed = parse(text);
    ASSERT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.rows[0].skip_reason, "no_payment_method");
    EXPECT_EQ(parsed.rows[0].payment_method.value(), "");
  }
}

TEST(CustomerCsv, ReadsTheSameFromPiecesOfAnySize) {
  const std::string text = "\xEF\xBB\xBF" + header +
                           "\"a\"\"b\",4990,usd,\"pm_1\",,,\r\n\r\n\n\"c,d\",100,isk,pm_2\n" + ",,";
  const auto expected = parse(text, text.size());
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const auto parsed = parse(text, piece);
    EXPECT_EQ(parsed.rows, expected.rows) << piece;
    EXPECT_EQ(parsed.error, expected.error) << piece;
  }
}

TEST(CustomerCsv, ReadsQuotedFieldsAsRfc4180Says) {
  const auto parsed = parse(
      "\"customer\",amount_minor,\"currency\",payment_method\n"
      "\"a\"\"b,c\",\"100\",usd,\"pm_1\"\n");
  ASSERT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.rows[0].customer.value(), "a\"b,c");
}

TEST(CustomerCsv, TakesByteOrderMarkWindowsLinesBlankLinesAndNoFinalNewline) {
  const std::string columns = "customer,amount_minor,currency,payment_method";
  for (const std::string& text : {"\xEF\xBB\xBF" + columns + "\na,100,usd,pm_1\nb,100,usd,pm_1\n",
                                  columns + "\r\na,100,usd,pm_1\r\nb,100,usd,pm_1\r\n",
                                  columns + "\na,100,usd,pm_1\nb,100,usd,pm_1",
                                  columns + "\na,100,usd,pm_1\nb,100,usd,pm_1\r",
                                  columns + "\na,100,usd,pm_1\nb,100,usd,\"pm_1\"",
                                  columns + "\n\n\r\na,100,usd,pm_1\n\nb,100,usd,pm_1\n\n\n"}) {
    const auto parsed = parse(text);
    EXPECT_EQ(parsed.error, "") << text;
    ASSERT_EQ(parsed.rows.size(), 2U) << text;
    EXPECT_EQ(parsed.rows[1].customer.value(), "b");
    EXPECT_EQ(parsed.rows[1].payment_method.value(), "pm_1");
  }
}

TEST(CustomerCsv, AnEmptyLastFieldAtTheEndOfTheFileIsAField) {
  const auto parsed = parse("customer,amount_minor,currency,payment_method\na,100,usd,");
  EXPECT_EQ(parsed.error, "");
  ASSERT_EQ(parsed.rows.size(), 1U);
}

TEST(CustomerCsv, AHeaderAloneIsAPlanOfNobody) {
  EXPECT_EQ(parse(header).error, "");
}

struct BadFile {
  const char* name;
  std::string text;
  std::vector<std::string> told;
};

std::string row(const std::string& fields) {
  return header + "ok,100,usd,pm_1,,,\n" + fields + "\n";
}

std::string name_of(const ::testing::TestParamInfo<BadFile>& bad) {
  return bad.param.name;
}

class BadCustomerFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadCustomerFile, IsToldWhereWhatAndWhatToDo) {
  const auto parsed = parse(GetParam().text);
  EXPECT_EQ(parsed.code, ErrorCode::invalid_argument);
  for (const std::string& part : GetParam().told) {
    EXPECT_NE(parsed.error.find(part), std::string::npos) << parsed.error;
  }
}

const std::string at_3 = "customers.csv line 3";

INSTANTIATE_TEST_SUITE_P(
    Header, BadCustomerFile,
    ::testing::Values(
        BadFile{"Empty", "", {"customers.csv is empty", "begins with the line customer,amount"}},
        BadFile{"OnlyAMark", "\xEF\xBB\xBF", {"is empty"}},
        BadFile{"BrokenMark", "\xEF\xBB" + header, {"line 1", "unknown column"}},
        BadFile{"Utf16",
                std::string("\xFF\xFE"
                            "c\0u\0,\0\n\0",
                            10),
                {"line 1", "UTF-8"}},
        BadFile{"MissingColumn",
                "customer,currency\na,usd\n",
                {"line 1", "column amount_minor is missing"}},
        BadFile{"UnknownColumn",
                "customer,amount_minor,currency,colour\n",
                {"line 1", "unknown column \"colour\"", "the columns are customer,amount_minor"}},
        BadFile{"ColumnTwice",
                "customer,amount_minor,currency,customer\n",
                {"line 1", "column customer comes twice"}},
        BadFile{"OtherCase", "Customer,amount_minor,currency\n", {"unknown column \"Customer\""}},
        BadFile{"BlankInName",
                "customer, amount_minor,currency\n",
                {"unknown column \" amount_minor\""}},
        BadFile{"Semicolons", "customer;amount_minor;currency\n", {"unknown column"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Row, BadCustomerFile,
    ::testing::Values(
        BadFile{"TooFewFields", row("a,100,usd"), {at_3, "has 3 fields, the header 7"}},
        BadFile{"TooManyFields", row("a,100,usd,pm_1,,,,"), {at_3, "has 8 fields, the header 7"}},
        BadFile{"QuoteInside",
                row("a\"b,100,usd,pm_1,,,"),
                {at_3, "a quote stands inside a field", "put the whole field in quotes"}},
        BadFile{"TextAfterQuote",
                row("\"a\"b,100,usd,pm_1,,,"),
                {at_3, "text follows a closing quote"}},
        BadFile{"NoClosingQuote", row("\"a,100,usd,pm_1,,,"), {at_3, "no closing quote"}},
        BadFile{"BareReturn", row("a,100\r,usd,pm_1,,,"), {at_3, "carriage return"}},
        BadFile{
            "LineOf10MB", row(std::string(10'000'000, 'a')), {at_3, "longer than 1048576 bytes"}},
        BadFile{"QuotedLineOf10MB",
                row("\"" + std::string(10'000'000, '\n')),
                {at_3, "longer than 1048576 bytes"}},
        BadFile{
            "LineAfterQuotedLines", header + "\"a\nb\",1,usd,p,,,\n", {"line 2, column customer"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Field, BadCustomerFile,
    ::testing::Values(
        BadFile{"EmptyId", row(",100,usd,pm_1,,,"), {at_3 + ", column customer", "is empty"}},
        BadFile{"IllegalId",
                row("a b,100,usd,pm_1,,,"),
                {at_3 + ", column customer", "byte 0x20 at position 2"}},
        BadFile{"IdNotAscii", row("m\xC3\xBCller,100,usd,pm_1,,,"), {"column customer", "0xc3"}},
        BadFile{"LongId",
                row(std::string(129, 'a') + ",100,usd,pm_1,,,"),
                {"column customer", "129 bytes"}},
        BadFile{"NoAmount", row("a,,usd,pm_1,,,"), {at_3 + ", column amount_minor", "no integer"}},
        BadFile{"Decimal",
                row("a,49.90,usd,pm_1,,,"),
                {"column amount_minor", "\"49.90\" is no integer", "4990 for 49.90"}},
        BadFile{"Signed", row("a,+5,usd,pm_1,,,"), {"column amount_minor", "no integer"}},
        BadFile{"Blank", row("a, 5,usd,pm_1,,,"), {"column amount_minor", "no integer"}},
        BadFile{"Hexadecimal", row("a,0x10,usd,pm_1,,,"), {"column amount_minor", "no integer"}},
        BadFile{"Negative", row("a,-5,usd,pm_1,,,"), {"column amount_minor", "\"-5\" is negative"}},
        BadFile{"Oversized", row("a,100000000,usd,pm_1,,,"), {"column amount_minor", "99999999"}},
        BadFile{"MoreThan64Bits",
                row("a,99999999999999999999999,usd,pm_1,,,"),
                {"column amount_minor", "too large"}},
        BadFile{"UnknownCurrency", row("a,100,xyz,pm_1,,,"), {at_3 + ", column currency"}},
        BadFile{"NoCurrency", row("a,100,,pm_1,,,"), {at_3 + ", column currency"}},
        BadFile{"ImpossibleIsk", row("a,150,isk,pm_1,,,"), {"column amount_minor", "100"}},
        BadFile{"ImpossibleKwd", row("a,5125,kwd,pm_1,,,"), {"column amount_minor", "10"}},
        BadFile{"IllegalMethod", row("a,100,usd,pm 1,,,"), {at_3 + ", column payment_method"}},
        BadFile{"IllegalProviderCustomer",
                row("a,100,usd,pm_1,c d,,"),
                {at_3 + ", column provider_customer"}},
        BadFile{"IllegalPurpose", row("a,100,usd,pm_1,,Seats,"), {at_3 + ", column purpose"}},
        BadFile{"NoSuchDay",
                row("a,100,usd,pm_1,,,2026-02-30"),
                {at_3 + ", column anchor", "\"2026-02-30\"", "YYYY-MM-DD"}},
        BadFile{"AnchorIsAMonth", row("a,100,usd,pm_1,,,2026-02"), {"column anchor"}},
        BadFile{"NoZone", row("a,100,usd,pm_1,,,2026-02-01@"), {"column anchor", "time zone"}},
        BadFile{"ZoneIsAPath",
                row("a,100,usd,pm_1,,,2026-02-01@../../etc/passwd"),
                {"column anchor", "time zone"}},
        BadFile{"ZoneIsAFolder",
                row("a,100,usd,pm_1,,,2026-02-01@/Europe"),
                {"column anchor", "Europe/Berlin"}}),
    name_of);

TEST(CustomerCsv, ReadsTheExampleFile) {
  std::ifstream file(std::string(ONCEWARD_SOURCE_DIR) + "/examples/customers.csv");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto parsed = parse(text, 4096);
  ASSERT_EQ(parsed.error, "");
  std::set<std::pair<std::string, std::string>> pairs;
  std::set<std::string> currencies;
  std::string characters;
  for (const PlanRow& customer : parsed.rows) {
    EXPECT_EQ(customer.skip_reason, "") << customer.customer.value();
    pairs.emplace(customer.customer.value(), customer.purpose.value());
    currencies.emplace(customer.amount.currency.text());
    characters += customer.customer.value();
  }
  EXPECT_EQ(parsed.rows.size(), 200U);
  EXPECT_EQ(pairs.size(), 200U);
  for (const char* currency : {"usd", "eur", "gbp", "jpy", "kwd", "isk"}) {
    EXPECT_TRUE(currencies.contains(currency)) << currency;
  }
  for (const char c : {'-', ':', '.', '+', '@'}) EXPECT_NE(characters.find(c), std::string::npos);
}

TEST(CustomerCsv, NeverRepeatsForeignBytesInAMessage) {
  const auto parsed = parse(row("a,\x1b[31m" + std::string(60, '9') + ",usd,pm_1,,,"));
  EXPECT_EQ(parsed.error.find('\x1b'), std::string::npos);
  EXPECT_NE(parsed.error.find("the text of 65 bytes"), std::string::npos) << parsed.error;
}

TEST(CustomerCsv, GivesTheSinksErrorWithItsLine) {
  int taken = 0;
  CustomerCsv csv("customers.csv", [&taken](PlanRow&&) -> Result<Unit> {
    if (++taken == 2) return fail(ErrorCode::conflict, "comes twice");
    return ok();
  });
  const auto fed = csv.feed(header + "a,1,jpy,pm_1,,,\n\na,1,jpy,pm_1,,,\nb,1,jpy,pm_1,,,\n");
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().code, ErrorCode::conflict);
  EXPECT_EQ(fed.error().context, "customers.csv line 4: comes twice");
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace onceward::ingress
