// Conformance of a journal, part 3: obligation rows and marks: rewriting, listing, paging, what is
// due, what start-up takes, and when a mark expires.
#pragma once

#include <limits>

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

template <class Backend>
class JournalRowConformance : public JournalFixture<Backend> {
 protected:
  void put(const ObligationRow& row, RowWrite::Kind kind = RowWrite::Kind::claim) {
    CommitUnit unit = this->unit(entity(row.key.customer.value()));
    unit.rows.push_back({kind, row});
    this->store(unit);
  }

  static std::vector<std::string> names(const Result<std::vector<ObligationRow>>& rows) {
    std::vector<std::string> found;
    EXPECT_TRUE(rows.has_value());
    for (const ObligationRow& row : *rows) found.push_back(to_display(row.key));
    return found;
  }

  CommitAnswer put_mark(const std::string& fingerprint, Timestamp at,
                        std::optional<Timestamp> expires_at) {
    CommitUnit unit = this->unit(entity("a"));
    unit.at = at;
    unit.marks.push_back({"caller", "key", fingerprint, expires_at});
    return this->commit_one(unit);
  }
};
TYPED_TEST_SUITE_P(JournalRowConformance);

TYPED_TEST_P(JournalRowConformance, RoundTripsEveryMemberInEveryStatus) {
  for (const ObligationStatus status : all_obligation_statuses) {
    ObligationRow row = row_in(key("a", "2026-08", std::string(to_text(status))), status);
    row.amount = jpy(123);
    row.charge_id = "ch_1";
    row.attempt = 3;
    row.decline_code = "insufficient_funds";
    row.reason = "because";
    row.initiated_at = Timestamp{-1};
    row.updated_at = Timestamp{1'786'060'800'123};
    row.next_attempt_at = Timestamp{0};
    this->put(row);
    EXPECT_EQ(this->row(row.key), row) << to_text(status);
  }
}

TYPED_TEST_P(JournalRowConformance, AnUpdateRewritesTheWholeRow) {
  this->put(open_row(key("a")));
  ObligationRow row = row_in(key("a"), ObligationStatus::completed);
  row.amount = usd(1);
  row.charge_id = "ch_9";
  row.next_attempt_at.reset();
  this->put(row, RowWrite::Kind::update);
  EXPECT_EQ(this->row(key("a")), row);
  EXPECT_EQ(this->reader()->stats().value().obligations, 1U);
  EXPECT_EQ(this->reader()->stats().value().open_obligations, 0U);
}

TYPED_TEST_P(JournalRowConformance, CountsOpenRowsOverEveryChangeOfStatus) {
  const auto name_of_pair = [](ObligationStatus from, ObligationStatus to) {
    return std::string(to_text(from)) + "-" + std::string(to_text(to));
  };
  std::vector<CommitUnit> group;
  std::uint64_t open = 0;
  for (const ObligationStatus from : all_obligation_statuses) {
    for (const ObligationStatus to : all_obligation_statuses) {
      const std::string name = name_of_pair(from, to);
      for (const RowWrite& write :
           {claim(row_in(key(name), from)), update(row_in(key(name), to))}) {
        group.push_back(this->unit(entity(name)));
        group.back().rows.push_back(write);
      }
      if (is_open(to)) ++open;
    }
    this->commit(std::exchange(group, {}));
    EXPECT_EQ(this->reader()->stats().value().open_obligations, open) << to_text(from);
  }
  EXPECT_EQ(this->reader()->stats().value().obligations, 144U);
}

TYPED_TEST_P(JournalRowConformance, AnswersAnAbsentRowWithNothing) {
  this->put(open_row(key("a")));
  EXPECT_FALSE(this->row(key("b")));
  EXPECT_FALSE(this->row(key("a", "2026-09")));
  EXPECT_FALSE(this->row(key("a", "2026-08", "setup")));
  EXPECT_TRUE(this->names(this->reader()->rows_of(CustomerId("b"))).empty());
}

TYPED_TEST_P(JournalRowConformance, ListsACustomerByPeriodAndPurpose) {
  for (const char* text : {"2026-09", "2026-08", "2026", "2026-Q3"}) {
    this->put(open_row(key("a", text)));
  }
  this->put(open_row(key("a", "2026-08", "setup")));
  this->put(open_row(key("aa")));
  EXPECT_EQ(
      this->names(this->reader()->rows_of(CustomerId("a"))),
      (std::vector<std::string>{"a/2026/subscription", "a/2026-08/setup", "a/2026-08/subscription",
                                "a/2026-09/subscription", "a/2026-Q3/subscription"}));
}

TYPED_TEST_P(JournalRowConformance, ListsAPeriodInPagesAndByStatus) {
  for (const char* name : {"c", "a", "d", "b"}) this->put(open_row(key(name)));
  this->put(row_in(key("a", "2026-08", "setup"), ObligationStatus::completed));
  this->put(row_in(key("d", "2026-08", "setup"), ObligationStatus::completed));
  this->put(open_row(key("a", "2026-09")));
  const auto reader = this->reader();
  RowQuery query{
      .period = period(), .status = {}, .after_customer = {}, .after_purpose = {}, .limit = 3};
  EXPECT_EQ(this->names(reader->rows(query)),
            (std::vector<std::string>{"a/2026-08/setup", "a/2026-08/subscription",
                                      "b/2026-08/subscription"}));
  query.after_customer = CustomerId("b");
  query.after_purpose = Purpose("subscription");
  EXPECT_EQ(this->names(reader->rows(query)),
            (std::vector<std::string>{"c/2026-08/subscription", "d/2026-08/setup",
                                      "d/2026-08/subscription"}));
  query.after_customer = CustomerId("d");
  EXPECT_TRUE(this->names(reader->rows(query)).empty());
  query = {.period = period(),
           .status = ObligationStatus::completed,
           .after_customer = {},
           .after_purpose = {},
           .limit = 1};
  EXPECT_EQ(this->names(reader->rows(query)), (std::vector<std::string>{"a/2026-08/setup"}));
  query.after_customer = CustomerId("a");
  query.after_purpose = Purpose("setup");
  EXPECT_EQ(this->names(reader->rows(query)), (std::vector<std::string>{"d/2026-08/setup"}));
}

TYPED_TEST_P(JournalRowConformance, FindsDueRowsEarliestFirst) {
  const auto put_due = [&](const char* name, std::int64_t at) {
    ObligationRow row = open_row(key(name));
    row.next_action_at = Timestamp{at};
    this->put(row);
  };
  put_due("late", 30);
  put_due("b", 20);
  put_due("a", 20);
  put_due("early", -10);
  this->put(row_in(key("closed"), ObligationStatus::completed));
  this->put(row_in(key("parked"), ObligationStatus::parked));
  const auto reader = this->reader();
  EXPECT_EQ(this->names(reader->due(Timestamp{20}, 10)),
            (std::vector<std::string>{"early/2026-08/subscription", "a/2026-08/subscription",
                                      "b/2026-08/subscription"}));
  EXPECT_EQ(this->names(reader->due(Timestamp{20}, 1)),
            (std::vector<std::string>{"early/2026-08/subscription"}));
  EXPECT_TRUE(this->names(reader->due(Timestamp{-11}, 10)).empty());
  EXPECT_EQ(reader->due(Timestamp{100}, 10).value().size(), 4U);
}

TYPED_TEST_P(JournalRowConformance, FindsAClosedRowWhoseEntityOwesALookUp) {
  ObligationRow row = row_in(key("a"), ObligationStatus::completed);
  row.next_action_at = Timestamp{5};
  this->put(row);
  EXPECT_EQ(this->names(this->reader()->due(Timestamp{5}, 10)),
            (std::vector<std::string>{"a/2026-08/subscription"}));
  row.next_action_at.reset();
  this->put(row, RowWrite::Kind::update);
  EXPECT_TRUE(this->names(this->reader()->due(Timestamp{5}, 10)).empty());
}

TYPED_TEST_P(JournalRowConformance, FindsOpenRowsOfOlderEpochsInPages) {
  for (const char* name : {"c", "a", "b", "d"}) this->put(open_row(key(name)));
  for (const ObligationStatus status : all_obligation_statuses) {
    if (is_open(status) && !is_operator_owned(status)) continue;
    ObligationRow row = row_in(key("z", "2026-08", std::string(to_text(status))), status);
    row.next_action_at = Timestamp{1};  // due, but not start-up's
    this->put(row);
  }
  this->put(open_row(key("a", "2026-07")));
  const Epoch before = this->journal().epoch_of(ShardNr{0});
  EXPECT_TRUE(this->names(this->reader()->open_before(before, {}, 10)).empty());
  this->backend().reopen();
  const Epoch present = this->journal().epoch_of(ShardNr{0});
  this->put(row_in(key("b"), ObligationStatus::unknown), RowWrite::Kind::update);
  const auto reader = this->reader();
  EXPECT_EQ(this->names(reader->open_before(present, {}, 2)),
            (std::vector<std::string>{"a/2026-07/subscription", "a/2026-08/subscription"}));
  EXPECT_EQ(this->names(reader->open_before(present, key("a"), 10)),
            (std::vector<std::string>{"c/2026-08/subscription", "d/2026-08/subscription"}));
  EXPECT_TRUE(this->names(reader->open_before(present, key("d"), 10)).empty());
}

TYPED_TEST_P(JournalRowConformance, ListsWhatAPersonMayHaveToLookAtInPages) {
  for (const ObligationStatus status : all_obligation_statuses) {
    this->put(row_in(key("a", "2026-08", std::string(to_text(status))), status));
  }
  ObligationRow alarm = row_in(key("aa"), ObligationStatus::completed);
  alarm.reason = "late money";
  this->put(alarm);
  this->put(row_in(key("b", "2026-07"), ObligationStatus::parked));
  this->put(row_in(key("B", "2026-09"), ObligationStatus::parked));
  const auto reader = this->reader();
  const std::vector<std::string> all{
      "B/2026-09/subscription",  "a/2026-08/action_required", "a/2026-08/capped",
      "a/2026-08/parked",        "a/2026-08/processing",      "a/2026-08/rejected",
      "a/2026-08/uncollectible", "aa/2026-08/subscription",   "b/2026-07/subscription"};
  EXPECT_EQ(this->names(reader->attention_rows({}, 100)), all);
  EXPECT_EQ(this->names(reader->attention_rows({}, 3)),
            (std::vector<std::string>{all[0], all[1], all[2]}));
  EXPECT_EQ(this->names(reader->attention_rows(key("a", "2026-08", "rejected"), 100)),
            (std::vector<std::string>{all[6], all[7], all[8]}));
  this->put(row_in(key("b", "2026-07"), ObligationStatus::completed), RowWrite::Kind::update);
  alarm.reason.clear();
  this->put(alarm, RowWrite::Kind::update);
  EXPECT_TRUE(
      this->names(reader->attention_rows(key("a", "2026-08", "uncollectible"), 100)).empty());
}

TYPED_TEST_P(JournalRowConformance, ListsACompletedRowWhoseReasonIsAnAlarm) {
  ObligationRow row = row_in(key("a"), ObligationStatus::completed);
  row.reason = "duplicate_payment ch_2";
  this->put(row);
  ObligationRow waived = row_in(key("b"), ObligationStatus::waived);
  waived.reason = "no_charge_due";
  this->put(waived);
  const auto reader = this->reader();
  EXPECT_EQ(this->names(reader->attention_rows({}, 100)),
            std::vector<std::string>{to_display(row.key)});
  row.reason.clear();
  this->put(row, RowWrite::Kind::update);
  EXPECT_TRUE(this->names(reader->attention_rows({}, 100)).empty());
}

TYPED_TEST_P(JournalRowConformance, AMarkLivesUntilItsTime) {
  EXPECT_EQ(name_of(this->put_mark("first", Timestamp{0}, Timestamp{100})), "stored");
  EXPECT_EQ(name_of(this->put_mark("second", Timestamp{99}, Timestamp{300})), "mark");
  const auto reader = this->reader();
  EXPECT_EQ(reader->mark("caller", "key", Timestamp{99}).value().value().fingerprint, "first");
  EXPECT_FALSE(*reader->mark("caller", "key", Timestamp{100}));
  EXPECT_FALSE(*reader->mark("caller", "other", Timestamp{0}));
  EXPECT_FALSE(*reader->mark("webhook", "key", Timestamp{0}));
  EXPECT_EQ(name_of(this->put_mark("second", Timestamp{100}, Timestamp{300})), "stored");
  EXPECT_EQ(reader->mark("caller", "key", Timestamp{100}).value().value().fingerprint, "second");
  EXPECT_EQ(reader->stats().value().marks, 1U);
}

TYPED_TEST_P(JournalRowConformance, AMarkWithoutATimeLivesForEver) {
  EXPECT_EQ(name_of(this->put_mark("first", Timestamp{0}, std::nullopt)), "stored");
  const Timestamp far{std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(name_of(this->put_mark("second", far, std::nullopt)), "mark");
  EXPECT_TRUE(*this->reader()->mark("caller", "key", far));
}

REGISTER_TYPED_TEST_SUITE_P(JournalRowConformance, RoundTripsEveryMemberInEveryStatus,
                            AnUpdateRewritesTheWholeRow, CountsOpenRowsOverEveryChangeOfStatus,
                            AnswersAnAbsentRowWithNothing, ListsACustomerByPeriodAndPurpose,
                            ListsAPeriodInPagesAndByStatus, FindsDueRowsEarliestFirst,
                            FindsAClosedRowWhoseEntityOwesALookUp,
                            FindsOpenRowsOfOlderEpochsInPages,
                            ListsWhatAPersonMayHaveToLookAtInPages,
                            ListsACompletedRowWhoseReasonIsAnAlarm, AMarkLivesUntilItsTime,
                            AMarkWithoutATimeLivesForEver);

}  // namespace onceward::journal::testing
