// Webhook signatures: vectors made by another implementation, every way to be wrong, and the limits
// of time.
#include <gtest/gtest.h>

#include <onceward/core/digest.hpp>
#include <onceward/ingress/webhook_signature.hpp>

namespace onceward::ingress {
namespace {

constexpr std::int64_t t_s = 1'786'000'000;
constexpr Timestamp at_t{t_s * 1000};
const std::string body = R"({"id":"evt_1","object":"event"})";

std::string sign(std::string_view secret, std::string_view bytes, const std::string& time) {
  return to_hex(hmac_sha256(secret, time + "." + std::string(bytes)));
}
std::string header(std::string_view secret, std::string_view bytes = body,
                   const std::string& time = std::to_string(t_s)) {
  return "t=" + time + ",v1=" + sign(secret, bytes, time);
}
Result<Unit> verify(const std::string& value, std::string_view bytes = body,
                    std::string_view secrets = "whsec_a", Timestamp now = at_t) {
  auto parsed = WebhookSecrets::parse(secrets);
  EXPECT_TRUE(parsed.has_value());
  return verify_signature({value, bytes}, *parsed, now);
}
std::string refusal(const Result<Unit>& result) {
  if (result) return "(accepted)";
  EXPECT_EQ(result.error().code, ErrorCode::unauthorized);
  return result.error().context;
}

TEST(WebhookSignature, AcceptsAVectorOfAnotherImplementation) {
  // python3: hmac.new(b"whsec_test_secret", b'1492774577.{"id":"evt_test"}', "sha256").hexdigest()
  const std::string value =
      "t=1492774577,v1=22f7d74836ddad3284a2b80853dd2fe731655c1bfddcff3c3666a500cf3abd80";
  EXPECT_TRUE(verify(value, R"({"id":"evt_test"})", "whsec_test_secret", {1'492'774'577'000}));
}

TEST(WebhookSignature, AcceptsAnyOfSeveralValuesUnderAnyOfSeveralSecrets) {
  const std::string other = sign("whsec_other", body, std::to_string(t_s));
  const std::string ours = sign("whsec_b", body, std::to_string(t_s));
  const std::string t = "t=" + std::to_string(t_s);
  EXPECT_TRUE(verify(t + ",v1=" + other + ",v1=" + ours, body, "whsec_a\nwhsec_b\n"));
  EXPECT_TRUE(verify(t + ",v1=" + ours + ",v1=" + other, body, "whsec_b\nwhsec_a\n"));
  EXPECT_TRUE(verify(t + ", v0=junk, v1=" + ours + " ,v2=x=y", body, "whsec_b"));
  EXPECT_TRUE(verify("v1=" + ours + "," + t, body, "whsec_b"));
  EXPECT_FALSE(verify(t + ",v1=" + other, body, "whsec_a\nwhsec_b\n"));
}

TEST(WebhookSignature, BlanksAroundASecretAreNotPartOfIt) {
  EXPECT_TRUE(verify(header("whsec_a"), body, "\n  whsec_a \t\r\n\r\n"));
}

TEST(WebhookSignature, AnyChangeOfTheBodyIsRefused) {
  const auto value = header("whsec_a");
  EXPECT_TRUE(verify(value));
  EXPECT_FALSE(verify(value, body + "\n"));
  EXPECT_FALSE(verify(value, body.substr(0, body.size() - 1)));
  EXPECT_FALSE(verify(value, ""));
  std::string changed = body;
  changed[8] ^= 1;
  EXPECT_FALSE(verify(value, changed));
  EXPECT_TRUE(verify(header("whsec_a", std::string("\0\xff{", 3)), std::string("\0\xff{", 3)));
}

TEST(WebhookSignature, TheTimeIsSignedToo) {
  auto value = header("whsec_a");
  value.replace(2, 10, std::to_string(t_s + 1));
  EXPECT_NE(refusal(verify(value)).find("no v1 value fits"), std::string::npos);
}

TEST(WebhookSignature, ToleratesFiveMinutesBothWaysAndNoMore) {
  const auto value = header("whsec_a");
  for (const std::int64_t s : {-300, -1, 0, 1, 300}) {
    EXPECT_TRUE(verify(value, body, "whsec_a", {at_t.ms + s * 1000})) << s;
  }
  EXPECT_NE(refusal(verify(value, body, "whsec_a", {at_t.ms + 300'001})).find("ago"),
            std::string::npos);
  EXPECT_NE(refusal(verify(value, body, "whsec_a", {at_t.ms - 300'001})).find("in the future"),
            std::string::npos);
}

TEST(WebhookSignature, HostileHeadersAreRefused) {
  const std::string t = std::to_string(t_s);
  const std::string good = sign("whsec_a", body, t);
  std::string upper = good;
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'f' ? c - 'a' + 'A' : c);
  const std::vector<std::string> hostile{"",
                                         " ",
                                         ",",
                                         "=",
                                         "t",
                                         "v1",
                                         "t=",
                                         "t=,v1=" + good,
                                         "v1=" + good,
                                         "t=" + t,
                                         "t=" + t + ",v0=" + good,
                                         "t=" + t + ",v1=",
                                         "t=" + t + ",v1=" + upper,
                                         "t=" + t + ",v1=" + good.substr(1),
                                         "t=" + t + ",v1=" + good + "0",
                                         "t=" + t + ",v1 =" + good,
                                         "t=" + t + ",v1= " + good,
                                         "T=" + t + ",V1=" + good,
                                         "t=" + t + ",t=" + t + ",v1=" + good,
                                         "t=1," + header("whsec_a"),
                                         "t=" + t + ";v1=" + good,
                                         "t=" + t + ",,v1=" + good,
                                         "t=+" + t + ",v1=" + good,
                                         "t=-" + t + ",v1=" + good,
                                         "t=0" + t + ",v1=" + good,
                                         "t=" + t + ".0,v1=" + good,
                                         "t=0x6a,v1=" + good,
                                         "t=99999999999999999999,v1=" + good,
                                         "t=9223372036854775807,v1=" + good,
                                         std::string(5000, 'a')};
  for (const auto& value : hostile) EXPECT_FALSE(verify(value)) << value;
  // Signed by the right secret, and still refused for its form.
  for (const std::string time : {"-1", "0", "01", "10000000000", "1e9", " 1"}) {
    EXPECT_FALSE(verify(header("whsec_a", body, time), body, "whsec_a", {0})) << time;
  }
  std::string many = "t=" + t;
  for (std::size_t i = 0; i < signature_values_max; ++i) many += ",v1=x";
  EXPECT_NE(refusal(verify(many + ",v1=" + good)).find("too many"), std::string::npos);
  EXPECT_NE(refusal(verify(header("whsec_a") + std::string(4096, ' '))).find("too long"),
            std::string::npos);
}

TEST(WebhookSignature, WithoutSecretsNothingVerifies) {
  EXPECT_FALSE(verify_signature({header(""), body}, WebhookSecrets{}, at_t));
}

TEST(WebhookSecrets, RefusesWhatIsNoneWithoutQuotingIt) {
  for (const std::string text :
       {"", "\n \n", "whsec_a b", "whsec_\x01", "whsec_\xc3\xa4", "a\nb\nc\nd\ne"}) {
    const auto parsed = WebhookSecrets::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_config);
    EXPECT_EQ(parsed.error().context.find("whsec_a"), std::string::npos);
  }
  EXPECT_EQ(WebhookSecrets::parse("a\nb\nc\nd")->all().size(), 4U);
}

}  // namespace
}  // namespace onceward::ingress
