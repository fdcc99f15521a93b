// Every schedule of the built-in scenarios within their bounds holds: N of N, on every run.
// ONCEWARD_LONG=1 raises the bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ostream>

#include <onceward/harness/billing_scenarios.hpp>
#include <onceward/harness/explore.hpp>

namespace onceward::harness {

// GoogleTest finds it by its name; without it a parameter is printed byte by byte.
void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

namespace {

bool is_long() {
  return std::getenv("ONCEWARD_LONG") != nullptr;
}

class BillingScenarios : public ::testing::TestWithParam<Scenario> {};
INSTANTIATE_TEST_SUITE_P(, BillingScenarios, ::testing::ValuesIn(*billing_scenarios(is_long())),
                         [](const auto& scenario) {
                           std::string name = scenario.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(BillingScenarios, HoldsInEverySchedule) {
  const Report report = explore(GetParam());
  const std::string failed =
      report.failure ? report.failure->violation.what + " under " + to_text(report.failure->choices)
                     : report.problem + report.non_deterministic;
  EXPECT_EQ(failed, "");
  EXPECT_TRUE(report.complete);
  for (const auto& label : report.unreached) ADD_FAILURE() << "never happened: " << label;
  std::printf(
      "  %llu of %llu schedules hold; %llu executed, %llu cut at one of %llu states; %.1f s, per "
      "core %.0f/s\n",
      static_cast<unsigned long long>(report.schedules),
      static_cast<unsigned long long>(report.schedules),
      static_cast<unsigned long long>(report.executed), static_cast<unsigned long long>(report.cut),
      static_cast<unsigned long long>(report.states), report.seconds,
      report.per_second(report.schedules));
}

}  // namespace
}  // namespace onceward::harness
