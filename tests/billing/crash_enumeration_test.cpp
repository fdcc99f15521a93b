// Every schedule of one customer and one period up to a stated bound: crash at every durable step,
// send, answer and reply, again during the recovery, with provider faults, ambiguous commits and
// duplicate commands. N of N schedules must hold; the counts are printed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/support/billing_world.hpp"

namespace onceward::testing {
namespace {

billing::BillingPolicy policy(billing::Flow flow) {
  billing::BillingPolicy p;
  p.ns = Namespace{"acme-billing"};
  p.account = AccountLabel{"default"};
  p.flow = flow;
  return p;
}

struct Tally {
  long schedules = 0;
  long completed = 0;
  long operator_owned = 0;
  long cancelled = 0;
  long uncollectible = 0;
};

Tally enumerate(const WorldOptions& options) {
  Tally tally;
  Odometer chooser;
  do {
    BillingWorld world(options, chooser);
    world.run();
    const std::string verdict = world.verdict();
    EXPECT_EQ(verdict, "") << "schedule " << chooser.schedule();
    if (!verdict.empty()) return tally;
    ++tally.schedules;
    const auto row = world.row();
    if (row && row->status == ObligationStatus::completed) ++tally.completed;
    if (row && is_operator_owned(row->status)) ++tally.operator_owned;
    if (row && row->status == ObligationStatus::cancelled) ++tally.cancelled;
    if (row && row->status == ObligationStatus::uncollectible) ++tally.uncollectible;
  } while (chooser.next());
  std::printf(
      "  %ld of %ld schedules hold, %ld completed, %ld cancelled, %ld uncollectible, "
      "%ld with an operator\n",
      tally.schedules, tally.schedules, tally.completed, tally.cancelled, tally.uncollectible,
      tally.operator_owned);
  return tally;
}

class AllFlows : public ::testing::TestWithParam<billing::Flow> {};
INSTANTIATE_TEST_SUITE_P(Flow, AllFlows,
                         ::testing::Values(billing::Flow::payment_intents, billing::Flow::charges,
                                           billing::Flow::payment_intents_one_step),
                         [](const auto& flow) {
                           switch (flow.param) {
                             case billing::Flow::charges:
                               return "charges";
                             case billing::Flow::payment_intents:
                               return "payment_intents";
                             case billing::Flow::payment_intents_one_step:
                               return "one_step";
                           }
                           return "";
                         });

TEST_P(AllFlows, UpToTwoCrashesChargeExactlyOnce) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 2;
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.schedules, 30);
  // A crash alone leaves the outcome decidable within the key's life: nobody needs an operator.
  EXPECT_EQ(tally.completed, tally.schedules);
}

TEST_P(AllFlows, CrashesWithProviderFaultsChargeAtMostOnce) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 1;
  options.faults = 2;
  options.fates = {Fate::lost_before, Fate::lost_after, Fate::saved_500,
                   Fate::failed_500,  Fate::declined,   Fate::limited};
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.schedules, 300);
  EXPECT_GT(tally.completed, 0);
}

TEST_P(AllFlows, AmbiguousCommitsAndDuplicatesChargeExactlyOnce) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 1;
  options.ambiguities = 1;
  options.duplicates = 1;
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.schedules, 100);
  EXPECT_EQ(tally.completed, tally.schedules);
}

TEST_P(AllFlows, DowntimeBeyondTheKeysLifeNeverChargesTwice) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 2;
  options.downtime = std::chrono::hours{25};
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.schedules, 30);
  if (GetParam() == billing::Flow::payment_intents) {
    // Two steps settle every unknown by reading the intent: no operator is needed at any age.
    EXPECT_EQ(tally.completed, tally.schedules);
  } else {
    // With charges alone absence is no proof: those whose send was lost wait for an operator.
    EXPECT_GT(tally.operator_owned, 0);
  }
}

// Called off at any moment, also while a call is under way: charged once or not at all, and what
// says cancelled cannot be paid any more.
TEST_P(AllFlows, ACancelAtAnyMomentEndsCancelledOrPaid) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 2;
  options.cancels = 1;
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.completed, 0);
  EXPECT_EQ(tally.cancelled + tally.completed, tally.schedules);
  // With one step the only request is under way before anybody can act.
  const bool two_steps = GetParam() == billing::Flow::payment_intents;
  EXPECT_EQ(tally.cancelled > 0, two_steps);
}

TEST_P(AllFlows, ACancelBesideFaultsEndsVisibly) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 1;
  options.cancels = 1;
  options.faults = 1;
  options.fates = {Fate::lost_before, Fate::lost_after, Fate::saved_500, Fate::failed_500,
                   Fate::declined,    Fate::limited,    Fate::invalid};
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.cancelled, 0);
}

// A card that is refused every time: tried as often as planned and given up, with nothing payable
// left; with another card set at any moment it is paid once.
TEST_P(AllFlows, ARefusedCardEndsUncollectibleUnlessAnotherOneIsSet) {
  for (const int methods : {0, 1}) {
    WorldOptions options;
    options.policy = policy(GetParam());
    options.policy.dunning_attempts = 3;
    options.crashes = methods == 0 ? 2 : 1;
    options.methods = methods;
    options.refused_method = "pm_1";
    const Tally tally = enumerate(options);
    EXPECT_GT(tally.uncollectible, 0);
    EXPECT_EQ(tally.uncollectible + tally.completed, tally.schedules);
    EXPECT_EQ(tally.completed > 0, methods > 0);
  }
}

TEST_P(AllFlows, ACardThatNeedsItsCustomerWaitsForAnotherOne) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 2;
  options.methods = 1;
  options.refused_method = "pm_1";
  options.decline_code = "expired_card";
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.uncollectible, 0);  // never set: given up when its time is over
  EXPECT_GT(tally.completed, 0);
  EXPECT_EQ(tally.uncollectible + tally.completed, tally.schedules);
}

}  // namespace
}  // namespace onceward::testing
