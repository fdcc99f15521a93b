// Kill -9 in the middle of commits, again and again on one store: what was acknowledged is there,
// nothing is there by half, and no history has a gap.
#include <cstring>
#include <iostream>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/child_process.hpp"
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

constexpr int kills = 40;
constexpr std::uint32_t units_per_group = 8;

/// One event, one claim and one reservation under a number of its own.
CommitUnit numbered_unit(SqliteJournal& journal, std::uint32_t number) {
  const std::string name = "c" + std::to_string(number);
  const PersistenceId id = entity(name);
  CommitUnit made = unit_of(id, journal.epoch_of(shard_of(id, SqliteBackend::shards)));
  made.rows.push_back(claim(open_row(key(name))));
  made.caps.push_back(cap(CapOp::Kind::reserve, key(name), usd(1)));
  return made;
}

/// The child: commits groups for ever, and tells how many units were answered as stored in all.
int commit_for_ever(const SqliteJournalOptions& options, std::uint32_t from, int descriptor) {
  auto opened = SqliteJournal::open(options);
  if (!opened.has_value()) return 1;
  for (std::uint32_t next = from;; next += units_per_group) {
    std::vector<CommitUnit> group;
    for (std::uint32_t at = 0; at < units_per_group; ++at) {
      group.push_back(numbered_unit(**opened, next + at));
    }
    for (const CommitAnswer& answer : (*opened)->commit(group)) {
      if (!is<Stored>(answer)) return 2;
    }
    tell(descriptor, next + units_per_group);
  }
}

TEST(SqliteKill, LosesNoAcknowledgedUnit) {
  SqliteBackend backend;
  backend.close();
  std::uint32_t stored = 0;
  std::uint64_t unacknowledged = 0;
  for (int kill = 0; kill < kills; ++kill) {
    ChildProcess child(
        [&](int descriptor) { return commit_for_ever(backend.options(), stored, descriptor); });
    // Killed at another place each time: after a few groups, at whatever it is doing then.
    const std::string head = child.read(4 * static_cast<std::size_t>(1 + kill % 4));
    ASSERT_FALSE(head.empty()) << "the child could not open or store";
    ::usleep(static_cast<useconds_t>((kill * 997) % 7000));
    child.kill();
    const std::string told = head + child.read_rest();
    std::uint32_t acknowledged = 0;
    std::memcpy(&acknowledged, told.data() + (told.size() / 4 - 1) * 4, 4);
    ASSERT_EQ(acknowledged, stored + told.size() / 4 * units_per_group);

    backend.open();
    const auto reader = backend.journal().reader().value();
    const std::uint64_t found = reader->stats().value().events;
    ASSERT_GE(found, acknowledged) << "an acknowledged unit was lost at kill " << kill;
    ASSERT_LE(found, acknowledged + units_per_group);
    ASSERT_EQ(found % units_per_group, 0U) << "half a group";
    ASSERT_EQ(reader->stats().value().obligations, found);
    ASSERT_EQ(static_cast<std::uint64_t>(reader->cap_use(period()).value().at(0).reserved_minor),
              found);
    unacknowledged += found - acknowledged;
    stored = static_cast<std::uint32_t>(found);
    backend.close();
  }
  const auto findings = verify_store({.path = backend.path()}, {});
  ASSERT_TRUE(findings.has_value());
  EXPECT_TRUE(findings->empty()) << findings->front().where << ": " << findings->front().what;
  std::cout << kills << " kills, " << stored << " units stored, " << unacknowledged
            << " of them stored but not acknowledged, 0 acknowledged and lost\n";
}

}  // namespace
}  // namespace onceward::journal::testing
