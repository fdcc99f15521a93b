// The inbox as an operator reads it: in pages, open ones or all, and never past a broken history.
#include <onceward/recovery/inbox.hpp>

#include <gtest/gtest.h>

#include <onceward/journal/memory_journal.hpp>

namespace onceward::recovery {
namespace {

class InboxRead : public ::testing::Test {
 protected:
  InboxRead() { (void)journal_.barrier(); }

  void store(const std::string& object, const std::vector<billing::InboxEvent>& events) {
    CommitUnit unit;
    unit.persistence_id = *inbox_persistence_id(object);
    unit.epoch = journal_.epoch_of(ShardNr{});
    unit.writer = WriterId{"w"};
    for (const auto& event : events)
      unit.events.push_back(billing::inbox_event_codec().encode(event));
    put(unit);
  }
  void put(const CommitUnit& unit) {
    const auto answers = journal_.commit({&unit, 1});
    ASSERT_TRUE(std::holds_alternative<Stored>(answers[0]));
  }
  static billing::InboxEvent hint(const std::string& event = "evt_1") {
    return billing::HintStored{Timestamp{5}, event, "charge.succeeded", billing::HintedKind::charge,
                               "cust_9"};
  }
  static billing::InboxEvent resolved() {
    return billing::InboxResolved{Timestamp{6}, "ann", "a test"};
  }
  std::vector<std::string> objects(const std::string& after, std::size_t limit, bool open_only) {
    auto page = read_inbox(**journal_.reader(), after, limit, open_only);
    EXPECT_TRUE(page.has_value());
    next_ = page->next;
    std::vector<std::string> found;
    for (const auto& item : page->items) found.push_back(item.object);
    return found;
  }

  journal::MemoryJournal journal_;
  std::string next_;
};

TEST_F(InboxRead, ListsInPagesWhatIsOpen) {
  store("ch_1", {hint()});
  store("ch_2", {hint(), resolved()});
  store("ch_3", {hint(), resolved(), hint("evt_2")});
  using Names = std::vector<std::string>;
  EXPECT_EQ(objects("", 2, true), (Names{"ch_1"}));
  EXPECT_EQ(next_, "ch_2");
  EXPECT_EQ(objects(next_, 2, true), (Names{"ch_3"}));
  EXPECT_EQ(next_, "");
  EXPECT_EQ(objects("", 100, false), (Names{"ch_1", "ch_2", "ch_3"}));
}

TEST_F(InboxRead, ShowsOneObject) {
  store("ch_3", {hint(), resolved(), hint("evt_2")});
  const auto reader = journal_.reader();
  const auto item = read_inbox_item(**reader, "ch_3");
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->hints, 2U);
  EXPECT_EQ(item->event_id, "evt_2");
  EXPECT_EQ(item->who, "ann");
  EXPECT_TRUE(item->open);
  EXPECT_EQ(read_inbox_item(**reader, "ch_9").error().code, ErrorCode::not_found);
  EXPECT_FALSE(read_inbox_item(**reader, "no blank").has_value());
}

TEST_F(InboxRead, SaysWhichHistoryIsBroken) {
  store("ch_1", {resolved()});
  const auto page = read_inbox(**journal_.reader(), "", 10, false);
  ASSERT_FALSE(page.has_value());
  EXPECT_EQ(page.error().code, ErrorCode::impossible_transition);
  EXPECT_NE(page.error().context.find("inbox/ch_1"), std::string::npos);
}

}  // namespace
}  // namespace onceward::recovery
