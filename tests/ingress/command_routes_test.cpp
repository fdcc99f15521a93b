// Refund, cancel, payment method: what is asked of the entity, and the answer for each reply.
#include "tests/ingress/api_fixture.hpp"

namespace onceward::ingress {
namespace {

using test::header_of;
using test::text_at;

const std::vector<platform::HttpHeader> named{{"Idempotency-Key", "\"r1\""}, {"Prefer", "wait=1"}};

class CommandRouteTest : public ApiFixture {
 protected:
  static RefundRow refund_of(RefundStatus status) {
    RefundRow refund;
    refund.obligation = key_of("c");
    refund.number = 2;
    refund.amount = {1000, *Currency::parse("usd")};
    refund.status = status;
    refund.refund_id = "re_1";
    return refund;
  }
  static billing::RefundTold told(RefundStatus status, bool replayed = false) {
    return {refund_of(status), row_of("c", ObligationStatus::completed), replayed};
  }
};

TEST_F(CommandRouteTest, RefundIsToldOnceDurableAndOnceSettled) {
  billing_replies({told(RefundStatus::in_progress), told(RefundStatus::succeeded, true)});
  const auto response = ask("POST", "/v1/billing/c/2026-08/refunds", named,
                            R"({"amount_minor":1000,"reason":"asked for"})");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text_at(response, "status"), "succeeded");
  EXPECT_EQ(text_at(response, "refund_id"), "re_1");
  EXPECT_EQ(header_of(response, "Idempotent-Replayed"), "(absent)");
  ASSERT_EQ(asked_.size(), 2U);
  const auto& first = command<billing::RefundObligation>(0);
  const auto& second = command<billing::RefundObligation>(1);
  EXPECT_EQ(first.notify, billing::Notify::accepted);
  EXPECT_EQ(second.notify, billing::Notify::settled);
  EXPECT_EQ(first.mark, second.mark);
  EXPECT_EQ(first.mark.key, "r1");
  EXPECT_EQ(first.amount_minor, 1000);
  EXPECT_EQ(first.who, "anonymous");
  EXPECT_EQ(first.why, "asked for");
}

TEST_F(CommandRouteTest, MarkTellsOtherAmountsAndObligationsApart) {
  billing_replies({told(RefundStatus::succeeded)});
  const auto fingerprint = [&](const std::string& target, const std::string& body) {
    asked_.clear();
    (void)ask("POST", target, named, body);
    return command<billing::RefundObligation>(0).mark.fingerprint;
  };
  const auto all = fingerprint("/v1/billing/c/2026-08/refunds", "");
  EXPECT_EQ(fingerprint("/v1/billing/c/2026-08/refunds", R"({"reason":"x"})"), all);
  EXPECT_NE(fingerprint("/v1/billing/c/2026-08/refunds", R"({"amount_minor":1})"), all);
  EXPECT_NE(fingerprint("/v1/billing/d/2026-08/refunds", ""), all);
  EXPECT_NE(fingerprint("/v1/billing/c/2026-09/refunds", ""), all);
  EXPECT_NE(fingerprint("/v1/billing/c/2026-08/refunds?purpose=addon", ""), all);
}

TEST_F(CommandRouteTest, RefundThatStaysOpenIs202WithThePlaceToLook) {
  for (const auto status : {RefundStatus::in_progress, RefundStatus::unknown, RefundStatus::pending,
                            RefundStatus::parked}) {
    billing_replies({told(status, true)});
    const auto response = ask("POST", "/v1/billing/c/2026-08/refunds",
                              {{"Idempotency-Key", "r1"}, {"Prefer", "wait=0"}});
    EXPECT_EQ(response.status, 202) << to_text(status);
    EXPECT_EQ(header_of(response, "Location"), "/v1/billing/c/2026-08");
    EXPECT_EQ(header_of(response, "Idempotent-Replayed"), "true");
    EXPECT_EQ(asked_.size(), 1U);
  }
}

TEST_F(CommandRouteTest, OutcomeThatDoesNotComeInTimeLeavesTheDurableState) {
  runtime_.on_other = [this](const PersistenceId& to, const std::any& command,
                             const actors::ReplySink& sink) {
    asked_.emplace_back(to, command);
    if (asked_.size() == 1) {
      sink(std::any(billing::BillingReply(told(RefundStatus::in_progress))));
    }
  };
  const auto response = ask("POST", "/v1/billing/c/2026-08/refunds", named);
  EXPECT_EQ(response.status, 202);
  EXPECT_EQ(text_at(response, "status"), "in_progress");
  EXPECT_EQ(asked_.size(), 2U);
}

TEST_F(CommandRouteTest, SecondAskThatIsTurnedDownDoesNotHideThatTheFirstIsDurable) {
  billing_replies({told(RefundStatus::in_progress), billing::TurnedDown{Turndown::busy}});
  EXPECT_EQ(ask("POST", "/v1/billing/c/2026-08/refunds", named).status, 202);
}

TEST_F(CommandRouteTest, EntityThatDoesNotSayIs503WithTheSameKey) {
  runtime_.on_other = [](const PersistenceId&, const std::any&, const actors::ReplySink&) {};
  const auto response = ask("POST", "/v1/billing/c/2026-08/refunds", named);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "charge_state"), "unknown");
  EXPECT_EQ(text_at(response, "retryable"), "same_key");
}

TEST_F(CommandRouteTest, EveryRefusalHasItsCode) {
  using Kind = billing::RefundRefused::Kind;
  const auto row = row_of("c", ObligationStatus::completed);
  const std::vector<std::pair<billing::BillingReply, std::string>> table{
      {told(RefundStatus::failed), "409 OW6016"},
      {billing::RefundRefused{Kind::not_charged, row_of("c", ObligationStatus::declined), 0},
       "409 OW6014"},
      {billing::RefundRefused{Kind::beyond_remainder, row, 90}, "409 OW6015"},
      {billing::NotPossible{row, "it is completed"}, "409 OW6014"},
      {billing::NoSuchObligation{}, "404 OW1003"},
      {billing::CallerKeyReused{}, "422 OW6007"},
      {billing::Refused{"no"}, "400 OW1001"},
      {billing::TurnedDown{Turndown::busy}, "503 OW1005"},
      {billing::TurnedDown{Turndown::uncertain}, "503 OW2007"},
      {billing::TurnedDown{Turndown::quarantined}, "409 OW3004"},
      {billing::TurnedDown{Turndown::invalid}, "400 OW1001"}};
  for (const auto& [reply, told] : table) {
    billing_replies({reply});
    const auto response = ask("POST", "/v1/billing/c/2026-08/refunds", named);
    EXPECT_EQ(std::to_string(response.status) + " " + text_at(response, "code"), told);
  }
  billing_replies({billing::RefundRefused{Kind::beyond_remainder, row, 90}});
  const auto beyond = ask("POST", "/v1/billing/c/2026-08/refunds", named);
  EXPECT_EQ(text_at(beyond, "refundable_minor"), "90");
  EXPECT_EQ(text_at(beyond, "charge_state"), "charged");
}

TEST_F(CommandRouteTest, BadRequestsReachNobody) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"/v1/billing/c/2026-08/refunds", R"({"amount_minor":0})"},
      {"/v1/billing/c/2026-08/refunds", R"({"amount_minor":-5})"},
      {"/v1/billing/c/2026-08/refunds", R"({"amount_minor":1.5})"},
      {"/v1/billing/c/2026-08/refunds", R"({"amount_minor":"5"})"},
      {"/v1/billing/c/2026-08/refunds", R"({"amount":5})"},
      {"/v1/billing/c/2026-08/refunds", "{"},
      {"/v1/billing/c/2026-8/refunds", ""},
      {"/v1/billing/c/2026-08/refunds?porpose=x", ""},
      {"/v1/billing/c/2026-08/cancel", R"({"reason":5})"},
      {"/v1/billing/c/2026-08/cancel", R"({"reason":")" + std::string(501, 'x') + "\"}"},
      {"/v1/customers/c/payment-method", ""},
      {"/v1/customers/c/payment-method", R"({"payment_method":""})"},
      {"/v1/customers/c/payment-method", R"({"payment_method":"pm 1"})"},
      {"/v1/customers/a%20b/payment-method", R"({"payment_method":"pm_1"})"}};
  for (const auto& [target, body] : bad) {
    EXPECT_EQ(ask("POST", target, named, body).status, 400) << target << " " << body;
  }
  EXPECT_EQ(ask("POST", "/v1/billing/c/2026-08/refunds").status, 400) << "no key";
  EXPECT_EQ(ask("POST", "/v1/billing/c/2026-08/cancel").status, 400) << "no key";
  EXPECT_EQ(
      ask("POST", "/v1/customers/c/payment-method", {}, R"({"payment_method":"pm_1"})").status, 400)
      << "no key";
}

TEST_F(CommandRouteTest, CancelSaysHowFarItIs) {
  billing_replies({billing::Told{row_of("c", ObligationStatus::unknown)}});
  const auto kept = ask("POST", "/v1/billing/c/2026-08/cancel",
                        {{"Idempotency-Key", "r1"}, {"Prefer", "wait=0"}}, R"({"reason":"left"})");
  EXPECT_EQ(kept.status, 202);
  EXPECT_EQ(command<billing::CancelObligation>(0).why, "left");
  EXPECT_EQ(command<billing::CancelObligation>(0).mark.key, "r1");
  billing_replies({billing::Told{row_of("c", ObligationStatus::in_progress)},
                   billing::Told{row_of("c", ObligationStatus::cancelled), false, true}});
  const auto done = ask("POST", "/v1/billing/c/2026-08/cancel", named);
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(text_at(done, "status"), "cancelled");
  EXPECT_EQ(header_of(done, "Idempotent-Replayed"), "(absent)");
}

TEST_F(CommandRouteTest, PaymentMethodListsWhatUsesIt) {
  billing_replies({billing::PaymentMethodSet{{row_of("c", ObligationStatus::declined)}, true}});
  const auto response =
      ask("POST", "/v1/customers/c/payment-method", named, R"({"payment_method":"pm_2"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(header_of(response, "Idempotent-Replayed"), "true");
  EXPECT_EQ(test::json_of(response).at("obligations").as_array().size(), 1U);
  EXPECT_EQ(asked_[0].first.value(), "customer/c");
  EXPECT_EQ(command<billing::SetPaymentMethod>(0).payment_method.value(), "pm_2");
  HttpApiOptions live;
  live.mode = Mode::live;
  start(std::move(live));
  EXPECT_EQ(
      ask("POST", "/v1/customers/c/payment-method", named, R"({"payment_method":"pm_card_visa"})")
          .status,
      400);
}

TEST_F(CommandRouteTest, RefundsAreShownWithTheirObligationOnly) {
  store_.put(row_of("c", ObligationStatus::completed));
  store_.refunds_ = {refund_of(RefundStatus::succeeded)};
  store_.refunds_.push_back(store_.refunds_[0]);
  store_.refunds_[1].obligation = key_of("c", "2026-07");
  const auto one = test::json_of(ask("GET", "/v1/billing/c/2026-08"));
  ASSERT_EQ(one.at("refunds").as_array().size(), 1U);
  EXPECT_EQ(one.at("refunds").at(0).at("refund_id").as_string(), "re_1");
  const auto all = test::json_of(ask("GET", "/v1/customers/c"));
  EXPECT_EQ(all.at("obligations").at(0).at("refunds").as_array().size(), 1U);
}

TEST_F(CommandRouteTest, NodeThatTakesNoWorkRecordsNothing) {
  not_ready_ = "draining";
  const auto response = ask("POST", "/v1/billing/c/2026-08/refunds", named);
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(text_at(response, "code"), "OW1006");
}

}  // namespace
}  // namespace onceward::ingress
