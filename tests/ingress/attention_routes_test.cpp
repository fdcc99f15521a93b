// Attention over HTTP: listed in pages with count and sum, shown with history, retried, resolved.
#include <onceward/billing/inbox_entity.hpp>
#include <onceward/billing/quarantine_entity.hpp>

#include "tests/ingress/api_fixture.hpp"

namespace onceward::ingress {
namespace {

using test::json_of;
using test::text_at;

class AttentionRouteTest : public ApiFixture {
 protected:
  void put_some() {
    for (const auto* customer : {"a", "b", "d"}) {
      auto row = row_of(customer, ObligationStatus::parked);
      row.reason = "outcome unknown";
      store_.put(row);
    }
    store_.put(row_of("c", ObligationStatus::completed));
    auto old = row_of("e", ObligationStatus::action_required);
    store_.put(old);  // initiated long ago
    auto young = row_of("f", ObligationStatus::action_required);
    young.initiated_at = clock_->now().wall;
    store_.put(young);
    store_.quarantine(CustomerId{"q"});
    put_inbox("pi_1");
    RefundRow refund;
    refund.obligation = key_of("c");
    refund.amount = {700, *Currency::parse("eur")};
    refund.status = RefundStatus::parked;
    store_.refunds_.push_back(refund);
    refund.number = 2;
    refund.status = RefundStatus::succeeded;
    store_.refunds_.push_back(refund);
  }
  void put_inbox(const std::string& object) {
    StoredEvent stored;
    stored.sequence_nr = {1};
    stored.event = billing::inbox_event_codec().encode(
        billing::HintStored{Timestamp{5}, "evt_1", "payment_intent.succeeded",
                            billing::HintedKind::payment_intent, "somebody"});
    store_.events_["inbox/" + object] = {stored};
  }
  std::string ids_of(const platform::HttpResponse& response) {
    std::string ids;
    const auto body = json_of(response);
    for (const auto& item : body.at("items").as_array()) {
      ids += std::string(item.at("id").as_string().c_str()) + " ";
    }
    return ids;
  }
};

TEST_F(AttentionRouteTest, ListHoldsEverythingWithCountAndSum) {
  put_some();
  const auto response = ask("GET", "/v1/attention");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(ids_of(response),
            "quarantine:customer:q inbox:pi_1 refund:2026-08:subscription:1:c "
            "obligation:2026-08:subscription:a obligation:2026-08:subscription:b "
            "obligation:2026-08:subscription:d obligation:2026-08:subscription:e ");
  const auto body = json_of(response);
  EXPECT_EQ(body.at("count").as_int64(), 7);
  EXPECT_EQ(boost::json::serialize(body.at("totals")),
            R"([{"currency":"eur","amount_minor":700},{"currency":"usd","amount_minor":19960}])");
  EXPECT_TRUE(body.at("next_cursor").is_null());
  for (const auto& item : body.at("items").as_array()) {
    EXPECT_FALSE(item.at("next_step").as_string().empty());
  }
}

TEST_F(AttentionRouteTest, PagesJoinToTheWholeAndCountAllOfIt) {
  put_some();
  std::string seen;
  std::string cursor;
  for (int page = 0; page < 10; ++page) {
    const auto response = ask("GET", "/v1/attention?limit=2" + cursor);
    ASSERT_EQ(response.status, 200);
    seen += ids_of(response);
    EXPECT_EQ(text_at(response, "count"), "7");
    if (json_of(response).at("next_cursor").is_null()) break;
    cursor = "&cursor=" + text_at(response, "next_cursor");
  }
  EXPECT_EQ(seen, ids_of(ask("GET", "/v1/attention")));
}

TEST_F(AttentionRouteTest, FiltersRestrictListCountAndSum) {
  put_some();
  const auto parked = ask("GET", "/v1/attention?status=parked&kind=obligation");
  EXPECT_EQ(text_at(parked, "count"), "3");
  EXPECT_EQ(ids_of(ask("GET", "/v1/attention?customer=b")), "obligation:2026-08:subscription:b ");
  EXPECT_EQ(ids_of(ask("GET", "/v1/attention?customer=c")), "refund:2026-08:subscription:1:c ");
  EXPECT_EQ(text_at(ask("GET", "/v1/attention?reason=unknown"), "count"), "3");
  EXPECT_EQ(text_at(ask("GET", "/v1/attention?period=2026-09"), "count"), "0");
  for (const auto* bad : {"kind=x", "status=paid", "customer=a%20b", "period=x", "purpose=UP",
                          "cursor=x", "limit=0", "limit=1001", "frob=1"}) {
    EXPECT_EQ(ask("GET", std::string("/v1/attention?") + bad).status, 400) << bad;
  }
}

TEST_F(AttentionRouteTest, ShowTellsHistoryOfThisObligationAndTheNextStep) {
  put_some();
  StoredEvent mine;
  mine.sequence_nr = {1};
  mine.event = {{"BillingInitiated", 1}, R"({"period":"2026-08","purpose":"subscription"})"};
  StoredEvent other = mine;
  other.sequence_nr = {2};
  other.event.payload = R"({"period":"2026-07","purpose":"subscription"})";
  store_.events_["customer/a"] = {mine, other};
  const auto response = ask("GET", "/v1/attention/obligation:2026-08:subscription:a");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json_of(response).at("timeline").as_array().size(), 1U);
  EXPECT_NE(text_at(response, "next_step").find("attention retry"), std::string::npos);
  EXPECT_EQ(text_at(response, "status"), "parked");
  EXPECT_EQ(json_of(ask("GET", "/v1/attention/inbox:pi_1")).at("timeline").as_array().size(), 1U);
  EXPECT_EQ(ask("GET", "/v1/attention/quarantine:customer:q").status, 200);
  EXPECT_EQ(ask("GET", "/v1/attention/refund:2026-08:subscription:1:c").status, 200);
  for (const auto* gone :
       {"obligation:2026-08:subscription:c", "obligation:2026-08:subscription:z",
        "refund:2026-08:subscription:2:c", "inbox:pi_2", "quarantine:customer:a"}) {
    EXPECT_EQ(ask("GET", std::string("/v1/attention/") + gone).status, 404) << gone;
  }
  EXPECT_EQ(ask("GET", "/v1/attention/nonsense").status, 400);
}

TEST_F(AttentionRouteTest, RetryLooksAgainWithWhoAndWhy) {
  billing_replies({billing::Told{row_of("a", ObligationStatus::unknown)}});
  const auto response = ask("POST", "/v1/attention/obligation:2026-08:subscription:a/retry",
                            {{"Idempotency-Key", "op-1"}}, R"({"reason":"provider was down"})");
  EXPECT_EQ(response.status, 202) << response.body;
  const auto& look = command<billing::LookAgain>(0);
  EXPECT_EQ(look.key, key_of("a"));
  EXPECT_EQ(look.who, "anonymous");
  EXPECT_EQ(look.why, "provider was down");
  EXPECT_EQ(look.mark->key, "op-1");
}

TEST_F(AttentionRouteTest, ResolveGivesTheVerdictAsAsked) {
  billing_replies({billing::Told{row_of("a", ObligationStatus::completed)}});
  const auto* path = "/v1/attention/obligation:2026-08:subscription:a/resolve";
  const auto response =
      ask("POST", path, {},
          R"({"reason":"seen there","resolution":"paid_by_charge","reference":"ch_5"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(command<billing::ResolveObligation>(0).resolution, billing::Resolution::paid_by_charge);
  EXPECT_EQ(command<billing::ResolveObligation>(0).reference, "ch_5");
  EXPECT_EQ(command<billing::ResolveObligation>(0).why, "seen there");
  (void)ask("POST", path, {}, R"({"reason":"given up","resolution":"written_off"})");
  EXPECT_EQ(command<billing::ResolveObligation>(1).resolution, billing::Resolution::written_off);
  EXPECT_NE(command<billing::ResolveObligation>(0).mark.key,
            command<billing::ResolveObligation>(1).mark.key)
      << "two acts without a name are two acts";
}

TEST_F(AttentionRouteTest, VerdictThatNobodyNamedIsRefusedWithTheChoices) {
  billing_replies({billing::Told{row_of("a", ObligationStatus::cancelled)}});
  const auto response = ask("POST", "/v1/attention/obligation:2026-08:subscription:a/resolve", {},
                            R"({"reason":"given up"})");
  EXPECT_EQ(response.status, 400);
  for (const auto* choice : {"paid_by_charge", "paid_outside", "written_off", "not_charged"}) {
    EXPECT_NE(response.body.find(choice), std::string::npos) << response.body;
  }
  EXPECT_TRUE(asked_.empty()) << "nothing was written off";
}

TEST_F(AttentionRouteTest, WhatIsOpenAndWaitsForAPersonIsListedInItsPlace) {
  put_some();
  auto waits = row_of("b2", ObligationStatus::declined);
  waits.reason = "payment_method_needed";
  store_.put(waits);
  store_.put(row_of("c2", ObligationStatus::unknown));  // since long ago
  auto young = row_of("c3", ObligationStatus::unknown);
  young.initiated_at = clock_->now().wall;
  store_.put(young);
  store_.put(row_of("c4", ObligationStatus::declined));  // goes on by itself
  store_.put(row_of("z", ObligationStatus::unknown));
  const auto response = ask("GET", "/v1/attention?kind=obligation");
  EXPECT_EQ(ids_of(response),
            "obligation:2026-08:subscription:a obligation:2026-08:subscription:b "
            "obligation:2026-08:subscription:b2 obligation:2026-08:subscription:c2 "
            "obligation:2026-08:subscription:d obligation:2026-08:subscription:e "
            "obligation:2026-08:subscription:z ");
  EXPECT_EQ(text_at(response, "count"), "7");
  EXPECT_EQ(ids_of(ask("GET", "/v1/attention?customer=b2")), "obligation:2026-08:subscription:b2 ");
  EXPECT_EQ(ask("GET", "/v1/attention/obligation:2026-08:subscription:c2").status, 200);
}

TEST_F(AttentionRouteTest, AlarmIsAcknowledgedAndNotRetried) {
  auto row = row_of("a", ObligationStatus::completed);
  row.reason = "charge.dispute.created: dp_1";
  store_.put(row);
  EXPECT_EQ(ids_of(ask("GET", "/v1/attention?kind=alarm")), "alarm:2026-08:subscription:a ");
  EXPECT_EQ(ask("GET", "/v1/attention/alarm:2026-08:subscription:a").status, 200);
  EXPECT_EQ(ask("GET", "/v1/attention/obligation:2026-08:subscription:a").status, 404);
  billing_replies({billing::Told{row_of("a", ObligationStatus::completed)}});
  EXPECT_EQ(ask("POST", "/v1/attention/alarm:2026-08:subscription:a/resolve", {},
                R"({"reason":"answered the bank"})")
                .status,
            200);
  EXPECT_EQ(command<billing::AcknowledgeAlarm>(0).why, "answered the bank");
  EXPECT_EQ(ask("POST", "/v1/attention/alarm:2026-08:subscription:a/retry", {}, R"({"reason":"x"})")
                .status,
            409);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(AttentionRouteTest, RefundIsLookedAtAgainOrResolvedByWhatThePersonKnows) {
  billing::RefundTold told;
  told.refund.obligation = key_of("c");
  told.refund.amount = {1, *Currency::parse("usd")};
  told.refund.status = RefundStatus::succeeded;
  told.row = row_of("c", ObligationStatus::completed);
  billing_replies({told});
  const std::string base = "/v1/attention/refund:2026-08:subscription:3:c/";
  using Verdict = billing::ResolveRefund::Verdict;
  EXPECT_EQ(ask("POST", base + "retry", {}, R"({"reason":"x"})").status, 200);
  EXPECT_EQ(command<billing::ResolveRefund>(0).verdict, Verdict::look_again);
  EXPECT_EQ(command<billing::ResolveRefund>(0).number, 3U);
  (void)ask("POST", base + "resolve", {},
            R"({"reason":"x","resolution":"given","reference":"re_1"})");
  EXPECT_EQ(command<billing::ResolveRefund>(1).verdict, Verdict::given);
  EXPECT_EQ(command<billing::ResolveRefund>(1).refund_id, "re_1");
  (void)ask("POST", base + "resolve", {}, R"({"reason":"x","resolution":"not_given"})");
  EXPECT_EQ(command<billing::ResolveRefund>(2).verdict, Verdict::not_given);
  EXPECT_EQ(ask("POST", base + "resolve", {}, R"({"reason":"x"})").status, 400)
      << "whether money was given back is never assumed";
}

TEST_F(AttentionRouteTest, InboxIsResolvedByItsReason) {
  billing::InboxItem item;
  item.object = "pi_1";
  item.who = "anonymous";
  replies<billing::InboxCommand>(std::vector<billing::InboxReply>{billing::InboxTold{item}});
  const auto response =
      ask("POST", "/v1/attention/inbox:pi_1/resolve", {}, R"({"reason":"the shop's own"})");
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text_at(response, "open"), "false");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].first.value(), "inbox/pi_1");
  const auto& resolve = std::get<billing::ResolveInbox>(
      std::any_cast<const billing::InboxCommand&>(asked_[0].second));
  EXPECT_EQ(resolve.who, "anonymous");
  EXPECT_EQ(resolve.why, "the shop's own");
  EXPECT_EQ(ask("POST", "/v1/attention/inbox:pi_1/retry", {}, R"({"reason":"x"})").status, 409);
}

class QuarantineRouteTest : public AttentionRouteTest {
 protected:
  void SetUp() override {
    AttentionRouteTest::SetUp();
    store_.quarantine(CustomerId{"q"});
    billing::QuarantineRecord record;
    record.last = billing::QuarantineLifted{{}, {}, "chain broken", "anonymous", "it is sound"};
    replies<billing::QuarantineCommand>(
        std::vector<billing::QuarantineReply>{billing::QuarantineTold{record}});
  }
  platform::HttpResponse resolve(const std::string& body = R"({"reason":"it is sound"})") {
    return ask("POST", "/v1/attention/quarantine:customer:q/resolve", {{"Idempotency-Key", "op-1"}},
               body);
  }
};

TEST_F(QuarantineRouteTest, IsRecordedWithWhoAndWhyAndThenLifted) {
  const auto response = resolve();
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(text_at(response, "status"), "lifted");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].first.value(), "quarantine/customer/q");
  const auto& lift = std::get<billing::LiftQuarantine>(
      std::any_cast<const billing::QuarantineCommand&>(asked_[0].second));
  EXPECT_EQ(lift.who, "anonymous");
  EXPECT_EQ(lift.why, "it is sound");
  EXPECT_EQ(lift.quarantined_for, "chain broken");
  EXPECT_EQ(runtime_.lifted(), std::vector{customer_persistence_id(CustomerId{"q"})});
  EXPECT_NE(text_at(ask("GET", "/v1/attention/quarantine:customer:q"), "next_step")
                .find("attention resolve quarantine:customer:q"),
            std::string::npos);
}

TEST_F(QuarantineRouteTest, WhatIsNotRecordedIsNotLifted) {
  replies<billing::QuarantineCommand>(
      std::vector<billing::QuarantineReply>{billing::QuarantineTurnedDown{Turndown::uncertain}});
  EXPECT_EQ(resolve().status, 503);
  EXPECT_TRUE(runtime_.lifted().empty());
}

TEST_F(QuarantineRouteTest, StaysIfAPeriodCouldBeBilledTwice) {
  store_.put(row_of("q", ObligationStatus::completed));  // its events are gone
  const auto response = resolve();
  EXPECT_EQ(response.status, 409) << response.body;
  EXPECT_NE(response.body.find("row without events"), std::string::npos) << response.body;
  EXPECT_TRUE(asked_.empty());
  EXPECT_TRUE(runtime_.lifted().empty());
}

TEST_F(QuarantineRouteTest, StaysIfACallersKeyOutlivedItsObligation) {
  store_.quarantined_.front().reason = billing::lost_obligation;
  EXPECT_EQ(resolve().status, 409);
  EXPECT_TRUE(runtime_.lifted().empty());
}

TEST_F(QuarantineRouteTest, NeedsAQuarantineAndNothingButAReason) {
  EXPECT_EQ(resolve("{}").status, 400);
  EXPECT_EQ(resolve(R"({"reason":"x","resolution":"written_off"})").status, 400);
  store_.quarantined_.clear();
  EXPECT_EQ(resolve().status, 404);
  EXPECT_TRUE(runtime_.lifted().empty());
  store_.put(Mark{"lift_quarantine", "op-1", "f", std::nullopt});
  EXPECT_EQ(resolve().status, 200) << "the same request said again";
  EXPECT_TRUE(runtime_.lifted().empty());
}

TEST_F(AttentionRouteTest, ReasonIsRequiredAndReachesNobodyWithoutIt) {
  const std::string base = "/v1/attention/obligation:2026-08:subscription:a/";
  for (const std::string body :
       {"", "{}", R"({"reason":""})", R"({"reason":"  "})", R"({"reason":5})", "{"}) {
    EXPECT_EQ(ask("POST", base + "retry", {}, body).status, 400) << body;
    EXPECT_EQ(ask("POST", base + "resolve", {}, body).status, 400) << body;
  }
  EXPECT_EQ(ask("POST", base + "resolve", {}, R"({"reason":"x","resolution":"forget"})").status,
            400);
  EXPECT_EQ(ask("POST", base + "retry", {}, R"({"reason":"x","resolution":"written_off"})").status,
            400);
  EXPECT_EQ(ask("POST", "/v1/attention/nonsense/retry", {}, R"({"reason":"x"})").status, 400);
}

TEST_F(AttentionRouteTest, OnlyOperatorsAct) {
  put_some();
  HttpApiOptions options;
  options.tokens = {{"eve", Role::service, sha256("s")}, {"ann", Role::operator_, sha256("o")}};
  start(std::move(options));
  billing_replies({billing::Told{row_of("a", ObligationStatus::unknown)}});
  const auto* path = "/v1/attention/obligation:2026-08:subscription:a/retry";
  const std::string body = R"({"reason":"x"})";
  EXPECT_EQ(ask("POST", path, {}, body).status, 401);
  EXPECT_EQ(ask("POST", path, {{"Authorization", "Bearer s"}}, body).status, 403);
  EXPECT_EQ(ask("POST", path, {{"Authorization", "Bearer o"}}, body).status, 202);
  EXPECT_EQ(command<billing::LookAgain>(0).who, "ann");
}

}  // namespace
}  // namespace onceward::ingress
