// Beginning and end of an incarnation, and what it holds in between: recovery, stops, answers and
// waiters in hand, wake-ups, idleness.
#include "tests/support/scripted_decider.hpp"

namespace onceward {
namespace {

using testing::Ask;
using testing::MachineBench;
using testing::Texts;

class MachineLife : public MachineBench {
 protected:
  /// resume() owes the POST `key` until an event is stored.
  void owe(const std::string& key) {
    script_->on_resume = [this, key](const State& state, const Context& context) {
      if (state.sum > 0 || context.in_flight(IdempotencyKey{key})) return Decided{};
      return context.permit ? posts(key) : wants_permit();
    };
  }
  void answer_with(Decided decided) {
    script_->on_answer = [decided](const State&, const ExternalAnswer&, const Context&) {
      return decided;
    };
  }
};

// --- recovery ---

TEST_F(MachineLife, ReplayFoldsTheHistoryAndCallsNobody) {
  EXPECT_TRUE(step(input::Replayed{{event(1, 2), event(2, 3)}}).empty());
  EXPECT_TRUE(step(input::Replayed{{event(3, 5)}}).empty());
  EXPECT_TRUE(script_->log.empty());
  EXPECT_FALSE(machine_->is_running());
  (void)step(input::RecoveryDone{SequenceNr{3}, head(3), Epoch{7}});
  EXPECT_EQ(sum(), 10);
  EXPECT_TRUE(machine_->is_running());
  EXPECT_EQ(script_->log, Texts{"resume"});
  on_command(adds(1));
  const auto unit = ask("one").all<output::Commit>().at(0).unit;
  EXPECT_EQ(unit.expected, SequenceNr{3});
  EXPECT_EQ(unit.head, head(3));
  EXPECT_EQ(unit.epoch, Epoch{7});
}

TEST_F(MachineLife, ABrokenHistoryQuarantinesAndAnswersEverybody) {
  EncodedEvent unknown{{"Forgotten", 1}, "1"};
  StoredEvent undecodable = event(1, 1);
  undecodable.event = unknown;
  struct Case {
    const char* what;
    std::vector<StoredEvent> history;
    ErrorCode code;
  };
  const std::vector<Case> cases = {
      {"gap at the start", {event(2, 1)}, ErrorCode::store_corrupt},
      {"gap", {event(1, 1), event(3, 1)}, ErrorCode::store_corrupt},
      {"twice", {event(1, 1), event(1, 1)}, ErrorCode::store_corrupt},
      {"decode", {undecodable}, ErrorCode::unknown_manifest},
      {"impossible", {event(1, -1)}, ErrorCode::impossible_transition},
  };
  for (const auto& bad : cases) {
    create(Incarnation{1});
    (void)ask("stashed");
    (void)step(input::Command{Ask{"accepted", 9}, ReplyTo{++asked_}, true});
    const auto outputs = step(input::Replayed{bad.history}, true);
    EXPECT_EQ(outputs.stop().why, output::Stop::Why::quarantine) << bad.what;
    EXPECT_EQ(outputs.stop().error.code, bad.code) << bad.what;
    EXPECT_EQ(outputs.replies(), (Texts{"turned down: quarantined", "turned down: quarantined"}));
    EXPECT_TRUE(machine_->is_stopped());
    EXPECT_EQ(permits_, 0);
  }
}

TEST_F(MachineLife, AnotherEndThanTheStoresQuarantines) {
  for (const auto& end : {input::RecoveryDone{SequenceNr{2}, head(1), Epoch{1}},
                          input::RecoveryDone{SequenceNr{1}, head(2), Epoch{1}}}) {
    create(Incarnation{1});
    (void)step(input::Replayed{{event(1, 1)}});
    (void)step(answer_to("k1"));
    (void)ask("stashed");
    const auto outputs = step(Input{end}, true);
    EXPECT_EQ(outputs.stop().why, output::Stop::Why::quarantine);
    EXPECT_EQ(outputs.stop().error.code, ErrorCode::store_corrupt);
    EXPECT_EQ(outputs.stop().answers_in_hand.size(), 1U);
    EXPECT_EQ(outputs.replies(), Texts{"turned down: quarantined"});
    EXPECT_EQ(permits_, 0);
  }
}

TEST_F(MachineLife, AHistoryThatCannotBeReadQuarantines) {
  (void)ask("stashed");
  const auto outputs = step(input::RecoveryFailed{{ErrorCode::store_corrupt, "chain broken"}});
  EXPECT_EQ(outputs.stop().why, output::Stop::Why::quarantine);
  EXPECT_EQ(outputs.stop().error.context, "chain broken");
  EXPECT_EQ(outputs.replies(), Texts{"turned down: quarantined"});
}

TEST_F(MachineLife, AnAnswerInHandIsDecidedBeforeTheCallIsRepeated) {
  owe("k1");
  answer_with(adds(1));
  EXPECT_TRUE(step(answer_to("k1")).empty());
  const auto outputs = recovered(true);
  EXPECT_EQ(script_->log, Texts{"k1"});
  EXPECT_EQ(outputs.count<output::Commit>(), 1U);
  const auto done = stored(1, true);
  EXPECT_EQ(done.count<output::Call>() + done.count<output::Commit>(), 0U);
  EXPECT_EQ(script_->log, (Texts{"k1", "resume"}));
}

TEST_F(MachineLife, CommandsWaitBehindAnswersAndWhatIsOwed) {
  on_command(replies("told"));
  EXPECT_TRUE(ask("bill").empty());
  EXPECT_TRUE(step(answer_to("k1")).empty());
  EXPECT_EQ(recovered().replies(), Texts{"told"});
  EXPECT_EQ(script_->log, (Texts{"k1", "resume", "bill"}));
}

TEST_F(MachineLife, AnAcceptedCommandIsNotDecidedAgainButAnsweredFromTheState) {
  (void)step(input::Command{Ask{"old", 5}, ReplyTo{1}, true});
  (void)step(input::Command{Ask{"young", 6}, ReplyTo{2}, true});
  (void)step(input::Replayed{{event(1, 5)}});
  const auto outputs = step(input::RecoveryDone{SequenceNr{1}, head(1), Epoch{1}});
  EXPECT_EQ(outputs.replies(), Texts{"old waited until 5"});
  EXPECT_EQ(script_->log, Texts{"resume"});
  EXPECT_FALSE(machine_->is_idle());
  // Also when it comes late, and even while a commit is outstanding.
  on_command(adds(1));
  (void)ask("one");
  EXPECT_EQ(step(input::Command{Ask{"late", 5}, ReplyTo{3}, true}).replies(),
            Texts{"late waited until 5"});
  EXPECT_EQ(stored(2).replies(), (Texts{"added", "young waited until 6"}));
}

// --- stops ---

TEST_F(MachineLife, FencedStopsWithCommandAnswersStashAndWaitersInHand) {
  (void)recovered();
  on_command(waits());
  (void)ask("waiter", false, 9);
  on_command(posts("k1"));
  (void)ask("bill", true);
  (void)ask("stashed");
  EXPECT_TRUE(step(answer_to("k0")).empty());
  const auto outputs = commit_answered(Fenced{});
  const auto stop = outputs.stop();
  EXPECT_EQ(stop.why, output::Stop::Why::recover);
  EXPECT_EQ(stop.error.code, ErrorCode::store_uncertain);
  ASSERT_EQ(stop.commands_in_hand.size(), 3U);
  const auto name = [&](std::size_t i) {
    return std::any_cast<Ask>(stop.commands_in_hand[i].command).name;
  };
  EXPECT_EQ(name(0), "bill");
  EXPECT_FALSE(stop.commands_in_hand[0].accepted);
  EXPECT_EQ(name(1), "stashed");
  EXPECT_FALSE(stop.commands_in_hand[1].accepted);
  EXPECT_EQ(name(2), "waiter");
  EXPECT_TRUE(stop.commands_in_hand[2].accepted);
  ASSERT_EQ(stop.answers_in_hand.size(), 1U);
  EXPECT_EQ(stop.answers_in_hand[0].key, IdempotencyKey{"k0"});
  EXPECT_TRUE(outputs.replies().empty());
  EXPECT_EQ(outputs.count<output::Call>(), 0U);
  EXPECT_EQ(outputs.count<output::ReleasePermit>(), 1U);
  EXPECT_EQ(sum(), 0);
}

TEST_F(MachineLife, AnUnknownCommitIsAnsweredAsUncertainAndItsCommandIsNotFedAgain) {
  (void)recovered();
  on_command(posts("k1"));
  (void)ask("bill", true);
  (void)ask("stashed");
  const auto outputs = commit_answered(CommitUnknown{{ErrorCode::store_uncertain, "disk"}});
  EXPECT_EQ(outputs.replies(), Texts{"turned down: uncertain"});
  const auto stop = outputs.stop();
  EXPECT_EQ(stop.why, output::Stop::Why::recover);
  EXPECT_EQ(stop.error.context, "disk");
  ASSERT_EQ(stop.commands_in_hand.size(), 1U);
  EXPECT_EQ(std::any_cast<Ask>(stop.commands_in_hand[0].command).name, "stashed");
  EXPECT_EQ(outputs.count<output::Call>(), 0U);
}

TEST_F(MachineLife, AnAnswerWhoseCommitIsUnknownOrFencedStaysInHand) {
  for (const CommitAnswer& end : {CommitAnswer{CommitUnknown{}}, CommitAnswer{Fenced{}}}) {
    create(Incarnation{1});
    (void)recovered();
    answer_with(adds(1));
    (void)step(answer_to("k1"));
    (void)step(answer_to("k2"));
    const auto stop = commit_answered(end).stop();
    EXPECT_EQ(stop.why, output::Stop::Why::recover);
    ASSERT_EQ(stop.answers_in_hand.size(), 2U);
    EXPECT_EQ(stop.answers_in_hand[0].key, IdempotencyKey{"k1"});
    EXPECT_EQ(stop.answers_in_hand[1].key, IdempotencyKey{"k2"});
    EXPECT_EQ(sum(), 0);
  }
}

TEST_F(MachineLife, AStopGivesBackThePermitOfTheUnitThatFailed) {
  for (const CommitAnswer& end : {CommitAnswer{CommitUnknown{}}, CommitAnswer{Fenced{}}}) {
    create(Incarnation{1});
    owe("k1");
    EXPECT_EQ(recovered(true).count<output::Commit>(), 1U);
    EXPECT_EQ(permits_, 1);
    (void)commit_answered(end);
    EXPECT_EQ(permits_, 0);
  }
}

TEST_F(MachineLife, AQuarantineAnswersStashAndWaitersAndGivesBackThePermit) {
  (void)recovered();
  on_command(waits());
  (void)ask("waiter", false, 9);
  answer_with(posts("k1"));
  (void)step(answer_to("k0"), true);
  (void)ask("stashed");
  EXPECT_EQ(permits_, 1);
  const auto outputs = commit_answered(InvalidUnit{});
  EXPECT_EQ(outputs.stop().why, output::Stop::Why::quarantine);
  EXPECT_EQ(outputs.replies(), (Texts{"turned down: quarantined", "turned down: quarantined"}));
  EXPECT_EQ(permits_, 0);
}

// --- what is owed, wake-ups, idleness ---

TEST_F(MachineLife, ResumeIsAskedAgainAfterEachDecisionItMadeUntilNothingIsOwed) {
  script_->on_resume = [](const State& state, const Context&) {
    return state.sum < 3 ? adds(1) : Decided{};
  };
  EXPECT_EQ(recovered().count<output::Commit>(), 1U);
  EXPECT_EQ(stored(1).count<output::Commit>(), 1U);
  EXPECT_EQ(stored(2).count<output::Commit>(), 1U);
  EXPECT_TRUE(stored(3).empty());
  EXPECT_EQ(script_->log.size(), 4U);
}

TEST_F(MachineLife, AfterALookUpThatStoresNothingTheRestIsStillAskedFor) {
  script_->on_resume = [this](const State&, const Context& context) {
    Decided decided;
    for (const char* key : {"a", "b"}) {
      if (context.in_flight(IdempotencyKey{key})) continue;
      if (!context.permit) return wants_permit();
      decided.effects.push_back(CallProvider{request(key, Operation::get_intent)});
      return decided;
    }
    return decided;
  };
  const auto outputs = recovered(true);
  EXPECT_EQ(outputs.count<output::Call>(), 1U);
  EXPECT_EQ(outputs.count<output::AcquirePermit>(), 1U);
  EXPECT_EQ(step(input::PermitGranted{incarnation_}).count<output::Call>(), 1U);
}

TEST_F(MachineLife, AWakeWhileCommittingIsRemembered) {
  (void)recovered();
  on_command(adds(1));
  (void)ask("one");
  script_->log.clear();
  EXPECT_TRUE(step(input::Wake{}).empty());
  EXPECT_TRUE(script_->log.empty());
  (void)stored(1);
  EXPECT_EQ(script_->log, Texts{"resume"});
}

TEST_F(MachineLife, AStoredCommandAloneDoesNotAskWhatIsOwed) {
  (void)recovered();
  on_command(adds(1));
  (void)ask("one");
  script_->log.clear();
  (void)stored(1);
  EXPECT_TRUE(script_->log.empty());
}

TEST_F(MachineLife, IsIdleOnlyWhenNothingIsOutstanding) {
  EXPECT_FALSE(machine_->is_idle());  // recovering
  (void)recovered();
  EXPECT_TRUE(machine_->is_idle());
  on_command(adds(1));
  (void)ask("one");
  EXPECT_FALSE(machine_->is_idle());  // committing
  EXPECT_TRUE(machine_->is_running());
  (void)stored(1);
  EXPECT_TRUE(machine_->is_idle());
  on_command(waits());
  (void)ask("w", false, 2);
  EXPECT_FALSE(machine_->is_idle());  // somebody waits
  on_command(adds(1));
  (void)ask("two");
  (void)stored(2);
  EXPECT_TRUE(machine_->is_idle());
  on_command(wants_permit());
  (void)ask("three");
  EXPECT_FALSE(machine_->is_idle());  // a permit is asked for
  (void)step(input::PermitGranted{incarnation_});
  EXPECT_TRUE(machine_->is_idle());
  on_command(adds(1));
  (void)ask("four");
  (void)commit_answered(Fenced{});
  EXPECT_FALSE(machine_->is_idle());  // stopped
  EXPECT_FALSE(machine_->is_running());
}

}  // namespace
}  // namespace onceward
