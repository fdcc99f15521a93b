// Permits and calls in flight: none is lost, none is used twice, and a call without answer is in
// flight for a stated time.
#include "tests/support/scripted_decider.hpp"

namespace onceward {
namespace {

using testing::Ask;
using testing::MachineBench;
using testing::Texts;

class Permits : public MachineBench {
 protected:
  /// resume() owes the POST `key` until an event is stored.
  void owe(const std::string& key) {
    script_->on_resume = [this, key](const State& state, const Context& context) {
      if (state.sum > 0 || context.in_flight(IdempotencyKey{key})) return Decided{};
      return context.permit ? posts(key) : wants_permit();
    };
  }
};

TEST_F(Permits, AnOfferedPermitThatNobodyNeedsGoesBackAtOnce) {
  EXPECT_EQ(recovered(true).count<output::ReleasePermit>(), 1U);
  on_command(adds(1));
  EXPECT_EQ(ask("one", true).count<output::ReleasePermit>(), 1U);
  EXPECT_EQ(ask("stashed", true).count<output::ReleasePermit>(), 1U);
  EXPECT_EQ(stored(1, true).count<output::ReleasePermit>(), 1U);
}

TEST_F(Permits, AsksForOnePermitAndActsWhenItIsGranted) {
  owe("k1");
  EXPECT_EQ(recovered().count<output::AcquirePermit>(), 1U);
  EXPECT_EQ(step(input::Wake{}).count<output::AcquirePermit>(), 0U);
  const auto granted = step(input::PermitGranted{incarnation_});
  EXPECT_EQ(granted.count<output::Commit>(), 1U);
  EXPECT_EQ(granted.count<output::ReleasePermit>(), 0U);
  EXPECT_EQ(stored(1).count<output::Call>(), 1U);
}

TEST_F(Permits, APermitGrantedToAnEarlierIncarnationGoesBack) {
  create(Incarnation{2});
  owe("k1");
  EXPECT_EQ(recovered().count<output::AcquirePermit>(), 1U);
  const auto stale = step(input::PermitGranted{Incarnation{1}});
  EXPECT_EQ(stale.count<output::ReleasePermit>(), 1U);
  EXPECT_EQ(stale.count<output::Commit>(), 0U);
  EXPECT_FALSE(machine_->is_idle());  // its own is still to come
  EXPECT_EQ(step(input::PermitGranted{Incarnation{2}}).count<output::Commit>(), 1U);
  (void)stored(1);
}

TEST_F(Permits, APermitGrantedWhileCommittingGoesBackAndIsAskedForAgain) {
  owe("k1");
  (void)recovered();
  on_command(adds(0));
  (void)ask("one");
  EXPECT_EQ(step(input::PermitGranted{incarnation_}).count<output::ReleasePermit>(), 1U);
  EXPECT_EQ(stored(1).count<output::AcquirePermit>(), 1U);
  EXPECT_EQ(step(input::PermitGranted{incarnation_}).count<output::Commit>(), 1U);
  EXPECT_EQ(stored(2).count<output::Call>(), 1U);
}

TEST_F(Permits, AnInvalidUnitsPermitServesWhatIsOwedNext) {
  (void)recovered();
  owe("k1");
  on_command(posts("k9"));
  (void)ask("bill", true);
  (void)step(input::Wake{});
  const auto outputs = commit_answered(InvalidUnit{});
  EXPECT_EQ(outputs.replies(), Texts{"turned down: invalid"});
  EXPECT_EQ(outputs.count<output::Commit>(), 1U);
  EXPECT_EQ(permits_, 1);
  EXPECT_EQ(stored(1).all<output::Call>().at(0).request.key, IdempotencyKey{"k1"});
}

TEST_F(Permits, ALookUpTakesItsPermitWithIt) {
  (void)recovered();
  Decided look;
  look.effects.push_back(CallProvider{request("look", Operation::get_intent)});
  on_command(look);
  const auto outputs = ask("look", true);
  EXPECT_EQ(outputs.count<output::Call>(), 1U);
  EXPECT_EQ(outputs.count<output::ReleasePermit>(), 0U);
  EXPECT_EQ(permits_, 0);
}

// --- calls in flight ---

TEST_F(Permits, ACallIsInFlightUntilItsAnswer) {
  (void)recovered();
  on_command(posts("k1"));
  (void)ask("bill", true);
  (void)stored(1);
  EXPECT_FALSE(machine_->is_idle());
  bool in_flight = false;
  script_->on_command = [&](const State&, const Ask&, const Context& context) {
    in_flight = context.in_flight(IdempotencyKey{"k1"});
    EXPECT_FALSE(context.in_flight(IdempotencyKey{"k2"}));
    return Decided{};
  };
  (void)ask("look");
  EXPECT_TRUE(in_flight);
  (void)step(answer_to("k2"));  // somebody else's
  (void)ask("look");
  EXPECT_TRUE(in_flight);
  (void)step(answer_to("k1"));
  (void)ask("look");
  EXPECT_FALSE(in_flight);
  EXPECT_TRUE(machine_->is_idle());
}

TEST_F(Permits, ALostCallIsForgottenHalfAMinuteAfterItsNotAfterAndOnlyThen) {
  (void)recovered();
  on_command(posts("k1"));
  (void)ask("bill", true);
  const auto call = stored(1).all<output::Call>().at(0);
  now_.boottime_ms = call.request.not_after_boottime_ms + 30'000;
  (void)step(input::Wake{});
  EXPECT_FALSE(machine_->is_idle());
  now_.boottime_ms += 1;
  script_->on_resume = [](const State&, const Context& context) {
    EXPECT_FALSE(context.in_flight(IdempotencyKey{"k1"}));
    return Decided{};
  };
  (void)step(input::Wake{});
  EXPECT_TRUE(machine_->is_idle());
}

TEST_F(Permits, OneLostCallDoesNotTakeAYoungerOneWithIt) {
  (void)recovered();
  on_command(posts("k1"));
  (void)ask("bill", true);
  (void)stored(1);
  now_.boottime_ms += 60'000;
  on_command(posts("k2"));
  (void)ask("bill", true);
  (void)stored(2);
  now_.boottime_ms += 51'000;  // k1 is 111 s old, k2 51 s
  script_->on_resume = [](const State&, const Context& context) {
    EXPECT_FALSE(context.in_flight(IdempotencyKey{"k1"}));
    EXPECT_TRUE(context.in_flight(IdempotencyKey{"k2"}));
    return Decided{};
  };
  (void)step(input::Wake{});
  EXPECT_FALSE(machine_->is_idle());
}

}  // namespace
}  // namespace onceward
