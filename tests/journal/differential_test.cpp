// Random groups on SqliteJournal and MemoryJournal side by side: every answer and everything that
// can be read is equal. Seeds are fixed and printed on failure.
#include <array>
#include <random>
#include <set>

#include <onceward/journal/memory_journal.hpp>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

/// Makes units over few names, so that claims, marks and sequence numbers often clash.
class UnitMaker {
 public:
  explicit UnitMaker(std::uint64_t seed) : random_(seed) {}

  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  bool one_in(int n) { return below(n) == 0; }

  CommitUnit next(Journal& journal, JournalReader& reader) {
    const PersistenceId id = entity(std::string(1, static_cast<char>('a' + below(6))));
    CommitUnit unit = unit_of(id, journal.epoch_of(shard_of(id, SqliteBackend::shards)));
    const auto end = reader.replay(id, {}, [](auto&&...) { return true; }).value();
    unit.expected = end.last;
    unit.head = end.head;
    unit.at = Timestamp{below(1000)};
    unit.events.clear();
    for (int n = below(4); n > 0; --n) unit.events.push_back({{"E", 1}, std::to_string(below(9))});
    for (int n = below(3); n > 0; --n) unit.rows.push_back(row_write());
    for (int n = below(2); n > 0; --n) unit.marks.push_back(mark());
    for (int n = below(3); n > 0; --n) unit.caps.push_back(cap_op());
    if (one_in(8)) unit.limits.push_back(limit());
    if (one_in(6)) unit.snapshot = SnapshotRecord{1, std::to_string(below(100))};
    if (one_in(20)) unit.expected.value += 1;
    if (one_in(20)) unit.epoch.value -= 1;
    if (one_in(20)) unit.events.push_back({{"E", 1}, "not json"});
    return unit;
  }
  ObligationKey random_key() {
    static constexpr std::array<std::string_view, 3> periods = {"2026-08", "2026-09", "2026-Q3"};
    return key(std::string(1, static_cast<char>('a' + below(4))),
               periods.at(static_cast<std::size_t>(below(3))),
               one_in(3) ? "setup" : "subscription");
  }

 private:
  RowWrite row_write() {
    const auto status = all_obligation_statuses.at(static_cast<std::size_t>(below(12)));
    ObligationRow row = row_in(random_key(), status);
    row.amount = usd(below(100));
    if (row.next_action_at || one_in(4)) row.next_action_at = Timestamp{below(50)};
    return one_in(2) ? claim(row) : update(row);
  }
  Mark mark() {
    Mark made{"m", std::to_string(below(8)), std::to_string(below(100)), std::nullopt};
    if (one_in(2)) made.expires_at = Timestamp{below(1000)};
    return made;
  }
  CapOp cap_op() {
    const auto kind = static_cast<CapOp::Kind>(below(3));
    return cap(kind, random_key(), one_in(4) ? jpy(below(50)) : usd(below(50)),
               static_cast<std::uint32_t>(1 + below(2)), !one_in(5));
  }
  CapLimit limit() {
    const ObligationKey of = random_key();
    return CapLimit{of.period, one_in(2) ? CustomerId() : of.customer, usd(below(400))};
  }

  std::mt19937_64 random_;
};

/// Everything a reader can show, as text.
std::vector<std::string> all_of(JournalReader& reader, Epoch epoch) {
  std::vector<std::string> lines;
  const auto add_rows = [&](const char* name, const Result<std::vector<ObligationRow>>& rows) {
    for (const ObligationRow& row : *rows) {
      lines.push_back(std::string(name) + to_display(row.key) + " " +
                      std::string(to_text(row.status)) + " " + std::to_string(row.amount.minor) +
                      " " + (row.next_action_at ? std::to_string(row.next_action_at->ms) : "-"));
    }
  };
  (void)reader.scan(0, [&](std::uint64_t position, const PersistenceId& id, StoredEvent&& event) {
    lines.push_back(std::to_string(position) + id.value() + to_hex(event.head));
    return true;
  });
  for (char name = 'a'; name < 'g'; ++name) {
    const std::string text(1, name);
    const auto end = reader.replay(entity(text), {}, [](auto&&...) { return true; }).value();
    lines.push_back(text + std::to_string(end.last.value) + to_hex(end.head));
    if (const auto snapshot = reader.snapshot(entity(text)).value()) {
      lines.push_back(std::to_string(snapshot->at.value) + snapshot->record.payload);
    }
    add_rows("of ", reader.rows_of(CustomerId(text)));
  }
  for (const char* text : {"2026-08", "2026-09", "2026-Q3"}) {
    RowQuery query;
    query.period = period(text);
    add_rows("in ", reader.rows(query));
    const auto uses = reader.cap_use(query.period);
    for (const CapUse& use : *uses) {
      lines.push_back(std::string(text) + use.customer.value() + std::string(use.currency.text()) +
                      (use.limit_minor ? std::to_string(*use.limit_minor) : "-") + " " +
                      std::to_string(use.reserved_minor) + " " + std::to_string(use.settled_minor));
    }
  }
  add_rows("due ", reader.due(Timestamp{25}, 7));
  add_rows("open ", reader.open_before(epoch, {}, 5));
  add_rows("open after ", reader.open_before(epoch, key("b", "2026-09"), 5));
  for (int n = 0; n < 8; ++n) {
    if (const auto mark = reader.mark("m", std::to_string(n), Timestamp{500}).value()) {
      lines.push_back("mark " + mark->key + mark->fingerprint);
    }
  }
  JournalStats stats = reader.stats().value();
  stats.bytes = 0;
  for (const std::uint64_t count : {stats.events, stats.entities, stats.obligations,
                                    stats.open_obligations, stats.marks, stats.commit_count}) {
    lines.push_back(std::to_string(count));
  }
  return lines;
}

/// Names of the answers that occurred, without their details.
using AnswerNames = std::set<std::string>;

void compare(std::uint64_t seed, int groups, AnswerNames& names) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  UnitMaker make(seed);
  SqliteBackend sqlite;
  MemoryJournal memory({.shards = SqliteBackend::shards, .fate = {}});
  const auto memory_reader = memory.reader().value();
  for (int n = 0; n < groups; ++n) {
    std::vector<CommitUnit> group;
    for (int size = 1 + make.below(6); size > 0; --size) {
      group.push_back(make.next(memory, *memory_reader));
    }
    const auto expected = memory.commit(group);
    const auto found = sqlite.journal().commit(group);
    for (std::size_t at = 0; at < group.size(); ++at) {
      ASSERT_EQ(found[at], expected[at])
          << "group " << n << " unit " << at << ": " << name_of(found[at]) << " instead of "
          << name_of(expected[at]);
      const std::string name = name_of(expected[at]);
      names.insert(name.substr(0, name.find(':')));
    }
    if (make.one_in(10)) {
      const ShardNr shard{static_cast<std::uint32_t>(make.below(SqliteBackend::shards))};
      ASSERT_EQ(sqlite.journal().raise_epoch(shard).value(), memory.raise_epoch(shard).value());
    }
    if (make.one_in(15)) {
      sqlite.reopen();
      ASSERT_TRUE(memory.barrier().has_value());
    }
    if (make.one_in(10)) {
      const auto reader = sqlite.journal().reader().value();
      const Epoch epoch = memory.epoch_of(ShardNr{0});
      ASSERT_EQ(all_of(*reader, epoch), all_of(*memory_reader, epoch)) << "after group " << n;
    }
  }
  sqlite.close();
  const auto findings = verify_store({.path = sqlite.path()}, {}).value();
  EXPECT_TRUE(findings.empty()) << findings.front().where << ": " << findings.front().what;
}

TEST(SqliteAgainstMemory, AgreesOnRandomGroups) {
  AnswerNames names;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    compare(seed, 60, names);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(names, (AnswerNames{"stored", "claim", "cap", "mark", "invalid", "fenced by epoch",
                                "fenced by sequence"}));
}

}  // namespace
}  // namespace onceward::journal::testing
