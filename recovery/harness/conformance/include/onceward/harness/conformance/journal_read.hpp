// Conformance of a journal, part 5: replay of one and of many, bounds, scan, snapshots, quarantine
// and counts.
#pragma once

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

template <class Backend>
class JournalReadConformance : public JournalFixture<Backend> {};
TYPED_TEST_SUITE_P(JournalReadConformance);

TYPED_TEST_P(JournalReadConformance, RepliesToAnUnknownIdWithAnEmptyHistory) {
  const auto end = this->reader()->replay(entity("nobody"), {}, [](auto&&...) { return true; });
  ASSERT_TRUE(end.has_value());
  const ShardNr shard = shard_of(entity("nobody"), TypeParam::shards);
  EXPECT_EQ(*end, (HistoryEnd{{}, {}, this->journal().epoch_of(shard)}));
}

TYPED_TEST_P(JournalReadConformance, ReplaysInOrderFromAnyPlaceAndStopsWhenAsked) {
  for (int n = 1; n <= 10; ++n) {
    this->store(this->unit(entity("a"), {std::to_string(n)}));
    this->store(this->unit(entity("b"), {std::to_string(-n)}));
  }
  EXPECT_EQ(this->payloads(entity("a"), SequenceNr{8}), (std::vector<std::string>{"9", "10"}));
  EXPECT_TRUE(this->payloads(entity("a"), SequenceNr{10}).empty());
  EXPECT_TRUE(this->payloads(entity("a"), SequenceNr{11}).empty());
  std::vector<std::uint64_t> seen;
  const auto end =
      this->reader()->replay(entity("a"), {}, [&](const PersistenceId& id, StoredEvent&& event) {
        EXPECT_EQ(id, entity("a"));
        seen.push_back(event.sequence_nr.value);
        return seen.size() < 3;
      });
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->last, SequenceNr{10});
  EXPECT_EQ(end->head, this->history(entity("a")).back().head);
}

TYPED_TEST_P(JournalReadConformance, ReplaysManyInTheOrderGiven) {
  std::vector<PersistenceId> ids;
  std::vector<CommitUnit> group;
  for (int n = 0; n < 1203; ++n) {
    const PersistenceId id = entity("c" + std::to_string((n * 7919) % 1203) + R"('"\%)");
    ids.push_back(id);
    if (n % 10 == 0) continue;  // unknown ids are among them
    CommitUnit unit = this->unit(id);
    for (int event = 0; event <= n % 3; ++event)
      unit.events.push_back({{"E", 1}, std::to_string(n)});
    group.push_back(unit);
  }
  this->commit(group);
  ids.push_back(ids[1]);  // asked twice: answered twice
  std::vector<PersistenceId> done;
  std::vector<std::uint64_t> seen;
  this->reader()->replay_many(
      ids,
      [&](const PersistenceId& id, StoredEvent&& event) {
        EXPECT_EQ(id, ids[done.size()]);
        seen.push_back(event.sequence_nr.value);
        return true;
      },
      [&](const PersistenceId& id, Result<HistoryEnd> end) {
        ASSERT_TRUE(end.has_value()) << end.error().context;
        const std::size_t n = done.size() == 1203 ? 1 : done.size();
        EXPECT_EQ(end->last.value, n % 10 == 0 ? 0 : n % 3 + 1);
        EXPECT_EQ(end->epoch, this->journal().epoch_of(shard_of(id, TypeParam::shards)));
        ASSERT_EQ(seen.size(), end->last.value);
        for (std::size_t at = 0; at < seen.size(); ++at) EXPECT_EQ(seen[at], at + 1);
        seen.clear();
        done.push_back(id);
      });
  EXPECT_EQ(done, ids);
}

TYPED_TEST_P(JournalReadConformance, ReplayOfManyMayStopOneHistoryEarly) {
  this->store(this->unit(entity("a"), {"1", "2", "3"}));
  this->store(this->unit(entity("b"), {"1", "2"}));
  std::map<PersistenceId, int> seen;
  std::vector<HistoryEnd> ends;
  this->reader()->replay_many(
      std::vector{entity("a"), entity("b")},
      [&](const PersistenceId& id, StoredEvent&&) { return ++seen[id] < 1 || id == entity("b"); },
      [&](const PersistenceId&, Result<HistoryEnd> end) { ends.push_back(end.value()); });
  EXPECT_EQ(seen[entity("a")], 1);
  EXPECT_EQ(seen[entity("b")], 2);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].last, SequenceNr{3});
}

TYPED_TEST_P(JournalReadConformance, ScansAllEventsInCommitOrder) {
  std::vector<CommitUnit> group;
  for (int n = 1; n <= 1500; ++n) {
    group.push_back(this->unit(entity("e" + std::to_string(n)), {std::to_string(n)}));
    if (n % 100 == 0) this->commit(std::exchange(group, {}));
  }
  std::vector<std::string> seen;
  const auto sink = [&](std::uint64_t position, const PersistenceId& id, StoredEvent&& event) {
    EXPECT_EQ(std::to_string(position), event.event.payload);
    EXPECT_EQ(id, entity("e" + std::to_string(position)));
    seen.push_back(event.event.payload);
    return seen.size() < 1200;
  };
  const auto reader = this->reader();
  EXPECT_EQ(reader->scan(0, sink).value(), 1200U);
  EXPECT_EQ(reader->scan(1200, sink).value(), 1201U) << "stopped at once: the sink said so";
  EXPECT_EQ(reader->scan(1500, sink).value(), 1500U);
  EXPECT_EQ(seen.size(), 1201U);
}

TYPED_TEST_P(JournalReadConformance, KeepsTheNewestSnapshotOnly) {
  EXPECT_FALSE(*this->reader()->snapshot(entity("a")));
  CommitUnit unit = this->unit(entity("a"), {"1", "2"});
  unit.snapshot = SnapshotRecord{3, R"({"issued":["2026-08"]})"};
  const Stored first = this->store(unit);
  EXPECT_EQ(this->reader()->snapshot(entity("a")).value(),
            (StoredSnapshot{first.last, first.head, *unit.snapshot}));
  unit = this->unit(entity("a"));
  unit.snapshot = SnapshotRecord{4, std::string(200'000, 's')};
  this->store(unit);
  this->store(this->unit(entity("a"), {"3"}));
  EXPECT_EQ(this->reader()->snapshot(entity("a")).value(),
            (StoredSnapshot{first.last, first.head, *unit.snapshot}));
  EXPECT_FALSE(*this->reader()->snapshot(entity("b")));
}

TYPED_TEST_P(JournalReadConformance, QuarantinesUntilItIsLifted) {
  const auto quarantine = [&](const char* name, const char* reason, std::int64_t at) {
    return this->journal().quarantine(entity(name), reason, Timestamp{at}).has_value();
  };
  EXPECT_TRUE(quarantine("b", "broken chain", 5));
  EXPECT_TRUE(quarantine("a", "unknown event", 6));
  EXPECT_TRUE(quarantine("b", "again", 7));
  EXPECT_FALSE(quarantine("bad id", "x", 1));
  EXPECT_FALSE(quarantine("a", "\xff", 1));
  this->backend().reopen();
  EXPECT_EQ(this->reader()->quarantined().value(),
            (std::vector<Quarantined>{{entity("a"), "unknown event", Timestamp{6}},
                                      {entity("b"), "broken chain", Timestamp{5}}}));
  EXPECT_EQ(this->reader()->stats().value().quarantined, 2U);
  EXPECT_TRUE(this->journal().lift_quarantine(entity("b")).has_value());
  EXPECT_TRUE(this->journal().lift_quarantine(entity("nobody")).has_value());
  EXPECT_EQ(this->reader()->quarantined().value().size(), 1U);
}

TYPED_TEST_P(JournalReadConformance, AReaderSeesEachCommitAtOnce) {
  const auto reader = this->reader();
  for (int n = 1; n <= 3; ++n) {
    CommitUnit unit = this->unit(entity("a"), {std::to_string(n)});
    unit.marks.push_back({"m", std::to_string(n), "", std::nullopt});
    this->store(unit);
    EXPECT_EQ(reader->stats().value().events, static_cast<std::uint64_t>(n));
    EXPECT_TRUE(*reader->mark("m", std::to_string(n), this->now));
  }
}

TYPED_TEST_P(JournalReadConformance, ASinkMayUseTheJournalAndOtherReaders) {
  this->store(this->unit(entity("a"), {"1", "2"}));
  int seen = 0;
  const auto end =
      this->reader()->replay(entity("a"), {}, [&](const PersistenceId&, StoredEvent&&) {
        this->store(this->unit(entity("a"), {"9"}));
        EXPECT_GE(this->history(entity("a")).size(), 3U);
        return ++seen < 10;
      });
  ASSERT_TRUE(end.has_value()) << end.error().context;
  EXPECT_EQ(seen, 2) << "a replay shows the history as it was when it began";
  EXPECT_EQ(end->last, SequenceNr{2});
}

REGISTER_TYPED_TEST_SUITE_P(JournalReadConformance, RepliesToAnUnknownIdWithAnEmptyHistory,
                            ReplaysInOrderFromAnyPlaceAndStopsWhenAsked, ReplaysManyInTheOrderGiven,
                            ReplayOfManyMayStopOneHistoryEarly, ScansAllEventsInCommitOrder,
                            KeepsTheNewestSnapshotOnly, QuarantinesUntilItIsLifted,
                            AReaderSeesEachCommitAtOnce, ASinkMayUseTheJournalAndOtherReaders);

}  // namespace onceward::journal::testing
