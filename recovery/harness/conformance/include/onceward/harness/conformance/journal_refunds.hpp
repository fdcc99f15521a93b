// Conformance of a journal, part 7: refund rows: round trips, rewriting, listing and paging, what
// is refused, and the row that a charge belongs to.
#pragma once

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

template <class Backend>
class JournalRefundConformance : public JournalFixture<Backend> {
 protected:
  static RefundRow refund_of(const ObligationKey& of, std::uint32_t number,
                             RefundStatus status = RefundStatus::in_progress) {
    RefundRow row;
    row.obligation = of;
    row.number = number;
    row.amount = usd(100 + number);
    row.status = status;
    row.refund_id = "re_" + std::to_string(number);
    row.reason = "because";
    row.request_id = RequestId("request-" + std::to_string(number));
    row.who = "ann";
    row.why = "double plan";
    row.requested_at = Timestamp{-1};
    row.updated_at = Timestamp{1'786'060'800'123};
    if (is_open(status) && status != RefundStatus::parked) row.next_action_at = Timestamp{3000};
    return row;
  }
  CommitUnit unit_with(const RefundRow& row) {
    CommitUnit unit = this->unit(entity(row.obligation.customer.value()));
    unit.refunds.push_back(row);
    return unit;
  }
  void put(const RefundRow& row) { this->store(unit_with(row)); }
  std::vector<RefundRow> of_customer(const std::string& customer) {
    auto found = this->reader()->refunds_of(CustomerId(customer));
    EXPECT_TRUE(found.has_value()) << found.error().context;
    return found.has_value() ? *found : std::vector<RefundRow>();
  }
  std::vector<RefundRow> listed(const RefundQuery& query) {
    auto found = this->reader()->refunds(query);
    EXPECT_TRUE(found.has_value()) << found.error().context;
    return found.has_value() ? *found : std::vector<RefundRow>();
  }
};
TYPED_TEST_SUITE_P(JournalRefundConformance);

TYPED_TEST_P(JournalRefundConformance, RoundTripsEveryMemberInEveryStatus) {
  std::vector<RefundRow> rows;
  for (const RefundStatus status : all_refund_statuses) {
    rows.push_back(this->refund_of(key("a"), static_cast<std::uint32_t>(rows.size()) + 1, status));
    this->put(rows.back());
  }
  EXPECT_EQ(this->of_customer("a"), rows);
  EXPECT_TRUE(this->of_customer("b").empty());
}

TYPED_TEST_P(JournalRefundConformance, WritingAgainRewritesTheWholeRow) {
  this->put(this->refund_of(key("a"), 1));
  RefundRow row = this->refund_of(key("a"), 1, RefundStatus::succeeded);
  row.amount = jpy(7);
  row.refund_id = "re_9";
  row.reason.clear();
  row.request_id = RequestId("other");
  row.who = "bob";
  row.why = "why not";
  row.requested_at = Timestamp{5};
  row.updated_at = Timestamp{6};
  this->put(row);
  EXPECT_EQ(this->of_customer("a"), std::vector{row});
}

TYPED_TEST_P(JournalRefundConformance, SurvivesARestart) {
  const RefundRow row = this->refund_of(key("a"), 1);
  this->put(row);
  this->backend().reopen();
  EXPECT_EQ(this->of_customer("a"), std::vector{row});
}

TYPED_TEST_P(JournalRefundConformance, ListsInPagesAndByStatus) {
  const RefundRow a1 = this->refund_of(key("a"), 1, RefundStatus::succeeded);
  const RefundRow a2 = this->refund_of(key("a"), 2, RefundStatus::parked);
  const RefundRow a10 = this->refund_of(key("a"), 10, RefundStatus::parked);
  const RefundRow a_next = this->refund_of(key("a", "2026-09"), 1, RefundStatus::parked);
  const RefundRow b1 = this->refund_of(key("b"), 1, RefundStatus::parked);
  for (const RefundRow& row : {b1, a10, a_next, a2, a1}) this->put(row);
  EXPECT_EQ(this->listed({}), (std::vector{a1, a2, a10, a_next, b1}));
  RefundQuery query;
  query.status = RefundStatus::parked;
  query.limit = 2;
  EXPECT_EQ(this->listed(query), (std::vector{a2, a10}));
  query.after = a10.obligation;
  query.after_number = a10.number;
  EXPECT_EQ(this->listed(query), (std::vector{a_next, b1}));
  query.after = b1.obligation;
  query.after_number = b1.number;
  EXPECT_TRUE(this->listed(query).empty());
}

TYPED_TEST_P(JournalRefundConformance, RefusesWhatNobodyWouldEverLookAt) {
  const auto refused = [&](RefundRow row) {
    return is<InvalidUnit>(this->commit_one(this->unit_with(row)));
  };
  RefundRow row = this->refund_of(key("a"), 1);
  row.next_action_at.reset();
  EXPECT_TRUE(refused(row));
  row = this->refund_of(key("a"), 0);
  EXPECT_TRUE(refused(row));
  row = this->refund_of(key("a"), 1);
  row.amount.minor = 0;
  EXPECT_TRUE(refused(row));
  row = this->refund_of(key("a"), 1);
  row.why.assign(5000, 'x');
  EXPECT_TRUE(refused(row));
  CommitUnit twice = this->unit_with(this->refund_of(key("a"), 1));
  twice.refunds.push_back(twice.refunds.front());
  EXPECT_TRUE(is<InvalidUnit>(this->commit_one(twice)));
  EXPECT_TRUE(this->of_customer("a").empty());
}

// A refund without its mark, or a mark without its refund, would give money back twice or never.
TYPED_TEST_P(JournalRefundConformance, IsNotStoredIfTheMarkOfItsUnitIsRefused) {
  CommitUnit first = this->unit(entity("a"));
  first.marks.push_back({"refund", "r1", "f", std::nullopt});
  this->store(first);
  CommitUnit second = this->unit_with(this->refund_of(key("a"), 1));
  second.marks.push_back({"refund", "r1", "f", std::nullopt});
  EXPECT_TRUE(is<MarkRefused>(this->commit_one(second)));
  EXPECT_TRUE(this->of_customer("a").empty());
}

TYPED_TEST_P(JournalRefundConformance, FindsTheRowThatAChargePaid) {
  ObligationRow row = row_in(key("a"), ObligationStatus::completed);
  row.charge_id = "ch_1";
  CommitUnit unit = this->unit(entity("a"));
  unit.rows.push_back(claim(row));
  unit.rows.push_back(claim(open_row(key("a", "2026-09"))));
  this->store(unit);
  EXPECT_EQ(this->reader()->row_of_charge("ch_1").value(), row);
  EXPECT_EQ(this->reader()->row_of_charge("ch_2").value(), std::nullopt);
  EXPECT_EQ(this->reader()->row_of_charge("").value(), std::nullopt);
}

TYPED_TEST_P(JournalRefundConformance, ListsTheEntitiesOfOneKindInPages) {
  for (const char* id : {"inbox/b", "customer/a", "inbox/a", "inbox0", "inbox/c"}) {
    this->store(this->unit(PersistenceId(id), {"1"}));
  }
  const auto names = [&](const std::optional<PersistenceId>& after, std::size_t limit) {
    std::vector<std::string> found;
    for (const auto& id : this->reader()->ids_under("inbox/", after, limit).value()) {
      found.push_back(id.value());
    }
    return found;
  };
  EXPECT_EQ(names(std::nullopt, 2), (std::vector<std::string>{"inbox/a", "inbox/b"}));
  EXPECT_EQ(names(PersistenceId("inbox/b"), 2), (std::vector<std::string>{"inbox/c"}));
  EXPECT_TRUE(names(PersistenceId("inbox/c"), 2).empty());
}

REGISTER_TYPED_TEST_SUITE_P(JournalRefundConformance, RoundTripsEveryMemberInEveryStatus,
                            WritingAgainRewritesTheWholeRow, SurvivesARestart,
                            ListsInPagesAndByStatus, RefusesWhatNobodyWouldEverLookAt,
                            IsNotStoredIfTheMarkOfItsUnitIsRefused, FindsTheRowThatAChargePaid,
                            ListsTheEntitiesOfOneKindInPages);

}  // namespace onceward::journal::testing
