// What each id accepts and refuses, and that a refusal says what would be accepted.
#include <onceward/core/ids.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace onceward {
namespace {

using std::string_literals::operator""s;

bool is_visible(char c) {
  return c > ' ' && c < '\x7f';
}

template <class Parse>
void expect_refused(Parse parse, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    const auto parsed = parse(text);
    ASSERT_FALSE(parsed.has_value()) << "accepted " << testing::PrintToString(text);
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

template <class Parse>
void expect_accepted(Parse parse, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    const auto parsed = parse(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().context;
    EXPECT_EQ(parsed.value().value(), text);
  }
}

const std::vector<std::string> illegal_in_every_id = {
    " "s,
    "a b"s,
    " a"s,
    "a "s,
    "a\tb"s,
    "a\n"s,
    "a\0b"s,
    "\0"s,
    "a\x7f"s,
    "\x1f"s,
    "caf\xc3\xa9"s,
    "\xef\xbb\xbf"
    "a"s,
    "a\x80"s,
    "a\xff"s,
    "a\xc2\xa0"s,
    "a\r"s,
};

TEST(CustomerId, AcceptsEveryVisibleAsciiCharacter) {
  std::vector<std::string> texts;
  for (char c = '!'; c <= '~'; ++c) texts.emplace_back(1, c);
  expect_accepted(parse_customer_id, texts);
  EXPECT_EQ(texts.size(), 94U);
}

TEST(CustomerId, AcceptsUsualIdsUpToTheBound) {
  expect_accepted(parse_customer_id,
                  {"cust_123", "a-b.c:d+e/f", "0", "user@example.com", std::string(128, 'x')});
}

TEST(CustomerId, RefusesEmptyLongAndInvisible) {
  expect_refused(parse_customer_id, illegal_in_every_id);
  expect_refused(parse_customer_id, {"", std::string(129, 'x')});
}

// A key built from a missing id would be shared by everyone; the words for "missing" in other
// languages are ordinary ids and must not be merged with it.
TEST(CustomerId, RefusesTheEmptyIdButTakesNoneAndNullAsOrdinaryIds) {
  expect_refused(parse_customer_id, {""});
  expect_accepted(parse_customer_id, {"None", "null", "NULL", "undefined", "nil"});
  EXPECT_NE(parse_customer_id("None").value(), parse_customer_id("null").value());
  EXPECT_NE(parse_customer_id("null").value(), parse_customer_id("NULL").value());
}

TEST(CustomerId, SaysWhichByteIsIllegalWithoutEchoingTheText) {
  const auto parsed = parse_customer_id("secret\ncustomer");
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().context,
            "customer id has byte 0x0a at position 7: give 1 to 128 of visible ASCII characters "
            "(no blank)");
  EXPECT_EQ(parse_customer_id("").error().context,
            "customer id is empty: give 1 to 128 of visible ASCII characters (no blank)");
  EXPECT_EQ(parse_customer_id(std::string(4000, 'x')).error().context,
            "customer id has 4000 bytes: give 1 to 128 of visible ASCII characters (no blank)");
}

RC_GTEST_PROP(CustomerId, AcceptsExactlyOneTo128VisibleBytes, (const std::string& text)) {
  bool is_legal = !text.empty() && text.size() <= 128;
  for (const char c : text) is_legal = is_legal && is_visible(c);
  const auto parsed = parse_customer_id(text);
  RC_ASSERT(parsed.has_value() == is_legal);
  if (is_legal) RC_ASSERT(parsed.value().value() == text);
}

TEST(ProviderCustomer, HasTheAlphabetOfTheCustomerId) {
  expect_accepted(parse_provider_customer, {"cus_9", std::string(128, '~')});
  expect_refused(parse_provider_customer, illegal_in_every_id);
  expect_refused(parse_provider_customer, {"", std::string(129, 'x')});
}

TEST(RequestId, AcceptsUpTo255VisibleCharacters) {
  expect_accepted(parse_request_id, {"r", std::string(255, 'x'), "a:b/c=="});
  expect_refused(parse_request_id, illegal_in_every_id);
  expect_refused(parse_request_id, {"", std::string(256, 'x')});
}

TEST(PaymentMethod, AcceptsUpTo255VisibleCharacters) {
  expect_accepted(parse_payment_method, {"pm_1", std::string(255, 'x')});
  expect_refused(parse_payment_method, illegal_in_every_id);
  expect_refused(parse_payment_method, {"", std::string(256, 'x')});
}

TEST(Purpose, DefaultsToSubscription) {
  EXPECT_EQ(parse_purpose("").value(), Purpose("subscription"));
}

TEST(Purpose, AcceptsLowerCaseNamesUpToTheBound) {
  expect_accepted(parse_purpose, {"subscription", "a", "add-on_2", "a" + std::string(39, '9')});
}

TEST(Purpose, RefusesOtherSpellings) {
  expect_refused(parse_purpose, illegal_in_every_id);
  expect_refused(parse_purpose, {"Subscription", "aB", "1a", "_a", "-a", "a.b", "a:b", "a/b",
                                 "a" + std::string(40, '9')});
}

TEST(NamespaceAndAccount, AcceptLowerCaseLabelsUpToTheBound) {
  const std::vector<std::string> legal = {"acme-billing", "0", "a.b_c-d",
                                          "9" + std::string(63, 'a')};
  expect_accepted(parse_namespace, legal);
  expect_accepted(parse_account_label, legal);
}

TEST(NamespaceAndAccount, RefuseOtherSpellings) {
  const std::vector<std::string> illegal = {
      "", "Acme", "aB", "-a", "_a", ".a", "a:b", "a/b", "9" + std::string(64, 'a')};
  expect_refused(parse_namespace, illegal);
  expect_refused(parse_namespace, illegal_in_every_id);
  expect_refused(parse_account_label, illegal);
  expect_refused(parse_account_label, illegal_in_every_id);
}

TEST(Mode, RoundTripsItsTwoNames) {
  EXPECT_EQ(parse_mode("test").value(), Mode::test);
  EXPECT_EQ(parse_mode("live").value(), Mode::live);
  EXPECT_EQ(to_text(Mode::test), "test");
  EXPECT_EQ(to_text(Mode::live), "live");
}

TEST(Mode, RefusesEverythingElse) {
  for (const char* text : {"", "Test", "LIVE", "live ", "production"}) {
    EXPECT_FALSE(parse_mode(text).has_value()) << text;
  }
  EXPECT_EQ(parse_mode("prod").error().context, "mode \"prod\" is unknown: give test or live");
}

TEST(PersistenceId, NamesTheHistoryOfACustomer) {
  const auto customer = parse_customer_id("a/b").value();
  const PersistenceId id = customer_persistence_id(customer);
  EXPECT_EQ(id.value(), "customer/a/b");
  EXPECT_EQ(customer_of(id).value(), customer);
}

TEST(PersistenceId, NamesTheHistoryOfACycle) {
  EXPECT_EQ(scheduler_persistence_id("monthly").value(), "scheduler/monthly");
}

TEST(PersistenceId, OfAnotherKindHasNoCustomer) {
  for (const char* text : {"scheduler/monthly", "inbox/pi_1", "customer", "customer/", "Customer/a",
                           "customer/a b", "", "a", "xcustomer/a"}) {
    const auto customer = customer_of(PersistenceId(text));
    ASSERT_FALSE(customer.has_value()) << text;
    EXPECT_EQ(customer.error().code, ErrorCode::not_found);
  }
}

}  // namespace
}  // namespace onceward
