// Commits that fail: whatever is answered as unknown never contradicts what is later on disk, both
// outcomes occur, and the store works on after the barrier.
#include <set>

#include <onceward/harness/conformance/journal_fixture.hpp>
#include "tests/journal/sqlite_backend.hpp"

namespace onceward::journal::testing {
namespace {

using Operation = FaultVfs::Operation;

/// One way of failing.
struct Fault {
  Operation operation = Operation::sync;
  std::string suffix = "-wal";
  int nth = 1;
  int more = 0;
  bool is_torn = false;
  bool has_reader = false;  // a reader that keeps the log open over the barrier
};

/// Of one group: how many of its units have their event and their row.
enum class Seen { none, whole };

class FaultRun {
 public:
  explicit FaultRun(Fault fault) : fault_(std::move(fault)) {}

  int present_after_crash = 0;
  int absent_after_crash = 0;
  int unknown_answers = 0;

  void run() {
    store("base");
    acknowledged_.insert("base");
    std::unique_ptr<JournalReader> reader;
    if (fault_.has_reader) {
      reader = backend_.journal().reader().value();
      ASSERT_TRUE(reader->stats().has_value());
    }
    FaultVfs::fail(fault_.operation, fault_.suffix, fault_.nth, fault_.more, fault_.is_torn);
    for (const char* name : {"g1", "g2", "g3", "g4"}) {
      const CommitAnswer answer = store(name);
      if (is<Stored>(answer)) {
        acknowledged_.insert(name);
        continue;
      }
      ASSERT_TRUE(is<CommitUnknown>(answer)) << name_of(answer);
      ++unknown_answers;
      if (reader) {
        const auto row = reader->row(key(name));
        ASSERT_FALSE(row.has_value()) << "a reader answered while nothing was decided";
        EXPECT_EQ(row.error().code, ErrorCode::store_uncertain);
      }
      look_at_crash_image(name);
      decide(name);
    }
    reader.reset();
    FaultVfs::heal();
    check_everything_after_reopening();
  }

 private:
  CommitAnswer store(const std::string& name) {
    std::vector<CommitUnit> group;
    for (const std::string& one : {name, name + "-2"}) {
      const PersistenceId id = entity(one);
      const ShardNr shard = shard_of(id, SqliteBackend::shards);
      group.push_back(unit_of(id, backend_.journal().epoch_of(shard)));
      group.back().rows.push_back(claim(open_row(key(one))));
    }
    const auto answers = backend_.journal().commit(group);
    EXPECT_EQ(answers[0].index(), answers[1].index());
    return answers[0];
  }

  static Seen look(SqliteJournal& journal, const std::string& name) {
    const auto reader = journal.reader().value();
    int parts = 0;
    for (const std::string& one : {name, name + "-2"}) {
      const auto end = reader->replay(entity(one), {}, [](auto&&...) { return true; });
      EXPECT_TRUE(end.has_value()) << end.error().context;
      parts += end.has_value() && end->last == SequenceNr{1} ? 1 : 0;
      parts += reader->row(key(one)).value().has_value() ? 1 : 0;
    }
    EXPECT_TRUE(parts == 0 || parts == 4) << "half a group: " << parts << " of 4 parts";
    return parts == 0 ? Seen::none : Seen::whole;
  }

  /// What the next process would find if this one died now.
  void look_at_crash_image(const std::string& name) {
    const TemporaryDirectory image;
    for (const std::string suffix : {"", "-wal", ".anchor"}) {
      std::filesystem::copy_file(backend_.path() + suffix, image.file("billing.db") + suffix);
    }
    SqliteJournalOptions options = backend_.options();
    options.path = image.file("billing.db");
    options.vfs.clear();
    auto opened = SqliteJournal::open(options);
    ASSERT_TRUE(opened.has_value()) << opened.error().context;
    look(**opened, name) == Seen::whole ? ++present_after_crash : ++absent_after_crash;
    for (const std::string& acknowledged : acknowledged_) {
      EXPECT_EQ(look(**opened, acknowledged), Seen::whole) << acknowledged << " was lost";
    }
  }

  void decide(const std::string& name) {
    EXPECT_TRUE(backend_.journal().barrier_pending());
    const Epoch before = backend_.journal().epoch_of(ShardNr{0});
    while (!backend_.journal().barrier().has_value()) {
      EXPECT_TRUE(backend_.journal().barrier_pending());
      EXPECT_TRUE(is<CommitUnknown>(store("never"))) << "nothing is stored before the barrier";
      FaultVfs::heal();  // the second try finds a working disk
    }
    EXPECT_GT(backend_.journal().epoch_of(ShardNr{0}), before);
    decided_[name] = look(backend_.journal(), name);
  }

  void check_everything_after_reopening() {
    backend_.reopen();
    for (const std::string& name : acknowledged_) {
      EXPECT_EQ(look(backend_.journal(), name), Seen::whole) << name << " was lost";
    }
    for (const auto& [name, seen] : decided_) {
      EXPECT_EQ(look(backend_.journal(), name), seen) << name << " changed after the barrier";
    }
    EXPECT_EQ(look(backend_.journal(), "never"), Seen::none);
    backend_.close();
    const auto findings = verify_store({.path = backend_.path()}, {});
    ASSERT_TRUE(findings.has_value());
    EXPECT_TRUE(findings->empty()) << findings->front().where << ": " << findings->front().what;
    backend_.open();
  }

  const Fault fault_;
  SqliteBackend backend_;
  std::set<std::string> acknowledged_;
  std::map<std::string, Seen> decided_;
};

/// Runs the fault at the first, second, … matching operation until there is none any more.
void run_at_every_place(Fault fault, FaultRun& sum, int nth_max) {
  int places = 0;
  for (fault.nth = 1; fault.nth <= nth_max; ++fault.nth) {
    SCOPED_TRACE("operation " + std::to_string(fault.nth));
    FaultRun run(fault);
    run.run();
    if (::testing::Test::HasFatalFailure()) return;
    sum.present_after_crash += run.present_after_crash;
    sum.absent_after_crash += run.absent_after_crash;
    sum.unknown_answers += run.unknown_answers;
    if (run.unknown_answers == 0) break;
    ++places;
  }
  EXPECT_GT(places, 0);
}

TEST(SqliteBarrier, AFailedSyncLeavesTheGroupOnDiskAndTheBarrierDecides) {
  FaultRun sum({});
  run_at_every_place({.operation = Operation::sync}, sum, 10);
  run_at_every_place({.operation = Operation::sync, .has_reader = true}, sum, 10);
  EXPECT_GT(sum.present_after_crash, 0) << "the frames were written before the sync failed";
}

TEST(SqliteBarrier, AFailedSyncThatGoesOnFailingLeavesTheBarrierPending) {
  FaultRun sum({});
  run_at_every_place({.operation = Operation::sync, .more = 2}, sum, 4);
  run_at_every_place({.operation = Operation::sync, .more = 2, .has_reader = true}, sum, 4);
  EXPECT_GT(sum.unknown_answers, 0);
}

TEST(SqliteBarrier, AFailedWriteLeavesNothingOfTheGroup) {
  FaultRun sum({});
  run_at_every_place({.operation = Operation::write}, sum, 12);
  run_at_every_place({.operation = Operation::write, .is_torn = true, .has_reader = true}, sum, 12);
  EXPECT_EQ(sum.present_after_crash, 0) << "its last frame was never written";
  EXPECT_GT(sum.absent_after_crash, 10);
}

TEST(SqliteReadFault, AFailedReadIsNeverTheEndOfAHistory) {
  SqliteBackend backend;
  const PersistenceId id = entity("a");
  CommitUnit unit = unit_of(id, backend.journal().epoch_of(shard_of(id, SqliteBackend::shards)));
  // Long enough that the history is read in many pages.
  unit.events.assign(200, {{"E", 1}, '"' + std::string(2000, 'x') + '"'});
  ASSERT_TRUE(is<Stored>(backend.journal().commit(std::span(&unit, 1)).at(0)));
  backend.reopen();
  int failed = 0;
  for (int nth = 1; nth <= 100; nth += 3) {
    const auto reader = backend.journal().reader().value();  // with nothing in its cache
    FaultVfs::fail(Operation::read, "billing.db", nth);
    std::uint64_t seen = 0;
    const auto end = reader->replay(id, {}, [&](auto&&...) { return ++seen > 0; });
    if (FaultVfs::failures() == 0) break;
    FaultVfs::heal();
    ++failed;
    ASSERT_FALSE(end.has_value()) << "after " << seen << " events";
    EXPECT_EQ(end.error().code, ErrorCode::store_io) << end.error().context;
    EXPECT_TRUE(reader->replay(id, {}, [](auto&&...) { return true; }).has_value());
  }
  EXPECT_GT(failed, 10);
}

TEST(SqliteBarrier, WorksAgainWhenThereIsSpaceOnTheDisk) {
  SqliteBackend backend;
  SqliteJournal& journal = backend.journal();
  const CommitUnit first = unit_of(entity("a"), journal.epoch_of(shard_of(entity("a"), 4)));
  FaultVfs::fill_disk();
  const CommitAnswer answer = journal.commit(std::span(&first, 1)).at(0);
  ASSERT_TRUE(is<CommitUnknown>(answer)) << name_of(answer);
  EXPECT_EQ(std::get<CommitUnknown>(answer).error.code, ErrorCode::store_full);
  const auto barrier = journal.barrier();
  ASSERT_FALSE(barrier.has_value());
  EXPECT_TRUE(journal.barrier_pending());
  FaultVfs::heal();
  ASSERT_TRUE(journal.barrier().has_value());
  const CommitUnit again = unit_of(entity("a"), journal.epoch_of(first.shard));
  EXPECT_EQ(name_of(journal.commit(std::span(&again, 1)).at(0)), "stored");
}

TEST(SqliteBarrier, AnAnchorThatCannotBeWrittenIsWrittenLater) {
  SqliteBackend backend;
  SqliteJournal& journal = backend.journal();
  const std::string blocked = backend.path() + ".anchor.new";
  std::filesystem::create_directory(blocked);  // the temporary file cannot be opened
  for (int n = 0; n < 4; ++n) {
    const PersistenceId id = entity(std::to_string(n));
    const CommitUnit unit = unit_of(id, journal.epoch_of(shard_of(id, 4)));
    EXPECT_EQ(name_of(journal.commit(std::span(&unit, 1)).at(0)), "stored");
  }
  std::filesystem::remove(blocked);
  const CommitUnit last = unit_of(entity("z"), journal.epoch_of(shard_of(entity("z"), 4)));
  EXPECT_EQ(name_of(journal.commit(std::span(&last, 1)).at(0)), "stored");
  EXPECT_TRUE(verify_store({.path = backend.path()}, {}).value().empty());
}

TEST(SqliteBarrier, StaysPendingIfTheFileWasReplacedMeanwhile) {
  SqliteBackend backend;
  SqliteBackend other;
  other.close();
  SqliteJournal& journal = backend.journal();
  const CommitUnit unit = unit_of(entity("a"), journal.epoch_of(shard_of(entity("a"), 4)));
  backend.break_next_commit();
  ASSERT_TRUE(is<CommitUnknown>(journal.commit(std::span(&unit, 1)).at(0)));
  FaultVfs::heal();
  for (const std::string suffix : {"", "-wal", "-shm"}) {
    std::filesystem::rename(backend.path() + suffix, backend.path() + ".away" + suffix);
  }
  std::filesystem::copy_file(other.path(), backend.path());
  const auto barrier = journal.barrier();
  ASSERT_FALSE(barrier.has_value());
  EXPECT_EQ(barrier.error().code, ErrorCode::store_restored) << barrier.error().context;
  EXPECT_TRUE(journal.barrier_pending());
}

}  // namespace
}  // namespace onceward::journal::testing
