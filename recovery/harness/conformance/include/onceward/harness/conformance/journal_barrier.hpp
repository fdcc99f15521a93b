// Conformance of a journal, part 6: a commit that was not answered, and the barrier that decides
// it.
#pragma once

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

template <class Backend>
class JournalBarrierConformance : public JournalFixture<Backend> {
 protected:
  /// Commits a group whose commit fails; returns the answers.
  std::vector<CommitAnswer> commit_broken(const std::vector<CommitUnit>& units) {
    this->backend().break_next_commit();
    return this->commit(units);
  }
  template <class T>
  static void expect_uncertain(const Result<T>& answer) {
    if (answer.has_value()) return void(ADD_FAILURE() << "it was answered before the barrier");
    EXPECT_EQ(answer.error().code, ErrorCode::store_uncertain) << answer.error().context;
  }
};
TYPED_TEST_SUITE_P(JournalBarrierConformance);

TYPED_TEST_P(JournalBarrierConformance, AnswersUnknownForAllButMalformedUnits) {
  this->store(this->unit(entity("a"), {"1"}));
  CommitUnit fenced = this->unit(entity("b"), {"1"});
  fenced.epoch = Epoch{0};
  const auto answers =
      this->commit_broken({this->unit(entity("a"), {"2"}), this->unit(entity("c"), {"{"}), fenced});
  EXPECT_TRUE(is<CommitUnknown>(answers[0])) << name_of(answers[0]);
  EXPECT_TRUE(is<InvalidUnit>(answers[1])) << name_of(answers[1]);
  EXPECT_TRUE(is<CommitUnknown>(answers[2])) << name_of(answers[2]);
  EXPECT_TRUE(this->journal().barrier_pending());
}

TYPED_TEST_P(JournalBarrierConformance, NobodyWritesOrReadsUntilTheBarrier) {
  this->store(this->unit(entity("a"), {"1"}));
  const auto reader = this->reader();
  (void)this->commit_broken({this->unit(entity("a"), {"2"})});
  EXPECT_TRUE(is<CommitUnknown>(this->commit_one(this->unit(entity("b"), {"1"}))));
  EXPECT_FALSE(this->journal().raise_epoch(ShardNr{0}).has_value());
  EXPECT_FALSE(this->journal().quarantine(entity("a"), "x", this->now).has_value());
  EXPECT_FALSE(this->journal().lift_quarantine(entity("a")).has_value());

  const auto any = [](auto&&...) { return true; };
  this->expect_uncertain(reader->replay(entity("a"), {}, any));
  int done = 0;
  reader->replay_many(std::vector{entity("a"), entity("b")}, any,
                      [&](const PersistenceId&, Result<HistoryEnd> end) {
                        this->expect_uncertain(end);
                        ++done;
                      });
  EXPECT_EQ(done, 2);
  this->expect_uncertain(reader->scan(0, any));
  this->expect_uncertain(reader->snapshot(entity("a")));
  this->expect_uncertain(reader->row(key("a")));
  this->expect_uncertain(reader->rows_of(CustomerId("a")));
  this->expect_uncertain(reader->rows(RowQuery{}));
  this->expect_uncertain(reader->due(this->now, 1));
  this->expect_uncertain(reader->open_before(Epoch{9}, {}, 1));
  this->expect_uncertain(reader->mark("a", "b", this->now));
  this->expect_uncertain(reader->cap_use(period()));
  this->expect_uncertain(reader->quarantined());
  this->expect_uncertain(reader->stats());

  ASSERT_TRUE(this->journal().barrier().has_value());
  EXPECT_FALSE(this->journal().barrier_pending());
  EXPECT_TRUE(reader->stats().has_value()) << "the same reader works again";
}

TYPED_TEST_P(JournalBarrierConformance, DecidesForGoodAndFencesWhatWasWrittenBefore) {
  this->store(this->unit(entity("a"), {"1"}));
  const CommitUnit doubtful = this->unit(entity("a"), {"2"});
  const CommitUnit waiting = this->unit(entity("b"), {"1"});
  (void)this->commit_broken({doubtful});
  const auto raised = this->journal().barrier();
  ASSERT_TRUE(raised.has_value()) << raised.error().context;
  for (std::uint32_t shard = 0; shard < TypeParam::shards; ++shard) {
    EXPECT_EQ(this->journal().epoch_of(ShardNr{shard}), *raised);
  }
  EXPECT_GT(*raised, doubtful.epoch);
  EXPECT_EQ(name_of(this->commit_one(waiting)), "fenced by epoch");

  const auto decided = this->payloads(entity("a"));
  this->backend().reopen();
  EXPECT_EQ(this->payloads(entity("a")), decided);
  this->follow(entity("a"));
  this->store(this->unit(entity("a"), {"3"}));
  EXPECT_EQ(this->payloads(entity("a")).back(), "3");
}

TYPED_TEST_P(JournalBarrierConformance, OnlyRaisesTheEpochIfNothingIsPending) {
  const CommitUnit before = this->unit(entity("a"), {"1"});
  const auto raised = this->journal().barrier();
  ASSERT_TRUE(raised.has_value());
  EXPECT_GT(*raised, before.epoch);
  EXPECT_EQ(name_of(this->commit_one(before)), "fenced by epoch");
  EXPECT_EQ(name_of(this->commit_one(this->unit(entity("a"), {"1"}))), "stored");
}

TYPED_TEST_P(JournalBarrierConformance, AGroupThatStoresNothingNeedsNoBarrier) {
  CommitUnit fenced = this->unit(entity("a"), {"1"});
  fenced.epoch = Epoch{0};
  EXPECT_EQ(name_of(this->commit_broken({fenced}).at(0)), "fenced by epoch");
  EXPECT_FALSE(this->journal().barrier_pending());
}

REGISTER_TYPED_TEST_SUITE_P(JournalBarrierConformance, AnswersUnknownForAllButMalformedUnits,
                            NobodyWritesOrReadsUntilTheBarrier,
                            DecidesForGoodAndFencesWhatWasWrittenBefore,
                            OnlyRaisesTheEpochIfNothingIsPending,
                            AGroupThatStoresNothingNeedsNoBarrier);

}  // namespace onceward::journal::testing
