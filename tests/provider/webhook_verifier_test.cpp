// The simulator's webhooks before our own verifier: what it signs is accepted, what a fault spoils
// is not, and a secret may be replaced without losing one.
#include <gtest/gtest.h>

#include <onceward/ingress/webhook_signature.hpp>

#include "tests/provider/api_client.hpp"

namespace onceward::test {
namespace {

class WebhookVerifier : public ::testing::Test {
 protected:
  void SetUp() override {
    client.provider.advance(client.now);
    id = client.provider.add_webhook_endpoint({"http://node/hook", "whsec_1", {"*"}}).value().id;
  }
  /// What the verifier, which knows `secrets`, says of the next delivery.
  bool accepts(const std::string& secrets) {
    (void)client.post("/v1/charges", charge_form, "k" + std::to_string(++charges));
    const auto known = ingress::WebhookSecrets::parse(secrets).value();
    bool accepted = false;
    const std::size_t delivered =
        client.provider.deliver_webhooks([&](const sim::WebhookCall& call) {
          std::string header;
          for (const auto& [name, value] : call.headers) {
            if (name == ingress::signature_header) header = value;
          }
          accepted = ingress::verify_signature({header, call.body}, known, client.now).has_value();
          return 200;
        });
    EXPECT_EQ(delivered, 1U);
    return accepted;
  }
  bool accepts_with(const std::string& rule) {
    client.faults("{\"rules\":[" + rule + "]}");
    return accepts("whsec_1");
  }

  ApiClient client;
  std::string id;
  int charges = 0;
};

TEST_F(WebhookVerifier, AcceptsWhatIsWellSigned) {
  EXPECT_TRUE(accepts("whsec_1"));
  EXPECT_FALSE(accepts("whsec_2"));
}

TEST_F(WebhookVerifier, RefusesWhatIsSpoiled) {
  EXPECT_FALSE(accepts_with(R"({"kind":"wh_bad_sig"})"));
  EXPECT_FALSE(accepts_with(R"({"kind":"wh_old_ts"})"));
  EXPECT_FALSE(accepts_with(R"({"kind":"wh_future_ts"})"));
  EXPECT_FALSE(accepts_with(R"({"kind":"wh_truncated"})"));
  // Well signed, but half of a text: that is for the reader of the body to refuse.
  EXPECT_TRUE(accepts_with(R"({"kind":"wh_truncated","signed":true})"));
}

TEST_F(WebhookVerifier, AcceptsEitherSecretWhileOneIsReplaced) {
  ASSERT_TRUE(
      client.provider.roll_webhook_secret(id, "whsec_2", std::chrono::hours(24)).has_value());
  EXPECT_TRUE(accepts("whsec_1"));
  EXPECT_TRUE(accepts("whsec_2"));
  EXPECT_TRUE(accepts("whsec_1\nwhsec_2"));
  client.pass(std::chrono::hours(24));
  EXPECT_FALSE(accepts("whsec_1"));
  EXPECT_TRUE(accepts("whsec_2"));
}

}  // namespace
}  // namespace onceward::test
