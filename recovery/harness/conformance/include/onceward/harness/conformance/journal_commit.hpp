// Conformance of a journal, part 1: what commit() stores, what it refuses, in which order it
// checks, and that a refused unit leaves nothing and harms nobody.
#pragma once

#include <onceward/core/chain.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

template <class Backend>
class JournalCommitConformance : public JournalFixture<Backend> {
 protected:
  /// A unit that would be stored, with one part of each kind.
  CommitUnit full_unit(const std::string& name) {
    CommitUnit made = this->unit(entity(name), {R"({"a":1})", R"({"b":2})"});
    made.rows.push_back(claim(open_row(key(name))));
    made.marks.push_back({"caller", "key-" + name, "print", std::nullopt});
    made.caps.push_back(cap(CapOp::Kind::reserve, key(name), usd(100)));
    made.limits.push_back({period(), CustomerId(name), usd(1000)});
    made.snapshot = SnapshotRecord{1, "{}"};
    return made;
  }

  void expect_nothing_of(const std::string& name) {
    EXPECT_TRUE(this->history(entity(name)).empty());
    EXPECT_FALSE(this->row(key(name)));
    const auto reader = this->reader();
    EXPECT_FALSE(*reader->mark("caller", "key-" + name, this->now));
    EXPECT_FALSE(*reader->snapshot(entity(name)));
    const auto uses = reader->cap_use(period());
    for (const CapUse& use : *uses) {
      EXPECT_NE(use.customer, CustomerId(name));
      EXPECT_EQ(use.reserved_minor, 0);
    }
  }
};
TYPED_TEST_SUITE_P(JournalCommitConformance);

TYPED_TEST_P(JournalCommitConformance, StoresEventsWithEverythingThatWasGiven) {
  CommitUnit unit = this->unit(entity("a"), {R"({"n":1})", R"({"text":"žluťoučký 💶"})"});
  unit.events[1].manifest = {"Other", 7};
  unit.at = Timestamp{-5};
  const Stored end = this->store(unit);
  EXPECT_EQ(end.last, SequenceNr{2});

  const auto events = this->history(entity("a"));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].sequence_nr, SequenceNr{1});
  EXPECT_EQ(events[1].sequence_nr, SequenceNr{2});
  EXPECT_EQ(events[0].event, unit.events[0]);
  EXPECT_EQ(events[1].event, unit.events[1]);
  EXPECT_EQ(events[1].epoch, unit.epoch);
  EXPECT_EQ(events[1].writer, unit.writer);
  EXPECT_EQ(events[1].at, unit.at);
  EXPECT_EQ(events[1].head, end.head);
}

TYPED_TEST_P(JournalCommitConformance, ChainsEventsAsTheFormatSays) {
  CommitUnit unit = this->unit(entity("cust_12"), {R"({"a":1})", R"({"a":2})"});
  for (EncodedEvent& event : unit.events) event.manifest = {"BillingInitiated", 1};
  unit.writer = WriterId("writer1");
  while (unit.epoch < Epoch{3}) {  // the worked example of the format is written under epoch 3
    unit.epoch = this->journal().barrier().value();
  }
  ASSERT_EQ(unit.epoch, Epoch{3});
  EXPECT_EQ(to_hex(this->store(unit).head),
            "893aedc10b3bcc6b96796390a70819c3d912a38abdedd32d3d362234186956ed");
  EXPECT_EQ(to_hex(this->history(entity("cust_12")).at(0).head),
            "d38c7d2f3fbe148a0391f86f15e9ff01e41b5e80c601431e92261d97ca50de8b");
}

TYPED_TEST_P(JournalCommitConformance, ContinuesAHistoryAcrossUnitsAndRestarts) {
  this->store(this->unit(entity("a"), {"1"}));
  this->store(this->unit(entity("a"), {"2", "3"}));
  this->backend().reopen();
  this->store(this->unit(entity("a"), {"4"}));
  EXPECT_EQ(this->payloads(entity("a")), (std::vector<std::string>{"1", "2", "3", "4"}));
}

TYPED_TEST_P(JournalCommitConformance, StoresAllPartsOfAUnitTogether) {
  const Stored end = this->store(this->full_unit("a"));
  this->backend().reopen();
  EXPECT_EQ(this->history(entity("a")).size(), 2U);
  EXPECT_EQ(this->row(key("a")), open_row(key("a")));
  const auto reader = this->reader();
  EXPECT_EQ(reader->mark("caller", "key-a", this->now).value().value().fingerprint, "print");
  const auto snapshot = reader->snapshot(entity("a")).value();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(*snapshot, (StoredSnapshot{end.last, end.head, {1, "{}"}}));
  const auto uses = reader->cap_use(period()).value();
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].reserved_minor, 100);
  EXPECT_EQ(uses[1].customer, CustomerId("a"));
}

TYPED_TEST_P(JournalCommitConformance, TakesAUnitWithoutEventsAndFencesItAlike) {
  CommitUnit only_mark = this->unit(entity("a"));
  only_mark.marks.push_back({"webhook", "evt_1", "", std::nullopt});
  EXPECT_EQ(this->store(only_mark), (Stored{}));
  this->store(this->unit(entity("a"), {"1"}));
  only_mark.marks[0].key = "evt_2";
  EXPECT_EQ(name_of(this->commit_one(only_mark)), "fenced by sequence");
  EXPECT_FALSE(*this->reader()->mark("webhook", "evt_2", this->now));
}

TYPED_TEST_P(JournalCommitConformance, FencesAnotherSequenceNumberOrHead) {
  this->store(this->unit(entity("a"), {"1", "2"}));
  CommitUnit unit = this->full_unit("a");
  unit.expected = SequenceNr{1};
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by sequence");
  unit.expected = SequenceNr{3};
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by sequence");
  unit.expected = SequenceNr{2};
  unit.head.bytes[31] ^= 1;
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by sequence");
  CommitUnit fresh = this->full_unit("b");
  fresh.head.bytes[0] = 1;
  EXPECT_EQ(name_of(this->commit_one(fresh)), "fenced by sequence");
  EXPECT_EQ(this->history(entity("a")).size(), 2U);
  this->expect_nothing_of("b");
}

TYPED_TEST_P(JournalCommitConformance, StoresOnlyOneOfTwoWritersAtTheSameEnd) {
  this->store(this->unit(entity("a"), {"1"}));
  const CommitUnit first = this->unit(entity("a"), {"2"});
  CommitUnit second = this->unit(entity("a"), {"20"});
  second.writer = WriterId("writer-2");
  const auto answers = this->commit({first, second});
  EXPECT_EQ(name_of(answers[0]), "stored");
  EXPECT_EQ(name_of(answers[1]), "fenced by sequence");
  EXPECT_EQ(this->payloads(entity("a")), (std::vector<std::string>{"1", "2"}));
}

TYPED_TEST_P(JournalCommitConformance, FencesAnOlderAndAnUnheardOfEpoch) {
  CommitUnit unit = this->full_unit("a");
  const Epoch present = unit.epoch;
  unit.epoch = Epoch{present.value - 1};
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by epoch");
  unit.epoch = Epoch{present.value + 1};
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by epoch");
  this->expect_nothing_of("a");
}

TYPED_TEST_P(JournalCommitConformance, FencesAfterTheShardWasTakenButNotOtherShards) {
  const std::string here = "a";
  std::string elsewhere = "b";
  while (shard_of(entity(elsewhere), TypeParam::shards) ==
         shard_of(entity(here), TypeParam::shards)) {
    elsewhere += "b";
  }
  const CommitUnit old_here = this->unit(entity(here), {"1"});
  const CommitUnit old_elsewhere = this->unit(entity(elsewhere), {"1"});
  const auto raised = this->journal().raise_epoch(old_here.shard);
  ASSERT_TRUE(raised.has_value());
  EXPECT_GT(*raised, old_here.epoch);
  EXPECT_EQ(this->journal().epoch_of(old_here.shard), *raised);
  EXPECT_EQ(this->journal().epoch_of(old_elsewhere.shard), old_elsewhere.epoch);
  EXPECT_EQ(name_of(this->commit_one(old_here)), "fenced by epoch");
  EXPECT_EQ(name_of(this->commit_one(old_elsewhere)), "stored");
  EXPECT_EQ(name_of(this->commit_one(this->unit(entity(here), {"1"}))), "stored");
}

TYPED_TEST_P(JournalCommitConformance, RaisesAllEpochsAtARestart) {
  const CommitUnit before = this->unit(entity("a"), {"1"});
  this->backend().reopen();
  EXPECT_GT(this->journal().epoch_of(before.shard), before.epoch);
  EXPECT_EQ(name_of(this->commit_one(before)), "fenced by epoch");
  EXPECT_FALSE(this->journal().raise_epoch(ShardNr{TypeParam::shards}).has_value());
}

TYPED_TEST_P(JournalCommitConformance, RefusesAClaimThatExistsAndShowsTheRow) {
  this->store(this->full_unit("a"));
  CommitUnit again = this->unit(entity("other"), {"1"});
  ObligationRow row = open_row(key("a"));
  row.amount = usd(1);
  again.rows.push_back(claim(row));
  const CommitAnswer answer = this->commit_one(again);
  ASSERT_TRUE(is<ClaimRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<ClaimRefused>(answer).existing, open_row(key("a")));
  EXPECT_TRUE(this->history(entity("other")).empty());
  EXPECT_EQ(this->row(key("a")), open_row(key("a")));
}

TYPED_TEST_P(JournalCommitConformance, TellsApartPeriodsPurposesAndCustomers) {
  CommitUnit unit = this->unit(entity("a"), {"1"});
  for (const ObligationKey& one : {key("a"), key("a", "2026-09"), key("a", "2026-08", "setup"),
                                   key("A"), key("a2"), key("a", "2026")}) {
    unit.rows.push_back(claim(open_row(one)));
  }
  this->store(unit);
  EXPECT_EQ(this->reader()->stats().value().obligations, 6U);
}

TYPED_TEST_P(JournalCommitConformance, RefusesAMarkThatExistsAndShowsIt) {
  this->store(this->full_unit("a"));
  CommitUnit again = this->full_unit("b");
  again.marks.push_back({"caller", "key-a", "another", std::nullopt});
  const CommitAnswer answer = this->commit_one(again);
  ASSERT_TRUE(is<MarkRefused>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<MarkRefused>(answer).existing,
            (Mark{"caller", "key-a", "print", std::nullopt}));
  EXPECT_TRUE(this->history(entity("b")).empty());
  EXPECT_FALSE(this->row(key("b")));
  EXPECT_EQ(this->reader()->cap_use(period()).value().size(), 2U) << "no limit of b";
}

TYPED_TEST_P(JournalCommitConformance, ChecksInTheStatedOrder) {
  this->store(this->full_unit("a"));
  // Each unit breaks all rules from one on; peeling them off shows them in order.
  CommitUnit unit = this->unit(entity("a"), {"not json"});
  const Epoch present = unit.epoch;
  unit.epoch = Epoch{0};
  unit.expected = SequenceNr{9};
  unit.rows.push_back(claim(open_row(key("a"))));
  unit.marks.push_back({"caller", "key-a", "print", std::nullopt});
  unit.caps.push_back(cap(CapOp::Kind::reserve, key("a", "2026-08", "more"), usd(100'000)));
  EXPECT_TRUE(is<InvalidUnit>(this->commit_one(unit)));
  unit.events[0].payload = "3";
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by epoch");
  unit.epoch = present;
  EXPECT_EQ(name_of(this->commit_one(unit)), "fenced by sequence");
  unit.expected = SequenceNr{2};
  EXPECT_EQ(name_of(this->commit_one(unit)), "claim");
  unit.rows[0].row.key = key("a", "2026-09");
  EXPECT_EQ(name_of(this->commit_one(unit)), "mark");
  unit.marks[0].key = "key-new";
  EXPECT_EQ(name_of(this->commit_one(unit)), "cap");
  unit.caps[0].amount = usd(1);
  EXPECT_EQ(name_of(this->commit_one(unit)), "stored");
}

TYPED_TEST_P(JournalCommitConformance, LeavesTheNeighboursOfRefusedUnitsUnharmed) {
  this->store(this->full_unit("a"));
  CommitUnit claim_again = this->unit(entity("x1"), {"1"});
  claim_again.rows.push_back(claim(open_row(key("a"))));
  CommitUnit invalid = this->unit(entity("x2"), {"{"});
  CommitUnit mark_again = this->full_unit("x3");
  mark_again.marks[0].key = "key-a";
  CommitUnit over_cap = this->full_unit("x4");
  over_cap.caps[0].amount = usd(1001);
  CommitUnit stale = this->full_unit("x5");
  stale.epoch = Epoch{0};
  CommitUnit behind = this->unit(entity("a"), {"1"});
  behind.expected = SequenceNr{1};
  CommitUnit absent = this->unit(entity("x6"), {"1"});
  absent.rows.push_back(update(open_row(key("x6"))));

  std::vector<CommitUnit> group;
  std::vector<std::string> good;
  for (const CommitUnit& bad :
       {claim_again, invalid, mark_again, over_cap, stale, behind, absent}) {
    good.push_back("good" + std::to_string(good.size()));
    group.push_back(this->full_unit(good.back()));
    group.push_back(bad);
  }
  const auto answers = this->commit(group);
  for (std::size_t at = 0; at < answers.size(); ++at) {
    EXPECT_EQ(is<Stored>(answers[at]), at % 2 == 0) << at << " " << name_of(answers[at]);
  }
  this->backend().reopen();
  for (const std::string& name : good) {
    EXPECT_EQ(this->history(entity(name)).size(), 2U);
    EXPECT_EQ(this->row(key(name)), open_row(key(name)));
  }
  for (const char* name : {"x1", "x2", "x3", "x4", "x5", "x6"}) {
    EXPECT_TRUE(this->history(entity(name)).empty()) << name;
    EXPECT_FALSE(this->row(key(name))) << name;
  }
  EXPECT_EQ(this->reader()->cap_use(period()).value().at(0).reserved_minor, 800);
}

TYPED_TEST_P(JournalCommitConformance, ShowsALaterUnitWhatAnEarlierOneOfTheGroupStored) {
  CommitUnit first = this->full_unit("a");
  CommitUnit same_claim = this->unit(entity("b"), {"1"});
  same_claim.rows.push_back(claim(open_row(key("a"))));
  CommitUnit same_mark = this->unit(entity("c"), {"1"});
  same_mark.marks = first.marks;
  CommitUnit updates = this->unit(entity("d"), {"1"});
  updates.rows.push_back(update(row_in(key("a"), ObligationStatus::completed)));
  CommitUnit over_cap = this->unit(entity("e"), {"1"});
  over_cap.caps.push_back(cap(CapOp::Kind::reserve, key("a"), usd(901), 2));
  const auto answers = this->commit({first, same_claim, same_mark, updates, over_cap});
  EXPECT_EQ(name_of(answers[0]), "stored");
  EXPECT_EQ(name_of(answers[1]), "claim");
  EXPECT_EQ(name_of(answers[2]), "mark");
  EXPECT_EQ(name_of(answers[3]), "stored");
  ASSERT_EQ(name_of(answers[4]), "cap");
  EXPECT_EQ(std::get<CapRefused>(answers[4]).used_minor, 100);
  EXPECT_EQ(this->row(key("a"))->status, ObligationStatus::completed);
}

TYPED_TEST_P(JournalCommitConformance, AnswersAnEmptyGroupWithNothing) {
  EXPECT_TRUE(this->commit({}).empty());
  EXPECT_EQ(this->reader()->stats().value().commit_count, 0U);
}

TYPED_TEST_P(JournalCommitConformance, CountsGroupsThatStoredSomething) {
  this->commit({this->full_unit("a"), this->full_unit("b")});
  this->commit({this->unit(entity("c"), {"{"})});
  this->store(this->unit(entity("a"), {"1"}));
  EXPECT_EQ(this->reader()->stats().value().commit_count, 2U);
}

REGISTER_TYPED_TEST_SUITE_P(JournalCommitConformance, StoresEventsWithEverythingThatWasGiven,
                            ChainsEventsAsTheFormatSays, ContinuesAHistoryAcrossUnitsAndRestarts,
                            StoresAllPartsOfAUnitTogether, TakesAUnitWithoutEventsAndFencesItAlike,
                            FencesAnotherSequenceNumberOrHead,
                            StoresOnlyOneOfTwoWritersAtTheSameEnd, FencesAnOlderAndAnUnheardOfEpoch,
                            FencesAfterTheShardWasTakenButNotOtherShards, RaisesAllEpochsAtARestart,
                            RefusesAClaimThatExistsAndShowsTheRow,
                            TellsApartPeriodsPurposesAndCustomers, RefusesAMarkThatExistsAndShowsIt,
                            ChecksInTheStatedOrder, LeavesTheNeighboursOfRefusedUnitsUnharmed,
                            ShowsALaterUnitWhatAnEarlierOneOfTheGroupStored,
                            AnswersAnEmptyGroupWithNothing, CountsGroupsThatStoredSomething);

}  // namespace onceward::journal::testing
