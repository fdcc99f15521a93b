// Events of webhooks: what is read of them, and bodies that are none.
#include <gtest/gtest.h>

#include "ingress/webhook/webhook_event.hpp"

namespace onceward::ingress {
namespace {

std::string event_of(const std::string& type, const std::string& object) {
  return R"({"id":"evt_1","object":"event","type":")" + type +
         R"(","livemode":false,"created":1786000000,"data":{"object":)" + object + "}}";
}

TEST(WebhookEvent, ReadsWhomAnIntentConcerns) {
  const auto event = parse_webhook_event(
      event_of("payment_intent.succeeded",
               R"({"id":"pi_1","status":"succeeded","latest_charge":"ch_1","metadata":{)"
               R"("onceward_namespace":"n","onceward_customer":"c","onceward_period":"2026-08",)"
               R"("onceward_purpose":"p"}})"));
  ASSERT_TRUE(event.has_value()) << event.error().context;
  EXPECT_EQ(event->id, "evt_1");
  EXPECT_EQ(event->type, "payment_intent.succeeded");
  EXPECT_EQ(event->mode, Mode::test);
  EXPECT_EQ(event->kind, WebhookObject::payment_intent);
  EXPECT_EQ(event->object, "pi_1");
  EXPECT_EQ(event->status, "succeeded");
  EXPECT_EQ(event->intent, "pi_1");
  EXPECT_EQ(event->charge, "ch_1");
  EXPECT_EQ(event->ns, "n");
  EXPECT_EQ(event->customer, "c");
  EXPECT_EQ(event->period, "2026-08");
  EXPECT_EQ(event->purpose, "p");
}

TEST(WebhookEvent, FindsIntentAndChargeOfWhatBelongsToThem) {
  const auto charge =
      parse_webhook_event(event_of("charge.refunded", R"({"id":"ch_1","payment_intent":"pi_1"})"));
  EXPECT_EQ(charge->kind, WebhookObject::charge);
  EXPECT_EQ(charge->intent, "pi_1");
  EXPECT_EQ(charge->charge, "ch_1");
  const auto refund = parse_webhook_event(
      event_of("refund.updated", R"({"id":"re_1","payment_intent":null,"charge":"ch_2"})"));
  EXPECT_EQ(refund->kind, WebhookObject::refund);
  EXPECT_EQ(refund->object, "re_1");
  EXPECT_EQ(refund->intent, "");
  EXPECT_EQ(refund->charge, "ch_2");
  const auto dispute = parse_webhook_event(
      event_of("charge.dispute.created",
               R"({"id":"dp_1","charge":{"id":"ch_3"},"payment_intent":{"id":"pi_3"}})"));
  EXPECT_EQ(dispute->kind, WebhookObject::dispute);
  EXPECT_EQ(dispute->intent, "pi_3");
  EXPECT_EQ(dispute->charge, "ch_3");
}

TEST(WebhookEvent, TypesOfOthersHaveNoKind) {
  for (const std::string type : {"invoice.paid", "payment_intent", "payment_intent.", "charge",
                                 "payment_intent.succeeded ", "PAYMENT_INTENT.SUCCEEDED"}) {
    const auto event = parse_webhook_event(event_of(type, R"({"id":"x"})"));
    if (!event) continue;  // a blank in the type
    EXPECT_FALSE(event->kind.has_value()) << type;
  }
  const std::string without_data = R"({"id":"evt_1","type":"v2.core.ping","livemode":true})";
  const auto event = parse_webhook_event(without_data);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->mode, Mode::live);
}

TEST(WebhookEvent, MembersOfAnotherKindAreAsIfAbsent) {
  const auto event = parse_webhook_event(
      event_of("charge.failed", R"({"id":"ch_1","status":5,"payment_intent":7,"metadata":["x"]})"));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->status + event->intent + event->ns + event->customer, "");
}

TEST(WebhookEvent, WhatIsNoEventIsRefused) {
  const std::string sound = event_of("charge.failed", R"({"id":"ch_1"})");
  ASSERT_TRUE(parse_webhook_event(sound).has_value());
  for (std::size_t length = 0; length < sound.size(); ++length) {
    EXPECT_FALSE(parse_webhook_event(sound.substr(0, length)).has_value()) << length;
  }
  const std::vector<std::string> bad{
      "null",
      "[]",
      "\"x\"",
      "{}",
      sound + "x",
      "<html>",
      "\xff\xfe",
      "{\"id\":\"evt_1\"}",
      R"({"id":"","type":"a","livemode":false})",
      R"({"id":5,"type":"a","livemode":false})",
      R"({"id":"evt_1","type":"","livemode":false})",
      R"({"id":"evt_1","type":"a"})",
      R"({"id":"evt_1","type":"a","livemode":"false"})",
      R"({"id":"evt 1","type":"a","livemode":false})",
      R"({"id":")" + std::string(256, 'e') + R"(","type":"a","livemode":false})",
      R"({"id":"evt_1","type":"charge.failed","livemode":false})",
      R"({"id":"evt_1","type":"charge.failed","livemode":false,"data":{"object":[]}})",
      event_of("charge.failed", "{}"),
      event_of("charge.failed", R"({"id":"ch 1"})"),
      event_of("charge.failed", R"({"id":"ch_1","metadata":{"a":"\ud800"}})"),
      std::string(100'000, '['),
      event_of("charge.failed", std::string(100'000, '{'))};
  for (const auto& body : bad) {
    const auto event = parse_webhook_event(body);
    ASSERT_FALSE(event.has_value()) << body.substr(0, 200);
    EXPECT_EQ(event.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace onceward::ingress
