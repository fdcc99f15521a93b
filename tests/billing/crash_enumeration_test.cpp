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
  } while (chooser.next());
  std::printf("  %ld of %ld schedules hold, %ld completed, %ld with an operator\n", tally.schedules,
              tally.schedules, tally.completed, tally.operator_owned);
  return tally;
}

class BothFlows : public ::testing::TestWithParam<billing::Flow> {};
INSTANTIATE_TEST_SUITE_P(Flow, BothFlows,
                         ::testing::Values(billing::Flow::payment_intents, billing::Flow::charges),
                         [](const auto& flow) {
                           return flow.param == billing::Flow::charges ? "charges"
                                                                       : "payment_intents";
                         });

TEST_P(BothFlows, UpToTwoCrashesChargeExactlyOnce) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 2;
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.schedules, 30);
  // A crash alone leaves the outcome decidable within the key's life: nobody needs an operator.
  EXPECT_EQ(tally.completed, tally.schedules);
}

TEST_P(BothFlows, CrashesWithProviderFaultsChargeAtMostOnce) {
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

TEST_P(BothFlows, AmbiguousCommitsAndDuplicatesChargeExactlyOnce) {
  WorldOptions options;
  options.policy = policy(GetParam());
  options.crashes = 1;
  options.ambiguities = 1;
  options.duplicates = 1;
  const Tally tally = enumerate(options);
  EXPECT_GT(tally.schedules, 100);
  EXPECT_EQ(tally.completed, tally.schedules);
}

TEST_P(BothFlows, DowntimeBeyondTheKeysLifeNeverChargesTwice) {
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

}  // namespace
}  // namespace onceward::testing
