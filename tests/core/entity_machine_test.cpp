// The order that makes a charge safe, rule by rule: nothing leaves before it is stored, what breaks
// a rule is quarantined by name, refused units are decided again, bounds are answered as busy.
#include "tests/support/scripted_decider.hpp"

namespace onceward {
namespace {

using testing::Ask;
using testing::MachineBench;
using testing::Outputs;
using testing::Texts;

class RunningMachine : public MachineBench {
 protected:
  RunningMachine() {
    (void)recovered();
    script_->log.clear();
  }
  /// The step must end in a quarantine that says `rule`, without call, commit or kept promise.
  static void expect_quarantine(const Outputs& outputs, const std::string& rule) {
    const auto stop = outputs.stop();
    EXPECT_EQ(stop.why, output::Stop::Why::quarantine);
    EXPECT_EQ(stop.error.code, ErrorCode::impossible_transition);
    EXPECT_NE(stop.error.context.find("scripted/1"), std::string::npos) << stop.error.context;
    EXPECT_NE(stop.error.context.find(rule), std::string::npos) << stop.error.context;
    EXPECT_EQ(outputs.count<output::Call>(), 0U);
    EXPECT_EQ(outputs.count<output::Commit>(), 0U);
    EXPECT_EQ(outputs.replies(), Texts{"turned down: quarantined"});
  }
};

TEST_F(RunningMachine, ReleasesCallAndReplyOnlyOnceTheUnitIsStored) {
  auto decided = posts("k1");
  decided.reply = "sent";
  on_command(decided);
  const auto before = ask("bill", true);
  EXPECT_EQ(before.count<output::Commit>(), 1U);
  EXPECT_EQ(before.count<output::Call>(), 0U);
  EXPECT_EQ(before.count<output::Reply>(), 0U);
  EXPECT_EQ(sum(), 0);
  const auto after = stored(1);
  ASSERT_EQ(after.count<output::Call>(), 1U);
  EXPECT_EQ(after.all<output::Call>()[0].request, request("k1"));
  EXPECT_EQ(after.replies(), Texts{"sent"});
  EXPECT_EQ(sum(), 1);
}

TEST_F(RunningMachine, CommitsUnderTheSequenceHeadAndEpochItKnows) {
  on_command(adds(1));
  const auto first = ask("one").all<output::Commit>();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].incarnation, incarnation_);
  EXPECT_EQ(first[0].unit.persistence_id, PersistenceId{"scripted/1"});
  EXPECT_EQ(first[0].unit.shard, ShardNr{3});
  EXPECT_EQ(first[0].unit.epoch, Epoch{5});
  EXPECT_EQ(first[0].unit.writer, WriterId{"w"});
  EXPECT_EQ(first[0].unit.expected, SequenceNr{0});
  EXPECT_EQ(first[0].unit.at, now_.wall);
  (void)stored(1);
  const auto second = ask("two").all<output::Commit>();
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].unit.expected, SequenceNr{1});
  EXPECT_EQ(second[0].unit.head, head(1));
  (void)stored(2);
  EXPECT_EQ(machine_->last_sequence_nr(), SequenceNr{2});
}

TEST_F(RunningMachine, AnswersOfAnEarlierIncarnationsCommitAreIgnored) {
  on_command(adds(1));
  (void)ask("one");
  EXPECT_TRUE(step(input::CommitAnswered{Incarnation{9}, Stored{}}).empty());
  EXPECT_EQ(stored(1).replies(), Texts{"added"});
}

TEST_F(RunningMachine, QuarantinesAPostWithoutAnEvent) {
  auto decided = posts("k1");
  decided.events.clear();
  decided.reply = "a promise that was never stored";
  on_command(decided);
  expect_quarantine(ask("bill", true), "without storing an event");
}

// A row or a mark alone does not say what was sent: replay would not know of the send.
TEST_F(RunningMachine, QuarantinesAPostThatStoresOnlyAMark) {
  auto decided = posts("k1");
  decided.events.clear();
  decided.marks.push_back({"scope", "key", "", std::nullopt});
  on_command(decided);
  expect_quarantine(ask("bill", true), "without storing an event");
}

TEST_F(RunningMachine, QuarantinesAPostWithoutAKey) {
  on_command(posts(""));
  expect_quarantine(ask("bill", true), "without a key");
}

TEST_F(RunningMachine, QuarantinesACallWithoutAPermit) {
  on_command(posts("k1"));
  expect_quarantine(ask("bill", false), "without a permit");
}

TEST_F(RunningMachine, QuarantinesALookUpWithoutAPermit) {
  Decided decided;
  decided.effects.push_back(CallProvider{request("look", Operation::get_intent)});
  on_command(decided);
  expect_quarantine(ask("look", false), "without a permit");
}

TEST_F(RunningMachine, QuarantinesTwoCallsInOneDecision) {
  auto decided = posts("k1");
  decided.effects.push_back(CallProvider{request("k2")});
  on_command(decided);
  expect_quarantine(ask("bill", true), "more than one provider call");
}

// A reply of a decision that broke a rule would tell of events that were never stored.
TEST_F(RunningMachine, ADecisionThatBreaksARuleKeepsNoPromise) {
  auto decided = posts("k1");
  decided.effects.push_back(CallProvider{request("k2")});
  decided.reply = "charged";
  on_command(decided);
  expect_quarantine(ask("bill", true), "more than one provider call");
}

TEST_F(RunningMachine, ADeciderMayQuarantineWithAReplyOfItsOwn) {
  auto decided = replies("closed already");
  decided.quarantine = "row without events";
  on_command(decided);
  const auto outputs = ask("bill", true);
  EXPECT_EQ(outputs.replies(), Texts{"closed already"});
  EXPECT_NE(outputs.stop().error.context.find("row without events"), std::string::npos);
}

TEST_F(RunningMachine, ADeciderMayQuarantineWithoutAReply) {
  auto decided = adds(1);
  decided.reply.reset();
  decided.quarantine = "contradiction";
  on_command(decided);
  expect_quarantine(ask("bill"), "contradiction");
  EXPECT_EQ(sum(), 0);
}

TEST_F(RunningMachine, ALookUpNeedsNeitherEventNorKey) {
  Decided decided;
  decided.effects.push_back(CallProvider{request("", Operation::get_intent)});
  on_command(decided);
  const auto outputs = ask("look", true);
  EXPECT_EQ(outputs.count<output::Call>(), 1U);
  EXPECT_EQ(outputs.count<output::Stop>(), 0U);
}

TEST_F(RunningMachine, TellsAndLoadsLeaveAfterTheUnitIsStored) {
  auto decided = adds(1);
  decided.effects.push_back(Tell{PersistenceId{"other/1"}, std::any(7), 42});
  decided.effects.push_back(Load{std::any(8)});
  on_command(decided);
  const auto before = ask("go");
  EXPECT_EQ(before.count<output::Tell>() + before.count<output::Load>(), 0U);
  const auto after = stored(1);
  ASSERT_EQ(after.count<output::Tell>(), 1U);
  EXPECT_EQ(after.all<output::Tell>()[0].to, PersistenceId{"other/1"});
  EXPECT_EQ(after.all<output::Tell>()[0].correlation, 42U);
  ASSERT_EQ(after.count<output::Load>(), 1U);
  EXPECT_EQ(std::any_cast<int>(after.all<output::Load>()[0].query), 8);
}

TEST_F(RunningMachine, NobodyIsToldWhenNobodyWaits) {
  on_command(replies("hello"));
  EXPECT_TRUE(step(input::Command{Ask{"quiet", 0}, ReplyTo{}}).empty());
}

// --- refused units ---

class Refusals : public RunningMachine, public ::testing::WithParamInterface<int> {
 protected:
  static CommitAnswer refusal() {
    if (GetParam() == 0) return ClaimRefused{};
    if (GetParam() == 1) return CapRefused{};
    return MarkRefused{};
  }
};
std::string kind_name(const ::testing::TestParamInfo<int>& kind) {
  constexpr const char* names[] = {"claim", "cap", "mark"};
  return names[kind.param];
}
INSTANTIATE_TEST_SUITE_P(Kind, Refusals, ::testing::Values(0, 1, 2), kind_name);

TEST_P(Refusals, AreDecidedAgainWithTheRefusalAndTheirPermit) {
  script_->on_command = [this](const State&, const Ask&, const Context& context) {
    if (context.refusal == nullptr) return posts("k1");
    EXPECT_EQ(static_cast<int>(context.refusal->index()), GetParam());
    EXPECT_TRUE(context.permit);
    return posts("k2");
  };
  (void)ask("bill", true);
  const auto again = commit_answered(refusal());
  EXPECT_EQ(again.count<output::Commit>(), 1U);
  EXPECT_EQ(again.count<output::ReleasePermit>(), 0U);
  EXPECT_EQ(sum(), 0);  // nothing of the refused unit was applied
  const auto done = stored(1);
  ASSERT_EQ(done.count<output::Call>(), 1U);
  EXPECT_EQ(done.all<output::Call>()[0].request.key, IdempotencyKey{"k2"});
  EXPECT_EQ(sum(), 1);
}

TEST_P(Refusals, WithoutAnotherCallGiveThePermitBack) {
  script_->on_command = [this](const State&, const Ask&, const Context& context) {
    return context.refusal == nullptr ? posts("k1") : replies("refused");
  };
  (void)ask("bill", true);
  const auto again = commit_answered(refusal());
  EXPECT_EQ(again.replies(), Texts{"refused"});
  EXPECT_EQ(again.count<output::ReleasePermit>(), 1U);
  EXPECT_TRUE(machine_->is_idle());
}

TEST_P(Refusals, ForEverQuarantineAndAnswerTheCommand) {
  on_command(posts("k1"));
  Outputs outputs = ask("bill", true);
  int commits = 0;
  while (outputs.count<output::Commit>() == 1) {
    ASSERT_LT(++commits, 20);
    outputs = commit_answered(refusal());
  }
  EXPECT_EQ(commits, 5);  // once, and again for each kind of guard and one more
  expect_quarantine(outputs, "refused again and again");
}

TEST_F(RunningMachine, AnAnswerRefusedForEverStaysInHandOfTheQuarantine) {
  script_->on_answer = [](const State&, const ExternalAnswer&, const Context&) { return adds(1); };
  Outputs outputs = step(answer_to("k1"));
  while (outputs.count<output::Commit>() == 1) outputs = commit_answered(CapRefused{});
  const auto stop = outputs.stop();
  EXPECT_EQ(stop.why, output::Stop::Why::quarantine);
  ASSERT_EQ(stop.answers_in_hand.size(), 1U);
  EXPECT_EQ(stop.answers_in_hand[0].key, IdempotencyKey{"k1"});
}

// --- invalid units ---

TEST_F(RunningMachine, AnInvalidUnitTurnsItsCommandDownAndTheEntityGoesOn) {
  on_command(posts("k1"));
  (void)ask("too large", true);
  on_command(replies("fine"));
  (void)ask("next");
  const auto outputs = commit_answered(InvalidUnit{});
  EXPECT_EQ(outputs.replies(), (Texts{"turned down: invalid", "fine"}));
  EXPECT_EQ(outputs.count<output::Stop>(), 0U);
  EXPECT_EQ(sum(), 0);
  EXPECT_TRUE(machine_->is_idle());
}

// Made again from the same answer it would be invalid for ever.
TEST_F(RunningMachine, AnInvalidUnitOfAnAnswerQuarantinesWithTheAnswerInHand) {
  script_->on_answer = [](const State&, const ExternalAnswer&, const Context&) { return adds(1); };
  (void)step(answer_to("k1"));
  const auto stop = commit_answered(InvalidUnit{{ErrorCode::invalid_argument, "huge"}}).stop();
  EXPECT_EQ(stop.why, output::Stop::Why::quarantine);
  EXPECT_EQ(stop.error.context, "huge");
  ASSERT_EQ(stop.answers_in_hand.size(), 1U);
}

TEST_F(RunningMachine, AnAnswerThatBreaksARuleStaysInHandOfTheQuarantine) {
  script_->on_answer = [this](const State&, const ExternalAnswer&, const Context&) {
    return posts("");
  };
  const auto stop = step(answer_to("k1"), true).stop();
  EXPECT_EQ(stop.why, output::Stop::Why::quarantine);
  EXPECT_EQ(stop.answers_in_hand.size(), 1U);
}

TEST_F(RunningMachine, AStoredEventThatTheStateCannotTakeQuarantinesAndAnswersTheCommand) {
  on_command(adds(-1));
  (void)ask("bad");
  (void)ask("next");
  const auto outputs = stored(1);
  EXPECT_EQ(outputs.stop().why, output::Stop::Why::quarantine);
  EXPECT_EQ(outputs.replies(), (Texts{"turned down: quarantined", "turned down: quarantined"}));
}

// --- bounds ---

TEST_F(RunningMachine, CommandsBeyondTheStashAreBusyAndTheStashedOnesAreTakenInOrder) {
  script_->on_command = [](const State&, const Ask& ask, const Context&) {
    return ask.name == "store" ? adds(1, "stored") : replies(ask.name);
  };
  (void)ask("store");
  for (std::size_t i = 0; i < stash_max; ++i) {
    ASSERT_TRUE(ask("c" + std::to_string(i)).empty());
  }
  EXPECT_EQ(ask("one more").replies(), Texts{"turned down: busy"});
  const auto texts = stored(1).replies();
  ASSERT_EQ(texts.size(), stash_max + 1);
  EXPECT_EQ(texts[0], "stored");
  EXPECT_EQ(texts[1], "c0");
  EXPECT_EQ(texts.back(), "c" + std::to_string(stash_max - 1));
}

TEST_F(RunningMachine, WaitersBeyondTheBoundAreBusyOrRepliedToForTheLastTime) {
  on_command(waits());
  for (std::size_t i = 0; i < waiters_max; ++i) ASSERT_TRUE(ask("w", false, 1).empty());
  EXPECT_EQ(ask("w", false, 1).replies(), Texts{"turned down: busy"});
  auto accepted = waits();
  accepted.reply = "accepted";
  on_command(accepted);
  const auto reply = ask("w", false, 1).all<output::Reply>();
  ASSERT_EQ(reply.size(), 1U);
  EXPECT_TRUE(reply[0].last);
  on_command(adds(1));
  (void)ask("settle");
  EXPECT_EQ(stored(1).replies().size(), waiters_max + 1);
}

TEST_F(RunningMachine, AWaiterIsToldTwiceAndTheFirstIsNotTheLast) {
  auto accepted = waits();
  accepted.reply = "accepted";
  on_command(accepted);
  const auto first = ask("w", false, 1).all<output::Reply>();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_FALSE(first[0].last);
  on_command(adds(1));
  (void)ask("settle");
  const auto second = stored(1).all<output::Reply>();
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[1].to, first[0].to);
  EXPECT_TRUE(second[1].last);
  EXPECT_EQ(std::any_cast<std::string>(second[1].reply), "w waited until 1");
}

TEST_F(RunningMachine, AWaiterIsToldOnlyOnce) {
  on_command(waits());
  (void)ask("w", false, 1);
  on_command(adds(1));
  (void)ask("settle");
  EXPECT_EQ(stored(1).replies().size(), 2U);
  (void)ask("settle");
  EXPECT_EQ(stored(2).replies(), Texts{"added"});
}

}  // namespace
}  // namespace onceward
