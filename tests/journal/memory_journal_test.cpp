// MemoryJournal passes the conformance suite; its copies are independent; its fates do what they
// say.
#include <onceward/journal/memory_journal.hpp>

#include <chrono>
#include <deque>

#include <onceward/harness/journal_conformance.hpp>

namespace onceward::journal::testing {
namespace {

class MemoryBackend {
 public:
  static constexpr std::uint32_t shards = 4;

  Journal& journal() { return journal_; }
  void reopen() { ASSERT_TRUE(journal_.barrier().has_value()); }
  void break_next_commit() {
    journal_.script([broken = false]() mutable {
      const CommitFate fate = broken ? CommitFate::normal : CommitFate::lost_unanswered;
      broken = true;
      return fate;
    });
  }

 private:
  MemoryJournal journal_{MemoryJournalOptions{.shards = shards, .fate = {}}};
};

}  // namespace

ONCEWARD_INSTANTIATE_JOURNAL_CONFORMANCE(Memory, MemoryBackend);

namespace {

class MemoryJournalTest : public JournalFixture<MemoryBackend> {
 protected:
  MemoryJournal& memory() { return dynamic_cast<MemoryJournal&>(journal()); }
  void next_fate(CommitFate fate) {
    memory().script([fates = std::deque<CommitFate>{fate}]() mutable {
      if (fates.empty()) return CommitFate::normal;
      const CommitFate next = fates.front();
      fates.pop_front();
      return next;
    });
  }
  CommitUnit whole(const std::string& name) {
    CommitUnit made = unit(entity(name), {"1"});
    made.rows.push_back(claim(open_row(key(name))));
    made.marks.push_back({"m", name, "", std::nullopt});
    made.caps.push_back(cap(CapOp::Kind::reserve, key(name), usd(10)));
    return made;
  }
};

TEST_F(MemoryJournalTest, ACopyAndItsOriginalGoTheirOwnWays) {
  store(whole("a"));
  MemoryJournal copy = memory();
  ASSERT_TRUE(copy.quarantine(entity("a"), "in the copy", now).has_value());
  store(whole("b"));
  CommitUnit in_copy = unit(entity("a"), {"20"});
  ASSERT_TRUE(is<Stored>(copy.commit(std::vector{in_copy}).at(0)));
  store(unit(entity("a"), {"2"}));

  const auto copy_reader = copy.reader().value();
  EXPECT_FALSE(*copy_reader->row(key("b")));
  EXPECT_FALSE(*copy_reader->mark("m", "b", now));
  EXPECT_EQ(copy_reader->cap_use(period()).value().at(0).reserved_minor, 10);
  EXPECT_EQ(copy_reader->stats().value().events, 2U);
  EXPECT_EQ(reader()->cap_use(period()).value().at(0).reserved_minor, 20);
  EXPECT_EQ(payloads(entity("a")), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(reader()->quarantined()->empty());
}

TEST_F(MemoryJournalTest, AnAssignedStoreIsReadByTheReadersThatExist) {
  store(whole("a"));
  const MemoryJournal before = memory();
  const auto existing = reader();
  store(whole("b"));
  memory() = before;
  EXPECT_FALSE(*existing->row(key("b")));
  EXPECT_TRUE(*existing->row(key("a")));
}

TEST_F(MemoryJournalTest, StoredUnansweredIsThereAfterTheBarrier) {
  next_fate(CommitFate::stored_unanswered);
  EXPECT_TRUE(is<CommitUnknown>(commit_one(whole("a"))));
  ASSERT_TRUE(journal().barrier().has_value());
  EXPECT_EQ(history(entity("a")).size(), 1U);
  EXPECT_TRUE(row(key("a")));
}

TEST_F(MemoryJournalTest, LostUnansweredIsGoneAfterTheBarrier) {
  store(whole("z"));
  next_fate(CommitFate::lost_unanswered);
  EXPECT_TRUE(is<CommitUnknown>(commit_one(whole("a"))));
  ASSERT_TRUE(journal().barrier().has_value());
  EXPECT_TRUE(history(entity("a")).empty());
  EXPECT_FALSE(row(key("a")));
  EXPECT_EQ(reader()->stats().value().commit_count, 1U);
  EXPECT_EQ(history(entity("z")).size(), 1U);
}

// The harness takes a copy at every step of a schedule; the bound is five times what it needs.
TEST_F(MemoryJournalTest, ACopyOfASmallStoreCostsLittle) {
  for (const char* name : {"a", "b", "c"}) store(whole(name));
  constexpr int copies = 20'000;
  const auto start = std::chrono::steady_clock::now();
  std::size_t alive = 0;
  for (int n = 0; n < copies; ++n) {
    const MemoryJournal copy = memory();
    if (!copy.barrier_pending()) ++alive;
  }
  EXPECT_EQ(alive, static_cast<std::size_t>(copies));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace onceward::journal::testing
