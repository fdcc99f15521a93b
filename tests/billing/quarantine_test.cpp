// The record of lifted quarantines: who and why, once per request, in a pinned form.
#include <gtest/gtest.h>

#include <fstream>

#include <onceward/billing/quarantine_entity.hpp>

namespace onceward::billing {
namespace {

class Quarantine : public ::testing::Test {
 protected:
  static constexpr const char* id = "quarantine/customer/a";
  Quarantine() : record_(entity_.initial(PersistenceId{id})) { now_.wall = Timestamp{1000}; }
  static LiftQuarantine lift() {
    return {Mark{"lift_quarantine", "op-1", "f", std::nullopt}, "threw 3 times", Timestamp{500},
            "ann", "mended"};
  }
  QuarantineEntity::Decided decide(const LiftQuarantine& command,
                                   const Refusal* refusal = nullptr) {
    auto decided =
        entity_.decide(record_, QuarantineCommand(command), Context{now_, false, refusal, nullptr});
    for (const auto& event : decided.events) {
      EXPECT_TRUE(entity_.evolve(record_, event).has_value());
    }
    return decided;
  }

  QuarantineEntity entity_;
  QuarantineRecord record_;
  Now now_;
};

TEST_F(Quarantine, IsNamedAfterTheEntity) {
  EXPECT_EQ(quarantine_persistence_id(PersistenceId{"customer/a"}), PersistenceId{id});
  EXPECT_EQ(record_.entity, PersistenceId{"customer/a"});
}

TEST_F(Quarantine, KeepsWhoAndWhyOfEachLiftWithItsMark) {
  const auto decided = decide(lift());
  ASSERT_EQ(decided.events.size(), 1U);
  ASSERT_EQ(decided.marks.size(), 1U);
  EXPECT_EQ(decided.marks[0].key, "op-1");
  const auto* told = std::get_if<QuarantineTold>(&*decided.reply);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->record, record_);
  EXPECT_EQ(record_.lifts, 1U);
  EXPECT_EQ(*record_.last,
            (QuarantineLifted{Timestamp{1000}, Timestamp{500}, "threw 3 times", "ann", "mended"}));
}

TEST_F(Quarantine, SameRequestIsRecordedOnceAndAnotherContentRefused) {
  (void)decide(lift());
  Refusal refusal = MarkRefused{Mark{"lift_quarantine", "op-1", "f", std::nullopt}};
  const auto again = decide(lift(), &refusal);
  EXPECT_TRUE(again.stores_nothing());
  EXPECT_TRUE(std::holds_alternative<QuarantineTold>(*again.reply));
  refusal = MarkRefused{Mark{"lift_quarantine", "op-1", "other", std::nullopt}};
  EXPECT_TRUE(std::holds_alternative<QuarantineRefused>(*decide(lift(), &refusal).reply));
  EXPECT_EQ(record_.lifts, 1U);
}

TEST_F(Quarantine, NeedsWhoAndWhy) {
  for (const bool lacks_who : {true, false}) {
    auto command = lift();
    (lacks_who ? command.who : command.why).clear();
    const auto decided = decide(command);
    EXPECT_TRUE(decided.stores_nothing());
    EXPECT_TRUE(std::holds_alternative<QuarantineRefused>(*decided.reply));
  }
}

TEST_F(Quarantine, StoredFormIsPinned) {
  std::ifstream file(std::string(ONCEWARD_GOLDEN_DIR) + "/events/quarantine_v1.txt");
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  const QuarantineEvent event =
      QuarantineLifted{Timestamp{1788220800123}, Timestamp{1788220800000},
                       "row \"cust_9 2026-08\" exists without events", "ann", "restored\n"};
  const auto encoded = quarantine_event_codec().encode(event);
  EXPECT_EQ(encoded.manifest.name + "/" + std::to_string(encoded.manifest.version) + " " +
                encoded.payload,
            line);
  const auto decoded = quarantine_event_codec().decode(encoded);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, event);
}

TEST_F(Quarantine, WhatIsUnknownOrIncompleteIsRefused) {
  const auto codec = quarantine_event_codec();
  const auto whole = codec.encode(QuarantineLifted{{}, {}, "x", "ann", "y"});
  EXPECT_EQ(codec.decode({{"QuarantineLifted", 2}, whole.payload}).error().code,
            ErrorCode::unknown_manifest);
  EXPECT_EQ(codec.decode({{"Other", 1}, whole.payload}).error().code, ErrorCode::unknown_manifest);
  for (const char* payload : {"", "[]", R"({"at":1,"since":2,"who":"a","why":"b"})",
                              R"({"at":"1","since":2,"quarantined_for":"","who":"a","why":"b"})"}) {
    EXPECT_EQ(codec.decode({whole.manifest, payload}).error().code, ErrorCode::decode_failed)
        << payload;
  }
}

}  // namespace
}  // namespace onceward::billing
