// For GoogleTest: one macro that runs a scenario to its bound and fails with the shortest schedule
// and its diagram. The only header of the harness that needs GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <onceward/harness/explain.hpp>

namespace onceward::harness {

/// Success, or what a person needs to see. Prints the number of schedules either way.
[[nodiscard]] inline ::testing::AssertionResult holds_in_every_schedule(const Scenario& scenario) {
  const Report report = explore(scenario);
  if (!report.problem.empty()) return ::testing::AssertionFailure() << report.problem;
  if (!report.non_deterministic.empty()) {
    return ::testing::AssertionFailure() << report.non_deterministic;
  }
  if (report.failure) {
    const Failure shortest = shrink(scenario, *report.failure);
    return ::testing::AssertionFailure()
           << scenario.name << ": schedule " << to_text(shortest.choices) << "\n"
           << to_text(replay(scenario, shortest.choices));
  }
  for (const auto& label : report.unreached) {
    return ::testing::AssertionFailure() << scenario.name << ": never happened: " << label;
  }
  return ::testing::AssertionSuccess()
         << report.schedules << " of " << report.schedules << " schedules hold";
}

}  // namespace onceward::harness

#define ONCEWARD_EXPECT_HOLDS(scenario) \
  EXPECT_TRUE(::onceward::harness::holds_in_every_schedule(scenario))
