// What needs a person, its names, and what is counted.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "ingress/attention/attention_item.hpp"
#include "ingress/attention/attention_reader.hpp"

namespace onceward::ingress {
namespace {

constexpr AttentionDeadlines deadlines{
    .action_required_ms = 1'000, .processing_ms = 5'000, .unresolved_ms = 8'000};

ObligationRow row_of(ObligationStatus status, const std::string& customer = "c") {
  ObligationRow row;
  row.key = {CustomerId{customer}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}};
  row.amount = {100, *Currency::parse("usd")};
  row.status = status;
  row.reason = "why";
  row.initiated_at = {10'000};
  row.updated_at = {12'000};
  return row;
}
AttentionItem item_of(const std::string& customer, std::int64_t amount = 100,
                      const std::string& currency = "usd") {
  auto row = row_of(ObligationStatus::parked, customer);
  row.amount = {amount, *Currency::parse(currency)};
  return *attention_of(row, deadlines, {});
}

TEST(Attention, HoldsExactlyWhatAPersonOwns) {
  const std::set<ObligationStatus> owned{ObligationStatus::parked, ObligationStatus::rejected,
                                         ObligationStatus::capped, ObligationStatus::uncollectible};
  for (const auto status : all_obligation_statuses) {
    auto row = row_of(status);
    if (status == ObligationStatus::completed) row.reason = "";
    const auto item = attention_of(row, deadlines, {10'500});
    EXPECT_EQ(item.has_value(), owned.contains(status)) << to_text(status);
    if (!item) continue;
    EXPECT_EQ(item->status, to_text(status));
    EXPECT_EQ(item->reason, "why");
    EXPECT_EQ(item->since, Timestamp{12'000});
    EXPECT_EQ(item->amount()->minor, 100);
    EXPECT_NE(next_step(*item).find(to_text(item->id)), std::string::npos);
  }
}

TEST(Attention, CompletedWithAnAlarmIsShownUntilItIsAcknowledged) {
  auto row = row_of(ObligationStatus::completed);
  row.reason = "late money";
  const auto item = attention_of(row, deadlines, {});
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(to_text(item->id), "alarm:2026-08:subscription:c");
  row.reason = "paid_outside: by cheque";
  EXPECT_FALSE(attention_of(row, deadlines, {}).has_value()) << "a person said so";
}

TEST(Attention, WaitingForOthersBecomesAPersonsMatterAtItsDeadline) {
  const auto is_item = [](ObligationStatus status, std::int64_t now_ms) {
    return attention_of(row_of(status), deadlines, {now_ms}).has_value();
  };
  EXPECT_FALSE(is_item(ObligationStatus::action_required, 10'999));
  EXPECT_TRUE(is_item(ObligationStatus::action_required, 11'000));
  EXPECT_FALSE(is_item(ObligationStatus::processing, 14'999));
  EXPECT_TRUE(is_item(ObligationStatus::processing, 15'000));
}

TEST(Attention, WhatIsUnresolvedBeyondTheLifeOfAKeyIsShown) {
  for (const auto status : {ObligationStatus::unknown, ObligationStatus::in_progress}) {
    EXPECT_FALSE(attention_of(row_of(status), deadlines, {17'999}).has_value());
    const auto item = attention_of(row_of(status), deadlines, {18'000});
    ASSERT_TRUE(item.has_value()) << to_text(status);
    EXPECT_TRUE(item->reason.starts_with("why; still unresolved")) << item->reason;
    EXPECT_NE(next_step(*item).find("attention retry " + to_text(item->id)), std::string::npos);
  }
  auto under_way = row_of(ObligationStatus::in_progress);
  under_way.reason.clear();
  EXPECT_FALSE(attention_of(under_way, deadlines, {18'000}).has_value())
      << "a later try that is being made is not stuck";
}

TEST(Attention, DeclinedIsShownIfNoOtherTryMendsItOrNobodyKnowsTheCode) {
  auto row = row_of(ObligationStatus::declined);
  row.decline_code = "expired_card";
  EXPECT_FALSE(attention_of(row, deadlines, {99'000}).has_value()) << "it is tried again by itself";
  row.reason = "payment_method_needed";
  const auto waits = attention_of(row, deadlines, {});
  ASSERT_TRUE(waits.has_value());
  EXPECT_EQ(waits->reason, "payment_method_needed (expired_card)");
  EXPECT_NE(next_step(*waits).find("onceward payment-method c PM"), std::string::npos);
  EXPECT_NE(next_step(*waits).find("onceward cancel c 2026-08 --reason"), std::string::npos);
  row.reason = "unlisted_decline_code";
  row.decline_code = "made_up_yesterday";
  row.key.purpose = Purpose{"extra"};
  const auto unlisted = attention_of(row, deadlines, {});
  ASSERT_TRUE(unlisted.has_value());
  EXPECT_NE(next_step(*unlisted).find("made_up_yesterday"), std::string::npos);
  EXPECT_NE(next_step(*unlisted).find("cancel c 2026-08 --purpose extra"), std::string::npos);
}

TEST(Attention, RefundsAndInboxOnlyWhilePeopleOwnThem) {
  for (const auto status : all_refund_statuses) {
    RefundRow refund;
    refund.obligation = row_of(ObligationStatus::completed).key;
    refund.status = status;
    EXPECT_EQ(attention_of(refund).has_value(), status == RefundStatus::parked);
  }
  billing::InboxItem inbox;
  inbox.object = "pi_1";
  EXPECT_FALSE(attention_of(inbox).has_value());
  inbox.open = true;
  EXPECT_TRUE(attention_of(inbox).has_value());
}

TEST(AttentionIds, AreReadBackAndSafeInAPath) {
  AttentionId refund{
      AttentionKind::refund, row_of(ObligationStatus::parked, "a:b/c?d#e%f=g h").key, 12, {}, {}};
  refund.key.customer = CustomerId{"a:b/c?d#e%f=g"};
  const std::vector<AttentionId> ids{
      {AttentionKind::obligation, row_of(ObligationStatus::parked).key, 0, {}, {}},
      {AttentionKind::obligation, refund.key, 0, {}, {}},
      refund,
      {AttentionKind::quarantine, {}, 0, PersistenceId("customer/a/b:c"), {}},
      {AttentionKind::alarm, refund.key, 0, {}, {}},
      {AttentionKind::quarantine, {}, 0, PersistenceId("plain"), {}},
      {AttentionKind::inbox, {}, 0, {}, "pi_1"}};
  for (const auto& id : ids) {
    const auto text = to_text(id);
    EXPECT_EQ(text.find_first_of("/?#% "), std::string::npos) << text;
    const auto parsed = parse_attention_id(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(*parsed, id) << text;
  }
  EXPECT_EQ(to_text(ids[0]), "obligation:2026-08:subscription:c");
  EXPECT_EQ(to_text(ids[3]), "quarantine:customer:a=2Fb=3Ac");
}

TEST(AttentionIds, WhatIsNoneIsRefused) {
  for (const std::string text :
       {"", ":", "obligation",
        "obligation:", "obligation:2026-08:subscription:", "obligation:2026-8:subscription:c",
        "obligation:2026-08::c", "obligation:2026-08:UP:c", "obligation:2026-08:subscription:a/b",
        "obligation:2026-08:subscription:a=2fb", "obligation:2026-08:subscription:a=2",
        "obligation:2026-08:subscription:=63", "refund:2026-08:subscription:x:c",
        "refund:2026-08:subscription:01:c", "refund:2026-08:subscription:99999999999:c",
        "quarantine:", "inbox:", "inbox:a b", "other:c"}) {
    EXPECT_FALSE(parse_attention_id(text).has_value()) << text;
  }
}

TEST(AttentionFilters, RestrictByEveryMember) {
  const auto item = item_of("c");
  const auto with = [](auto set) {
    AttentionFilter filter;
    set(filter);
    return filter;
  };
  EXPECT_TRUE(matches({}, item));
  EXPECT_TRUE(matches(with([](auto& f) { f.status = "parked"; }), item));
  EXPECT_FALSE(matches(with([](auto& f) { f.status = "capped"; }), item));
  EXPECT_FALSE(matches(with([](auto& f) { f.kind = AttentionKind::inbox; }), item));
  EXPECT_TRUE(matches(with([](auto& f) { f.customer = CustomerId{"c"}; }), item));
  EXPECT_FALSE(matches(with([](auto& f) { f.customer = CustomerId{"d"}; }), item));
  EXPECT_FALSE(matches(with([](auto& f) { f.period = *BillingPeriod::parse("2026-09"); }), item));
  EXPECT_FALSE(matches(with([](auto& f) { f.purpose = Purpose{"addon"}; }), item));
  EXPECT_TRUE(matches(with([](auto& f) { f.reason = "h"; }), item));
  EXPECT_FALSE(matches(with([](auto& f) { f.reason = "x"; }), item));
  const auto quarantine = attention_of(
      journal::Quarantined{customer_persistence_id(CustomerId{"c"}), "broken", Timestamp{1}});
  EXPECT_TRUE(matches(with([](auto& f) { f.customer = CustomerId{"c"}; }), quarantine));
  EXPECT_FALSE(matches(with([](auto& f) { f.customer = CustomerId{"d"}; }), quarantine));
  EXPECT_FALSE(
      matches(with([](auto& f) { f.period = *BillingPeriod::parse("2026-08"); }), quarantine));
}

TEST(AttentionTallies, SumByCurrencyAndDoNotOverflow) {
  AttentionTally tally;
  tally.add(item_of("a", 5));
  tally.add(item_of("b", 7));
  tally.add(item_of("c", 9, "eur"));
  tally.add(attention_of(journal::Quarantined{PersistenceId("customer/c"), "x", {}}));
  EXPECT_EQ(tally.count(), 4U);
  EXPECT_EQ(tally.sums().at(*Currency::parse("usd")), 12);
  EXPECT_EQ(tally.sums().at(*Currency::parse("eur")), 9);
  tally.add(item_of("d", std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(tally.sums().at(*Currency::parse("usd")), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace onceward::ingress
