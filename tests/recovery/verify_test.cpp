// Verification finds what does not follow from the events: edited rows, rows without events,
// missing rows, a cap ledger that was tampered with, and histories that do not fold.
#include <onceward/recovery/verify.hpp>

#include <gtest/gtest.h>

#include <onceward/journal/memory_journal.hpp>

namespace onceward::recovery {
namespace {

using billing::BillingCompleted;
using billing::BillingEvent;
using billing::BillingInitiated;
using billing::PeriodPurpose;
using billing::RequestStarted;
using billing::Step;

class Verify : public ::testing::Test {
 protected:
  Verify() { (void)journal_.barrier(); }

  static PeriodPurpose of() { return {*BillingPeriod::parse("2026-08"), Purpose{"subscription"}}; }
  static Money amount() { return {4990, *Currency::parse("usd")}; }

  std::vector<BillingEvent> history() const {
    BillingInitiated initiated;
    initiated.of = of();
    initiated.amount = amount();
    initiated.payment_method = PaymentMethod{"pm_1"};
    initiated.provider_customer = ProviderCustomer{"cus_1"};
    initiated.request_id = RequestId{"r1"};
    RequestStarted started;
    started.of = of();
    started.step = Step::charge;
    started.key = IdempotencyKey{"k1"};
    BillingCompleted completed;
    completed.of = of();
    completed.charge_id = "ch_1";
    return {initiated, started, completed};
  }

  CommitUnit unit(const std::vector<BillingEvent>& events) {
    CommitUnit u;
    u.persistence_id = PersistenceId{"customer/cust_1"};
    u.epoch = journal_.epoch_of(ShardNr{});
    u.writer = WriterId{"w"};
    billing::BillingState state;
    state.customer = CustomerId{"cust_1"};
    for (const auto& event : events) {
      u.events.push_back(billing::billing_event_codec().encode(event));
      EXPECT_TRUE(billing::evolve_obligation(state, event).has_value());
    }
    u.rows.push_back(
        {RowWrite::Kind::claim, row_of(state.customer, of(), state.obligations.at(of()))});
    CapOp settle;
    settle.kind = CapOp::Kind::settle;
    settle.obligation = u.rows[0].row.key;
    settle.amount = amount();
    u.caps.push_back(settle);
    return u;
  }

  std::vector<Difference> differences(const CommitUnit& u) {
    const auto answers = journal_.commit({&u, 1});
    EXPECT_TRUE(std::holds_alternative<Stored>(answers[0])) << answers[0].index();
    auto reader = journal_.reader();
    auto report = verify(**reader, nullptr);
    EXPECT_TRUE(report.has_value());
    return report->differences;
  }

  journal::MemoryJournal journal_;
};

TEST_F(Verify, ACleanStoreHasNoDifferences) {
  EXPECT_TRUE(differences(unit(history())).empty());
}

TEST_F(Verify, OneEntityIsJudgedByItsOwnRowsAndHistory) {
  auto edited = unit(history());
  edited.rows[0].row.charge_id = "ch_other";
  (void)journal_.commit({&edited, 1});
  CommitUnit inbox;
  inbox.persistence_id = PersistenceId{"inbox/pi_1"};
  inbox.epoch = journal_.epoch_of(ShardNr{});
  inbox.writer = WriterId{"w"};
  inbox.events.push_back({{"Anything", 1}, "{}"});
  (void)journal_.commit({&inbox, 1});
  auto reader = journal_.reader();
  ASSERT_EQ(verify_entity(**reader, PersistenceId{"customer/cust_1"}).size(), 1U);
  EXPECT_TRUE(verify_entity(**reader, PersistenceId{"customer/cust_2"}).empty());
  EXPECT_TRUE(verify_entity(**reader, inbox.persistence_id).empty());
}

TEST_F(Verify, ARowWithoutHistoryIsFoundForItsCustomerAlone) {
  auto lost = unit(history());
  lost.events.clear();
  lost.caps.clear();
  ASSERT_TRUE(std::holds_alternative<Stored>(journal_.commit({&lost, 1})[0]));
  auto reader = journal_.reader();
  const auto found = verify_entity(**reader, lost.persistence_id);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "row without events");
}

TEST_F(Verify, FindsARowThatTheEventsDoNotImply) {
  auto u = unit(history());
  u.rows[0].row.status = ObligationStatus::cancelled;
  u.rows[0].row.charge_id.clear();
  const auto found = differences(u);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, "cust_1/2026-08/subscription");
}

TEST_F(Verify, FindsAMissingRow) {
  auto u = unit(history());
  u.rows.clear();
  EXPECT_FALSE(differences(u).empty());
}

TEST_F(Verify, FindsARowWithoutEvents) {
  auto u = unit(history());
  u.events.clear();
  EXPECT_FALSE(differences(u).empty());
}

TEST_F(Verify, FindsACapLedgerThatDiffersFromTheEvents) {
  auto u = unit(history());
  u.caps[0].amount.minor = 1;
  const auto found = differences(u);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, "cap 2026-08 usd");
}

TEST_F(Verify, FindsAHistoryThatDoesNotFold) {
  auto u = unit(history());
  u.events.erase(u.events.begin());
  EXPECT_FALSE(differences(u).empty());
}

TEST_F(Verify, FindsAnEventOfAnUnknownVersion) {
  auto u = unit(history());
  u.events[1].manifest.version = 99;
  EXPECT_FALSE(differences(u).empty());
}

class VerifyRefunds : public Verify {
 protected:
  // A charged obligation with one refund, and its rows.
  CommitUnit refunded() {
    auto events = history();
    billing::RefundRequested requested;
    requested.of = of();
    requested.amount = {1000, *Currency::parse("usd")};
    requested.request_id = RequestId{"refund-1"};
    events.emplace_back(requested);
    billing::BillingState state;
    state.customer = CustomerId{"cust_1"};
    for (const auto& event : events) EXPECT_TRUE(billing::evolve_obligation(state, event));
    auto u = unit(events);
    u.refunds.push_back(refund_row_of(u.rows[0].row.key, state.obligations.at(of()).refunds.at(0)));
    return u;
  }
};

TEST_F(VerifyRefunds, ACleanStoreHasNoDifferences) {
  EXPECT_TRUE(differences(refunded()).empty());
}

TEST_F(VerifyRefunds, FindsARefundRowThatTheEventsDoNotImply) {
  auto u = refunded();
  u.refunds[0].amount.minor = 1;
  const auto found = differences(u);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, "cust_1/2026-08/subscription refund 1");
}

TEST_F(VerifyRefunds, FindsAMissingRefundRow) {
  auto u = refunded();
  u.refunds.clear();
  const auto found = differences(u);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "its row is missing");
}

TEST_F(VerifyRefunds, FindsARefundRowWithoutEvents) {
  auto u = refunded();
  u.refunds.push_back(u.refunds[0]);
  u.refunds[1].number = 2;
  const auto found = differences(u);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, "cust_1/2026-08/subscription refund 2");
}

TEST_F(VerifyRefunds, FindsARefundRowOfACustomerWithoutEvents) {
  auto u = refunded();
  u.refunds.push_back(u.refunds[0]);
  u.refunds[1].obligation.customer = CustomerId{"nobody"};
  const auto found = differences(u);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, "refunds");
}

// A rejection released what the request had reserved, also while its retry waits for a permit.
TEST_F(Verify, ARejectedRequestHoldsNoReservation) {
  billing::BillingState state;
  state.customer = CustomerId{"cust_1"};
  auto events = history();
  events.pop_back();
  for (const auto& event : events) ASSERT_TRUE(billing::evolve_obligation(state, event));
  EXPECT_TRUE(holds_reservation(state.obligations.at(of())));
  billing::RequestRejected rejected;
  rejected.of = of();
  rejected.key = IdempotencyKey{"k1"};
  ASSERT_TRUE(billing::evolve_obligation(state, rejected));
  EXPECT_FALSE(holds_reservation(state.obligations.at(of())));
  billing::OperatorActed retry;
  retry.of = of();
  ASSERT_TRUE(billing::evolve_obligation(state, retry));
  EXPECT_FALSE(holds_reservation(state.obligations.at(of())));
}

}  // namespace
}  // namespace onceward::recovery
