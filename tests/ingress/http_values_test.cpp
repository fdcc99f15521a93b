// What the API reads from request lines, headers and bodies before anybody is asked.
#include <gtest/gtest.h>

#include "ingress/http/bill_request.hpp"
#include "ingress/http/header_values.hpp"
#include "ingress/http/json_text.hpp"
#include "ingress/http/url.hpp"

namespace onceward::ingress {
namespace {

using Headers = std::vector<platform::HttpHeader>;

TEST(Url, segments_are_split_before_they_are_decoded) {
  const auto segments = split_path("/v1/billing/a%2Fb%3A+c/2026-08");
  ASSERT_TRUE(segments.has_value());
  EXPECT_EQ(*segments, (std::vector<std::string>{"v1", "billing", "a/b:+c", "2026-08"}));
  for (const char* bad : {"/%", "/%4", "/%4g", "/a%", "/%zz"}) {
    EXPECT_FALSE(split_path(bad).has_value()) << bad;
  }
}

TEST(Url, encoding_every_graphic_character_reads_back) {
  std::string all;
  for (char c = '!'; c <= '~'; ++c) all += c;
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode(all).find('/'), std::string::npos);
  EXPECT_EQ(percent_encode("a/b+c:d?e#f%g"), "a%2Fb%2Bc%3Ad%3Fe%23f%25g");
}

TEST(Url, query_members_are_known_single_and_decoded) {
  const auto query = Query::parse("purpose=add%2Don&wait=3", {"purpose", "wait"});
  ASSERT_TRUE(query.has_value());
  EXPECT_EQ(query->find("purpose"), "add-on");
  EXPECT_EQ(query->find("wait"), "3");
  EXPECT_EQ(query->find("other"), std::nullopt);
  EXPECT_FALSE(Query::parse("purpos=x", {"purpose"}).has_value());
  EXPECT_FALSE(Query::parse("purpose=x&purpose=x", {"purpose"}).has_value());
  EXPECT_FALSE(Query::parse("purpose=%", {"purpose"}).has_value());
  EXPECT_TRUE(Query::parse("", {}).has_value());
  EXPECT_TRUE(Query::parse("&&", {}).has_value());
}

std::string key_of(const std::string& value) {
  auto key = parse_idempotency_key({{"idempotency-key", value}});
  return key ? *key : "refused: " + key.error().context;
}

TEST(IdempotencyKey, quoted_string_and_bare_token_mean_the_same) {
  EXPECT_EQ(key_of("abc-123"), "abc-123");
  EXPECT_EQ(key_of("\"abc-123\""), "abc-123");
  EXPECT_EQ(key_of("  \"a\\\"b\\\\c\" "), "a\"b\\c");
  EXPECT_EQ(key_of(std::string(255, 'x')), std::string(255, 'x'));
  EXPECT_EQ(key_of("8e03978e-40d5-43dd-bc93-6894a57f9324"), "8e03978e-40d5-43dd-bc93-6894a57f9324");
}

TEST(IdempotencyKey, anything_else_is_refused_with_the_reason) {
  EXPECT_EQ(key_of("").rfind("refused: Idempotency-Key is empty", 0), 0U);
  EXPECT_EQ(key_of("\"\"").rfind("refused: Idempotency-Key is empty", 0), 0U);
  EXPECT_EQ(key_of("   ").rfind("refused: Idempotency-Key is empty", 0), 0U);
  EXPECT_EQ(key_of(std::string(256, 'x')).rfind("refused: Idempotency-Key is too long", 0), 0U);
  for (const auto* bad : {"\"", "\"a", "\"a\"b", "\"a\\n\"", "\"a\\", "\"a\x01\""}) {
    EXPECT_EQ(key_of(bad).rfind("refused: Idempotency-Key is not a well-formed", 0), 0U) << bad;
  }
  for (const auto* bad : {"a b", "\"a b\"", "a\tb", "\xc3\xa9"}) {
    EXPECT_EQ(key_of(bad).rfind("refused: ", 0), 0U) << bad;
  }
  EXPECT_FALSE(parse_idempotency_key({}).has_value());
  EXPECT_FALSE(
      parse_idempotency_key({{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}).has_value());
}

TEST(PreferWait, reads_the_seconds_among_other_preferences) {
  const auto wait = [](const Headers& headers) {
    const auto parsed = parse_prefer_wait(headers);
    return std::pair(parsed.seconds, parsed.was_asked);
  };
  EXPECT_EQ(wait({}), std::pair(std::int64_t{10}, false));
  EXPECT_EQ(wait({{"Prefer", "wait=0"}}), std::pair(std::int64_t{0}, true));
  EXPECT_EQ(wait({{"prefer", "respond-async, WAIT = 7; x=1"}}), std::pair(std::int64_t{7}, true));
  EXPECT_EQ(wait({{"Prefer", "return=minimal"}, {"Prefer", "wait=5"}}),
            std::pair(std::int64_t{5}, true));
  EXPECT_EQ(wait({{"Prefer", "wait=61"}}), std::pair(std::int64_t{60}, true));
  EXPECT_EQ(wait({{"Prefer", "wait=99999999999999999999999"}}), std::pair(std::int64_t{60}, true));
  for (const auto* ignored : {"wait", "wait=", "wait=-1", "wait=1.5", "wait=\"5\"", "", ",,"}) {
    EXPECT_EQ(wait({{"Prefer", ignored}}), std::pair(std::int64_t{10}, false)) << ignored;
  }
}

TEST(HttpDate, is_the_fixed_form_in_utc) {
  EXPECT_EQ(http_date(*parse_iso("1994-11-06T08:49:37Z")), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(*parse_iso("2026-08-01T00:00:00.999Z")), "Sat, 01 Aug 2026 00:00:00 GMT");
}

platform::HttpRequest request(const std::string& body) {
  platform::HttpRequest http;
  http.headers = {{"Idempotency-Key", "k1"}};
  http.body = body;
  return http;
}

std::string refusal(const std::string& body) {
  auto parsed = parse_bill_request(request(body));
  return parsed ? "" : parsed.error().context;
}

/// The members of a sound body, one of them replaced (or left out, if `json` is empty).
std::string body_with(const std::string& name = "", const std::string& json = "") {
  const std::vector<std::pair<std::string, std::string>> sound = {
      {"customer", "\"cust_123\""}, {"period", "\"2026-08\""},      {"amount_minor", "4990"},
      {"currency", "\"usd\""},      {"payment_method", "\"pm_1\""},
  };
  std::string body;
  bool replaced = false;
  const auto add = [&](const std::string& member, const std::string& value) {
    body += (body.empty() ? "{\"" : ",\"") + member + "\":" + value;
  };
  for (const auto& [member, value] : sound) {
    if (member != name) {
      add(member, value);
    } else if (!json.empty()) {
      add(member, json);
    }
    replaced = replaced || member == name;
  }
  if (!name.empty() && !replaced) add(name, json);
  return body + "}";
}

TEST(BillBody, defaults_are_filled_in) {
  const auto parsed = parse_bill_request(request(body_with()));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().context;
  EXPECT_EQ(parsed->caller_key, "k1");
  EXPECT_EQ(parsed->key.customer.value(), "cust_123");
  EXPECT_EQ(parsed->key.period.text(), "2026-08");
  EXPECT_EQ(parsed->key.purpose.value(), "subscription");
  EXPECT_EQ(parsed->amount.minor, 4990);
  EXPECT_EQ(parsed->provider_customer.value(), "cust_123");
  EXPECT_TRUE(parsed->metadata.empty());
}

struct Bad {
  std::string body;
  const char* told;
};

TEST(BillBody, every_malformed_body_is_refused_and_says_which_member) {
  const std::vector<Bad> bads = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {"[]", "must be one JSON object"},
      {"null", "must be one JSON object"},
      {body_with() + "x", "not valid JSON"},
      {body_with() + body_with(), "not valid JSON"},
      {"{\"customer\":\"\xff\"}", "not valid JSON"},
      {"{'customer':'a'}", "not valid JSON"},
      {"{\"a\":1,}", "not valid JSON"},
      {"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}",
       "not valid JSON"},
      {"{\"customer\":\"a\",\"customer\":\"b\"}", "\"customer\" twice"},
      {"{\"cust\\u006fmer\":\"a\",\"customer\":\"b\"}", "\"customer\" twice"},
      {body_with("metadata", "{\"a\":\"1\",\"a\":\"2\"}"), "\"a\" twice"},
      {body_with("ammount", "1"), "unknown member \"ammount\"; accepted: customer, period"},
      {body_with("customer"), "customer is missing"},
      {body_with("customer", "1"), "customer must be a string, not a whole number"},
      {body_with("customer", "null"), "customer must be a string, not null"},
      {body_with("customer", "\"\""), "customer: "},
      {body_with("customer", "\"a b\""), "customer: "},
      {body_with("customer", "\"" + std::string(129, 'a') + "\""), "customer: "},
      {body_with("period"), "period is missing"},
      {body_with("period", "\"2026-8\""), "period: "},
      {body_with("period", "\"2026-13\""), "period: "},
      {body_with("period", "\"2026-W54\""), "period: "},
      {body_with("period", "\"2026-02-30\""), "period: "},
      {body_with("amount_minor"), "amount_minor is missing"},
      {body_with("amount_minor", "\"4990\""), "amount_minor must be a whole number, not a string"},
      {body_with("amount_minor", "49.90"), "a number with a fraction or an exponent"},
      {body_with("amount_minor", "4990.0"), "a number with a fraction or an exponent"},
      {body_with("amount_minor", "4e3"), "a number with a fraction or an exponent"},
      {body_with("amount_minor", "-1"), "amount_minor: "},
      {body_with("amount_minor", "100000000"), "amount_minor: "},
      {body_with("amount_minor", "9223372036854775808"), "amount_minor is too large"},
      {body_with("amount_minor", "99999999999999999999999999"), "amount_minor must be a whole"},
      {body_with("amount_minor", "true"), "amount_minor must be a whole number, not a boolean"},
      {body_with("currency"), "currency is missing"},
      {body_with("currency", "\"xxx\""), "currency: "},
      {body_with("currency", "\"dollars\""), "currency: "},
      {body_with("payment_method"), "payment_method is missing"},
      {body_with("payment_method", "\"\""), "payment_method: "},
      {body_with("provider_customer", "\"a b\""), "provider_customer: "},
      {body_with("purpose", "\"Sub\""), "purpose: "},
      {body_with("purpose", "[]"), "purpose must be a string, not an array"},
      {body_with("metadata", "[]"), "metadata must be an object, not an array"},
      {body_with("metadata", "{\"a\":1}"), "value of \"a\" must be a string"},
      {body_with("metadata", "{\"onceward_period\":\"x\"}"), "which is reserved"},
      {body_with("metadata", "{\"\":\"x\"}"), "must be 1 to 40 visible"},
      {body_with("metadata", "{\"a[b]\":\"x\"}"), "must be 1 to 40 visible"},
      {body_with("metadata", "{\"a\":\"\"}"), "must have 1 to 500"},
      {body_with("metadata", "{\"a\":\"" + std::string(501, 'v') + "\"}"), "must have 1 to 500"},
  };
  for (const auto& bad : bads) {
    EXPECT_NE(refusal(bad.body).find(bad.told), std::string::npos) << bad.body << "\n"
                                                                   << refusal(bad.body);
  }
}

TEST(BillBody, amounts_that_the_currency_cannot_have_are_refused) {
  const auto told = [](const std::string& currency, const std::string& amount) {
    return refusal("{\"customer\":\"c\",\"period\":\"2026\",\"amount_minor\":" + amount +
                   ",\"currency\":\"" + currency + "\",\"payment_method\":\"pm\"}");
  };
  EXPECT_EQ(told("jpy", "1"), "");
  EXPECT_EQ(told("isk", "100"), "");
  EXPECT_NE(told("isk", "101"), "");
  EXPECT_EQ(told("kwd", "10"), "");
  EXPECT_NE(told("kwd", "15"), "");
  EXPECT_EQ(told("usd", "0"), "");
  EXPECT_EQ(told("USD", "1"), "");
}

TEST(BillBody, too_many_metadata_entries_are_refused) {
  std::string metadata = "{";
  for (int i = 0; i < 21; ++i) {
    metadata += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"v\"";
  }
  EXPECT_NE(refusal(body_with("metadata", metadata + "}")).find("at most 20"), std::string::npos);
}

std::string fingerprint(const std::string& body) {
  auto parsed = parse_bill_request(request(body));
  EXPECT_TRUE(parsed.has_value()) << body;
  return parsed ? parsed->fingerprint : "";
}

TEST(Fingerprint, is_the_same_exactly_for_the_same_request_after_defaults) {
  const auto plain = fingerprint(body_with());
  EXPECT_EQ(plain.size(), 64U);
  EXPECT_EQ(plain, fingerprint(body_with("purpose", "\"subscription\"")));
  EXPECT_EQ(plain, fingerprint(body_with("purpose", "\"\"")));
  EXPECT_EQ(plain, fingerprint(body_with("provider_customer", "\"cust_123\"")));
  EXPECT_EQ(plain, fingerprint(body_with("metadata", "{}")));
  EXPECT_EQ(plain, fingerprint(body_with("currency", "\"USD\"")));
  EXPECT_EQ(plain, fingerprint("{ \"payment_method\":\"pm_1\", \"currency\":\"usd\",\n"
                               "\"amount_minor\":4990,\"period\":\"2026-08\","
                               "\"customer\":\"cust_123\" }"));
  EXPECT_EQ(fingerprint(body_with("metadata", "{\"a\":\"1\",\"b\":\"2\"}")),
            fingerprint(body_with("metadata", "{\"b\":\"2\",\"a\":\"1\"}")));

  std::vector<std::string> others = {
      fingerprint(body_with("customer", "\"cust_124\"")),
      fingerprint(body_with("period", "\"2026-09\"")),
      fingerprint(body_with("amount_minor", "4991")),
      fingerprint(body_with("currency", "\"eur\"")),
      fingerprint(body_with("payment_method", "\"pm_2\"")),
      fingerprint(body_with("provider_customer", "\"cus_9\"")),
      fingerprint(body_with("purpose", "\"addon\"")),
      fingerprint(body_with("metadata", "{\"a\":\"b\"}")),
      fingerprint(body_with("metadata", "{\"ab\":\"c\"}")),
      fingerprint(body_with("metadata", "{\"a\":\"bc\"}")),
      plain,
  };
  std::sort(others.begin(), others.end());
  EXPECT_EQ(std::adjacent_find(others.begin(), others.end()), others.end());
}

TEST(Command, carries_the_callers_key_as_a_mark_for_thirty_days) {
  const auto parsed = parse_bill_request(request(body_with()));
  ASSERT_TRUE(parsed.has_value());
  const auto now = *parse_iso("2026-08-01T00:00:00Z");
  const auto command = to_command(*parsed, "svc", now);
  ASSERT_TRUE(command.caller_mark.has_value());
  EXPECT_EQ(command.caller_mark->scope, "caller/svc");
  EXPECT_EQ(command.caller_mark->key, "k1");
  EXPECT_EQ(command.caller_mark->fingerprint, parsed->fingerprint);
  EXPECT_EQ(command.caller_mark->expires_at, *parse_iso("2026-08-31T00:00:00Z"));
  EXPECT_EQ(command.request_id.value(), "k1");
  EXPECT_EQ(command.notify, billing::Notify::settled);
}

}  // namespace
}  // namespace onceward::ingress
