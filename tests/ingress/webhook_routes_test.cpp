// POST /v1/webhooks/stripe: verified first, durable before 2xx, and everything that is none.
#include <onceward/core/digest.hpp>

#include "tests/ingress/api_fixture.hpp"

namespace onceward::ingress {
namespace {

using test::text_at;

constexpr const char* path = "/v1/webhooks/stripe";

std::string event_of(const std::string& type, const std::string& object, bool live = false) {
  return R"({"id":"evt_1","type":")" + type + R"(","livemode":)" + (live ? "true" : "false") +
         R"(,"data":{"object":)" + object + "}}";
}
std::string intent_of(const std::string& customer, const std::string& ns = "n") {
  return R"({"id":"pi_1","status":"succeeded","metadata":{"onceward_namespace":")" + ns +
         R"(","onceward_customer":")" + customer +
         R"(","onceward_period":"2026-08","onceward_purpose":"subscription"}})";
}

class WebhookRouteTest : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    start_with("whsec_old\nwhsec_new");
    billing_replies({billing::HintTaken{row_of("c", ObligationStatus::unknown)}});
  }
  void start_with(const std::string& secrets) {
    HttpApiOptions options;
    options.ns = Namespace{"n"};
    // With tokens: the provider has none, and its route asks for none.
    options.tokens = {{"ops", Role::operator_, sha256("token")}};
    if (!secrets.empty()) options.webhook_secrets = std::move(*WebhookSecrets::parse(secrets));
    start(std::move(options));
  }
  std::string sign(const std::string& body, std::int64_t offset_s = 0,
                   const std::string& secret = "whsec_new") {
    const auto t = std::to_string(clock_->now().wall.ms / 1000 + offset_s);
    return "t=" + t + ",v1=" + to_hex(hmac_sha256(secret, t + "." + body));
  }
  platform::HttpResponse deliver(const std::string& body) {
    return ask("POST", path, {{"Stripe-Signature", sign(body)}}, body);
  }
  void inbox_replies(billing::InboxReply reply) {
    replies<billing::InboxCommand>(std::vector<billing::InboxReply>{std::move(reply)});
  }
  /// Customers answer `first`, the inbox takes everything.
  void customers_reply(billing::BillingReply first) {
    asked_.clear();
    runtime_.on_other = [this, first](const PersistenceId& to, const std::any& command,
                                      const actors::ReplySink& sink) {
      asked_.emplace_back(to, command);
      if (to.value().starts_with("customer/")) return sink(std::any(first));
      sink(std::any(billing::InboxReply(billing::InboxTold{})));
    };
  }
};

TEST_F(WebhookRouteTest, EventOfAnObligationBecomesAHintForItsCustomer) {
  const auto response = deliver(event_of("payment_intent.succeeded", intent_of("cust_1")));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text_at(response, "effect"), "look_up");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].first.value(), "customer/cust_1");
  const auto& hint = command<billing::ProviderHint>(0);
  EXPECT_EQ(hint.key, key_of("cust_1"));
  EXPECT_EQ(hint.mark.scope, "webhook");
  EXPECT_EQ(hint.mark.key, "evt_1");
  EXPECT_EQ(hint.type, "payment_intent.succeeded");
  EXPECT_EQ(hint.object, "pi_1");
  EXPECT_EQ(hint.intent, "pi_1");
}

TEST_F(WebhookRouteTest, RepeatIs2xxWithoutEffect) {
  billing_replies({billing::HintTaken{row_of("c", ObligationStatus::completed), true}});
  const auto response = deliver(event_of("payment_intent.succeeded", intent_of("c")));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(text_at(response, "effect"), "duplicate");
}

TEST_F(WebhookRouteTest, EitherSecretOfARollVerifies) {
  const auto body = event_of("payment_intent.succeeded", intent_of("c"));
  EXPECT_EQ(ask("POST", path, {{"Stripe-Signature", sign(body, 0, "whsec_old")}}, body).status,
            200);
  EXPECT_EQ(ask("POST", path, {{"Stripe-Signature", sign(body, 0, "whsec_other")}}, body).status,
            400);
}

TEST_F(WebhookRouteTest, WhatIsNotSignedNowByUsIs400AndReachesNobody) {
  runtime_.on_other = [](const PersistenceId&, const std::any&, const actors::ReplySink&) {
    ADD_FAILURE() << "an unverified event reached an entity";
  };
  const auto body = event_of("payment_intent.succeeded", intent_of("c"));
  const auto code_of = [&](std::vector<platform::HttpHeader> headers, const std::string& sent) {
    const auto response = ask("POST", path, std::move(headers), sent);
    return std::to_string(response.status) + " " + text_at(response, "code");
  };
  const std::string refused = "400 OW6017";
  EXPECT_EQ(code_of({}, body), refused);
  EXPECT_EQ(code_of({{"Stripe-Signature", "t=1,v1=ab"}}, body), refused);
  EXPECT_EQ(code_of({{"Stripe-Signature", sign(body, -302)}}, body), refused);
  EXPECT_EQ(code_of({{"Stripe-Signature", sign(body, 302)}}, body), refused);
  EXPECT_EQ(code_of({{"Stripe-Signature", sign(body)}}, body.substr(1)), refused);
  EXPECT_EQ(code_of({{"Stripe-Signature", sign(body)}}, body + " "), refused);
  EXPECT_EQ(code_of({{"Stripe-Signature", sign(body)}, {"stripe-signature", sign(body)}}, body),
            refused);
  EXPECT_EQ(code_of({{"Authorization", "Bearer token"}}, body), refused);
}

TEST_F(WebhookRouteTest, SignedBodyThatIsNoEventIs400) {
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("<html>"), std::string("[]"),
        event_of("charge.failed", "{}"), event_of("payment_intent.succeeded", "null")}) {
    const auto response = deliver(body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(text_at(response, "code"), "OW1001") << body;
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(WebhookRouteTest, BodyOfOneMebibyteIsTakenAndOneMoreByteIsNot) {
  auto body = event_of("payment_intent.succeeded", intent_of("c"));
  body.insert(body.size() - 1, 1024 * 1024 - body.size(), ' ');
  EXPECT_EQ(deliver(body).status, 200);
  body.insert(body.size() - 1, 1, ' ');
  EXPECT_EQ(deliver(body).status, 413);
}

TEST_F(WebhookRouteTest, OtherModeIsRefusedWhateverItsType) {
  for (const std::string type : {"payment_intent.succeeded", "invoice.paid"}) {
    const auto response = deliver(event_of(type, intent_of("c"), true));
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(text_at(response, "code"), "OW6018");
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(WebhookRouteTest, OtherTypesAndNamespacesAre2xxWithoutEffect) {
  EXPECT_EQ(text_at(deliver(event_of("invoice.paid", intent_of("c"))), "effect"), "none");
  EXPECT_EQ(text_at(deliver(event_of("charge.failed", intent_of("c", "other"))), "effect"), "none");
  EXPECT_TRUE(asked_.empty());
}

TEST_F(WebhookRouteTest, ObjectThatNobodyKnowsGoesToTheInbox) {
  inbox_replies(billing::InboxTold{});
  for (const std::string& object :
       {std::string(R"({"id":"pi_9"})"), std::string(R"({"id":"pi_9","metadata":{}})")}) {
    asked_.clear();
    const auto response = deliver(event_of("payment_intent.succeeded", object));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(text_at(response, "effect"), "inbox");
    ASSERT_EQ(asked_.size(), 1U);
    EXPECT_EQ(asked_[0].first.value(), "inbox/pi_9");
  }
  const auto& stored =
      std::get<billing::StoreHint>(std::any_cast<const billing::InboxCommand&>(asked_[0].second));
  EXPECT_EQ(stored.mark.key, "evt_1");
}

TEST_F(WebhookRouteTest, CustomerThatIsUnknownOrQuarantinedSendsItToTheInbox) {
  for (const billing::BillingReply& reply :
       {billing::BillingReply(billing::NoSuchObligation{}),
        billing::BillingReply(billing::TurnedDown{Turndown::quarantined})}) {
    customers_reply(reply);
    const auto response = deliver(event_of("payment_intent.succeeded", intent_of("c")));
    EXPECT_EQ(text_at(response, "effect"), "inbox");
    ASSERT_EQ(asked_.size(), 2U);
    EXPECT_EQ(asked_[1].first.value(), "inbox/pi_1");
    const auto& stored =
        std::get<billing::StoreHint>(std::any_cast<const billing::InboxCommand&>(asked_[1].second));
    EXPECT_EQ(stored.about, "c 2026-08 subscription");
  }
}

TEST_F(WebhookRouteTest, DisputeFindsItsObligationByTheCharge) {
  auto row = row_of("c", ObligationStatus::completed);
  row.charge_id = "ch_7";
  store_.put(row);
  EXPECT_EQ(deliver(event_of("charge.dispute.created", R"({"id":"dp_1","charge":"ch_7"})")).status,
            200);
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(command<billing::ProviderHint>(0).key, row.key);
  EXPECT_EQ(command<billing::ProviderHint>(0).object, "dp_1");
  EXPECT_EQ(command<billing::ProviderHint>(0).charge, "ch_7");
  inbox_replies(billing::InboxTold{});
  EXPECT_EQ(
      text_at(deliver(event_of("refund.created", R"({"id":"re_1","charge":"ch_8"})")), "effect"),
      "inbox");
}

TEST_F(WebhookRouteTest, WhatIsNotDurableIsNever2xx) {
  for (const auto why : {Turndown::busy, Turndown::uncertain}) {
    billing_replies({billing::TurnedDown{why}});
    EXPECT_EQ(deliver(event_of("payment_intent.succeeded", intent_of("c"))).status, 503);
    inbox_replies(billing::InboxTurnedDown{why});
    EXPECT_EQ(deliver(event_of("payment_intent.succeeded", R"({"id":"pi_9"})")).status, 503);
  }
  asked_.clear();
  not_ready_ = "draining";
  EXPECT_EQ(deliver(event_of("payment_intent.succeeded", intent_of("c"))).status, 503);
  not_ready_.reset();
  store_.fail_with(Error{ErrorCode::store_io, "gone"});
  EXPECT_EQ(deliver(event_of("charge.dispute.created", R"({"id":"dp_1","charge":"ch_7"})")).status,
            503);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(WebhookRouteTest, WithoutASecretTheNodeSaysWhatToConfigure) {
  start_with("");
  const auto response = deliver(event_of("payment_intent.succeeded", intent_of("c")));
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(text_at(response, "detail").find("[webhooks]"), std::string::npos);
}

}  // namespace
}  // namespace onceward::ingress
