// Conformance of a journal, part 2: units that are wrong in themselves, and hostile texts that are
// right. Nothing of a wrong unit is written.
#pragma once

#include <functional>

#include <onceward/harness/conformance/journal_fixture.hpp>

namespace onceward::journal::testing {

template <class Backend>
class JournalShapeConformance : public JournalFixture<Backend> {
 protected:
  /// Expects InvalidUnit, and that a good unit of the same entity is stored afterwards.
  void expect_invalid(const std::string& what, const std::function<void(CommitUnit&)>& spoil) {
    CommitUnit unit = this->unit(entity("a"), {"1"});
    unit.rows.push_back(claim(open_row(key("a"))));
    unit.marks.push_back({"caller", "key", "", std::nullopt});
    unit.caps.push_back(cap(CapOp::Kind::reserve, key("a"), usd(1)));
    spoil(unit);
    const CommitAnswer answer = this->commit_one(unit);
    ASSERT_TRUE(is<InvalidUnit>(answer)) << what << ": " << name_of(answer);
    EXPECT_FALSE(std::get<InvalidUnit>(answer).error.context.empty());
    EXPECT_TRUE(this->history(entity("a")).empty()) << what;
    EXPECT_FALSE(this->row(key("a"))) << what;
    EXPECT_FALSE(*this->reader()->mark("caller", "key", this->now)) << what;
    EXPECT_TRUE(this->reader()->cap_use(period())->empty()) << what;
    EXPECT_EQ(this->reader()->stats()->commit_count, 0U) << what;
  }

  static std::string json_of(std::size_t bytes) { return '"' + std::string(bytes - 2, 'x') + '"'; }
};
TYPED_TEST_SUITE_P(JournalShapeConformance);

TYPED_TEST_P(JournalShapeConformance, StoresAPayloadOfOneMebibyteAndRefusesOneByteMore) {
  this->expect_invalid("one byte more", [](CommitUnit& unit) {
    unit.events.push_back({{"Big", 1}, TestFixture::json_of(event_payload_bytes_max + 1)});
  });
  this->store(this->unit(entity("a"), {this->json_of(event_payload_bytes_max)}));
  this->backend().reopen();
  EXPECT_EQ(this->payloads(entity("a")).at(0), this->json_of(event_payload_bytes_max));
}

TYPED_TEST_P(JournalShapeConformance, RefusesPayloadsThatAreNotJson) {
  for (const std::string& payload :
       {std::string(), std::string("{"), std::string("nul"), std::string("{}x"),
        std::string("\"a\0b\"", 5), std::string("\"\xff\""), std::string("\"\xed\xa0\x80\""),
        std::string("01"), std::string("[1,]"), std::string(100, '[') + std::string(100, ']')}) {
    this->expect_invalid(payload, [&](CommitUnit& unit) { unit.events[0].payload = payload; });
  }
}

TYPED_TEST_P(JournalShapeConformance, RefusesBadManifests) {
  const auto spoil_by = [](Manifest manifest) {
    return [manifest](CommitUnit& unit) { unit.events[0].manifest = manifest; };
  };
  this->expect_invalid("no name", spoil_by({"", 1}));
  this->expect_invalid("blank", spoil_by({"A b", 1}));
  this->expect_invalid("long", spoil_by({std::string(129, 'a'), 1}));
  this->expect_invalid("version 0", spoil_by({"A", 0}));
}

TYPED_TEST_P(JournalShapeConformance, RefusesBadPersistenceIdsAndShards) {
  for (const std::string& id :
       {std::string(), std::string("a b"), std::string("a\nb"), std::string("\xc3\xa9"),
        std::string("a\0b", 3), std::string(256, 'a')}) {
    CommitUnit unit = this->unit(entity("a"), {"1"});
    unit.persistence_id = PersistenceId(id);
    unit.shard = shard_of(unit.persistence_id, TypeParam::shards);
    EXPECT_TRUE(is<InvalidUnit>(this->commit_one(unit))) << ::testing::PrintToString(id);
  }
  this->expect_invalid("another shard", [](CommitUnit& unit) {
    unit.shard.value = (unit.shard.value + 1) % TypeParam::shards;
  });
  this->expect_invalid("no shard", [](CommitUnit& unit) { unit.shard.value = TypeParam::shards; });
  EXPECT_EQ(this->reader()->stats()->events, 0U);
}

TYPED_TEST_P(JournalShapeConformance, RefusesAnOpenRowThatNobodyWouldWake) {
  for (const ObligationStatus status : all_obligation_statuses) {
    const std::string name(to_text(status));
    CommitUnit unit = this->unit(entity(name), {"1"});
    unit.rows.push_back(claim(open_row(key(name))));
    unit.rows[0].row.status = status;
    unit.rows[0].row.next_action_at.reset();
    const bool may_sleep = !is_open(status) || is_operator_owned(status);
    EXPECT_EQ(is<Stored>(this->commit_one(unit)), may_sleep) << name;
    EXPECT_EQ(this->row(key(name)).has_value(), may_sleep) << name;
  }
}

TYPED_TEST_P(JournalShapeConformance, RefusesBadRowsMarksCapsAndSnapshots) {
  const std::string not_text("\xc3(", 2);
  this->expect_invalid("customer", [](CommitUnit& u) { u.rows[0].row.key.customer = {}; });
  this->expect_invalid("purpose", [](CommitUnit& u) { u.rows[0].row.key.purpose = {}; });
  this->expect_invalid("negative", [](CommitUnit& u) { u.rows[0].row.amount.minor = -1; });
  this->expect_invalid("reason", [&](CommitUnit& u) { u.rows[0].row.reason = not_text; });
  this->expect_invalid("long", [](CommitUnit& u) { u.rows[0].row.reason.assign(4097, 'x'); });
  this->expect_invalid("twice", [](CommitUnit& u) { u.rows.push_back(u.rows[0]); });
  this->expect_invalid("absent", [](CommitUnit& u) { u.rows[0].kind = RowWrite::Kind::update; });
  this->expect_invalid("scope", [](CommitUnit& u) { u.marks[0].scope.clear(); });
  this->expect_invalid("mark key", [](CommitUnit& u) { u.marks[0].key.clear(); });
  this->expect_invalid("print", [&](CommitUnit& u) { u.marks[0].fingerprint = not_text; });
  this->expect_invalid("two marks", [](CommitUnit& u) { u.marks.push_back(u.marks[0]); });
  this->expect_invalid("cap amount", [](CommitUnit& u) { u.caps[0].amount.minor = -1; });
  this->expect_invalid("cap customer", [](CommitUnit& u) { u.caps[0].obligation.customer = {}; });
  this->expect_invalid("limit", [](CommitUnit& u) { u.limits.push_back({period(), {}, usd(-1)}); });
  this->expect_invalid("writer", [&](CommitUnit& u) { u.writer = WriterId(not_text); });
  this->expect_invalid("snapshot", [&](CommitUnit& u) {
    u.snapshot = SnapshotRecord{1, not_text};
  });
  this->expect_invalid("snapshot of nothing", [](CommitUnit& u) {
    u.events.clear();
    u.snapshot = SnapshotRecord{1, "{}"};
  });
}

TYPED_TEST_P(JournalShapeConformance, RoundTripsHostileTexts) {
  for (const std::string& name :
       {std::string("'; DROP TABLE events; --"), std::string("100%_*?[a]"), std::string("\"\\\"{}"),
        std::string("../../etc/passwd"), std::string(128, '\''), std::string("NULL"),
        std::string("0"), std::string("a:b+c.d-e"), std::string("$1?1:1@1")}) {
    std::string id = name;
    for (char& c : id) {
      if (c == ' ') c = '~';
    }
    CommitUnit unit = this->unit(entity(id), {R"({"quote":"'\"\\"})"});
    ObligationRow row = open_row(key(id));
    row.reason = name + " \n\t žluťoučký 💶";
    row.request_id = RequestId(id);
    unit.rows.push_back(claim(row));
    unit.marks.push_back({id, name, "€'", std::nullopt});
    this->store(unit);
    EXPECT_EQ(this->history(entity(id)).size(), 1U) << id;
    EXPECT_EQ(this->row(key(id)), row);
    EXPECT_EQ(this->reader()->rows_of(CustomerId(id)).value().size(), 1U) << id;
    EXPECT_EQ(this->reader()->mark(id, name, this->now).value(), unit.marks[0]);
  }
}

TYPED_TEST_P(JournalShapeConformance, ComparesIdsByteByByte) {
  for (const char* name : {"a", "A", "a%", "a_", "ab", "a*"}) {
    CommitUnit unit = this->unit(entity(name), {"1"});
    unit.rows.push_back(claim(open_row(key(name))));
    this->store(unit);
  }
  EXPECT_EQ(this->reader()->rows_of(CustomerId("a")).value().size(), 1U);
  EXPECT_EQ(this->reader()->rows_of(CustomerId("a%")).value().size(), 1U);
  EXPECT_EQ(this->reader()->stats().value().entities, 6U);
}

REGISTER_TYPED_TEST_SUITE_P(JournalShapeConformance,
                            StoresAPayloadOfOneMebibyteAndRefusesOneByteMore,
                            RefusesPayloadsThatAreNotJson, RefusesBadManifests,
                            RefusesBadPersistenceIdsAndShards, RefusesAnOpenRowThatNobodyWouldWake,
                            RefusesBadRowsMarksCapsAndSnapshots, RoundTripsHostileTexts,
                            ComparesIdsByteByByte);

}  // namespace onceward::journal::testing
