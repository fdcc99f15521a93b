// The inbox entity: hints about objects of nobody, counted once each and resolved by people.
#include <gtest/gtest.h>

#include <fstream>

#include <onceward/billing/inbox_entity.hpp>

namespace onceward::billing {
namespace {

class Inbox : public ::testing::Test {
 protected:
  Inbox() : item_(entity_.initial(PersistenceId{"inbox/pi_9"})) { now_.wall = Timestamp{1000}; }
  static StoreHint hint(const std::string& event) {
    return {Mark{"webhook", event, "f", std::nullopt}, "payment_intent.succeeded",
            HintedKind::payment_intent, "cust_9 2026-08 subscription"};
  }
  InboxEntity::Decided decide(const InboxCommand& command, const Refusal* refusal = nullptr) {
    auto decided = entity_.decide(item_, command, Context{now_, false, refusal, nullptr});
    for (const auto& event : decided.events) {
      const auto codec = inbox_event_codec();
      const auto decoded = codec.decode(codec.encode(event));
      EXPECT_TRUE(decoded.has_value());
      EXPECT_EQ(*decoded, event);
      EXPECT_TRUE(entity_.evolve(item_, *decoded).has_value());
    }
    return decided;
  }
  static const InboxTold* told(const InboxEntity::Decided& d) {
    return d.reply ? std::get_if<InboxTold>(&*d.reply) : nullptr;
  }

  InboxEntity entity_;
  InboxItem item_;
  Now now_;
};

TEST_F(Inbox, StoresAHintWithItsMarkAndOpensTheObject) {
  const auto stored = decide(hint("evt_1"));
  ASSERT_EQ(stored.marks.size(), 1U);
  EXPECT_EQ(stored.marks[0].key, "evt_1");
  ASSERT_NE(told(stored), nullptr);
  EXPECT_EQ(told(stored)->item, item_);
  EXPECT_EQ(item_.object, "pi_9");
  EXPECT_EQ(item_.event_id, "evt_1");
  EXPECT_EQ(item_.hints, 1U);
  EXPECT_TRUE(item_.open);
  EXPECT_EQ(item_.first_at, now_.wall);
}

TEST_F(Inbox, CountsEachHintOnce) {
  (void)decide(hint("evt_1"));
  const Refusal refusal = MarkRefused{Mark{"webhook", "evt_1", "f", std::nullopt}};
  const auto again = decide(hint("evt_1"), &refusal);
  EXPECT_TRUE(again.stores_nothing());
  EXPECT_TRUE(told(again)->duplicate);
  now_.wall = Timestamp{2000};
  (void)decide(hint("evt_2"));
  EXPECT_EQ(item_.hints, 2U);
  EXPECT_EQ(item_.first_at, Timestamp{1000});
  EXPECT_EQ(item_.last_at, Timestamp{2000});
}

TEST_F(Inbox, IsResolvedByAPersonAndOpenedByALaterHint) {
  (void)decide(hint("evt_1"));
  const auto resolved = decide(ResolveInbox{std::nullopt, "ann", "a test of the shop"});
  EXPECT_FALSE(told(resolved)->item.open);
  EXPECT_EQ(item_.who, "ann");
  EXPECT_EQ(item_.why, "a test of the shop");
  EXPECT_TRUE(decide(ResolveInbox{std::nullopt, "bob", "again"}).stores_nothing());
  (void)decide(hint("evt_2"));
  EXPECT_TRUE(item_.open);
}

TEST_F(Inbox, RefusesAResolutionOfNothingOrByNobody) {
  EXPECT_TRUE(
      std::holds_alternative<NoSuchItem>(*decide(ResolveInbox{std::nullopt, "ann", "why"}).reply));
  (void)decide(hint("evt_1"));
  for (const auto& [who, why] : {std::pair("", "why"), std::pair("ann", "")}) {
    const auto refused = decide(ResolveInbox{std::nullopt, who, why});
    EXPECT_TRUE(std::holds_alternative<InboxRefused>(*refused.reply));
    EXPECT_TRUE(refused.stores_nothing());
  }
  EXPECT_TRUE(item_.open);
}

TEST_F(Inbox, ARepeatOfAResolutionIsTheSameOne) {
  (void)decide(hint("evt_1"));
  const Mark mark{"resolve", "r1", "f", std::nullopt};
  const auto first = decide(ResolveInbox{mark, "ann", "why"});
  EXPECT_EQ(first.marks.size(), 1U);
  (void)decide(hint("evt_2"));  // open again: the old request id must not close it
  const Refusal same = MarkRefused{mark};
  EXPECT_TRUE(told(decide(ResolveInbox{mark, "ann", "why"}, &same))->duplicate);
  const Refusal other = MarkRefused{Mark{"resolve", "r1", "g", std::nullopt}};
  EXPECT_TRUE(std::holds_alternative<InboxRefused>(
      *decide(ResolveInbox{mark, "ann", "why"}, &other).reply));
  EXPECT_TRUE(item_.open);
}

TEST(InboxCodec, WritesAndReadsTheGoldenForm) {
  const std::vector<InboxEvent> events = {
      HintStored{Timestamp{1'788'220'800'123}, "evt_1", "charge.dispute.created",
                 HintedKind::dispute, "cust_9 \"2026-08\""},
      InboxResolved{Timestamp{1'788'220'800'123}, "ann", "a test\n"}};
  std::ifstream file(ONCEWARD_GOLDEN_DIR "/events/inbox_v1.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto encoded = inbox_event_codec().encode(events[i]);
    EXPECT_EQ(encoded.manifest.name + "/" + std::to_string(encoded.manifest.version) + " " +
                  encoded.payload,
              lines[i]);
  }
}

TEST(InboxCodec, RefusesWhatItDoesNotKnow) {
  const auto decode = inbox_event_codec().decode;
  EXPECT_EQ(decode({{"HintStored", 2}, "{}"}).error().code, ErrorCode::unknown_manifest);
  EXPECT_EQ(decode({{"Other", 1}, "{}"}).error().code, ErrorCode::unknown_manifest);
  for (const char* payload : {"", "[]", "{}", R"({"at":"1","who":"a","why":"b"})"}) {
    EXPECT_EQ(decode({{"InboxResolved", 1}, payload}).error().code, ErrorCode::decode_failed);
  }
  EXPECT_EQ(decode({{"HintStored", 1},
                    R"({"at":1,"event_id":"e","type":"t","kind":"payout","about":""})"})
                .error()
                .code,
            ErrorCode::decode_failed);
}

}  // namespace
}  // namespace onceward::billing
