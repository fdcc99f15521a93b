// Each guard, taken out, turns the harness red with a short schedule that replays.
#include <gtest/gtest.h>

#include <ostream>

#include <onceward/harness/billing_scenarios.hpp>
#include <onceward/harness/explore.hpp>

namespace onceward::harness {
namespace {

class Guards : public ::testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(, Guards, ::testing::ValuesIn(guard_names),
                         [](const auto& guard) { return std::string(guard.param); });

TEST_P(Guards, AreMissedWhenTakenOut) {
  const auto scenarios = billing_scenarios(false, GetParam());
  ASSERT_TRUE(scenarios.has_value());
  ExploreOptions options;
  options.time_max = std::chrono::seconds{20};
  for (const auto& scenario : *scenarios) {
    const Report report = explore(scenario, options);
    if (!report.failure) continue;
    const Failure shortest = shrink(scenario, *report.failure);
    EXPECT_LE(fault_count(shortest.choices), 12U);
    const Replay again = replay(scenario, shortest.choices);
    ASSERT_TRUE(again.violation.has_value());
    EXPECT_EQ(again.violation->invariant, report.failure->violation.invariant);
    std::printf("  %s: %s by %s, schedule %s\n", scenario.name.c_str(),
                again.violation->invariant.c_str(), again.violation->what.c_str(),
                to_text(shortest.choices).c_str());
    return;
  }
  ADD_FAILURE() << "no scenario misses it";
}

TEST(GuardNames, AnUnknownOneIsRefusedWithThoseThereAre) {
  const auto scenarios = billing_scenarios(false, "calim");
  ASSERT_FALSE(scenarios.has_value());
  EXPECT_NE(scenarios.error().context.find("issued_periods"), std::string::npos);
}

TEST(RandomWorlds, HoldAndAreTheSameTwice) {
  for (const auto flow : {billing::Flow::payment_intents, billing::Flow::charges}) {
    const Scenario scenario = random_billing_scenario(flow);
    const Report report = run_seeds(scenario, {1, 300, true});
    EXPECT_EQ(report.non_deterministic, "");
    EXPECT_FALSE(report.failure) << report.failure->violation.what << " seed "
                                 << report.failure->seed.value_or(0);
    EXPECT_GT(report.counts.crashes, 200U);
    EXPECT_GT(report.counts.provider_faults, 50U);
    EXPECT_GT(report.counts.takeovers, 30U);
  }
}

}  // namespace
}  // namespace onceward::harness
