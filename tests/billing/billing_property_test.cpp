// Random schedules of several obligations of one customer: duplicates, conflicts, crashes, unknown
// commits, every fate of a request, set clocks, lost permits, an operator and others who meddle.
// Every seed holds all invariants, comes to rest, and is the same run twice.
//
// ONCEWARD_SEED=n runs that seed alone and prints what happened; ONCEWARD_LONG=1 runs more seeds.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/support/random_world.hpp"

namespace onceward::testing {
namespace {

constexpr std::uint64_t first_seed = 1;

int seeds_to_run() {
  return std::getenv("ONCEWARD_LONG") == nullptr ? 500 : 20'000;
}

TEST(BillingProperty, EverySeedHoldsComesToRestAndIsTheSameTwice) {
  const int seeds = seeds_to_run();
  std::map<ObligationStatus, int> statuses;
  int crashes = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(seeds);
       ++seed) {
    RandomWorld world(seed);
    world.run();
    ASSERT_EQ(world.verdict(), "") << "ONCEWARD_SEED=" << seed;
    RandomWorld again(seed);
    again.run();
    ASSERT_EQ(world.digest(), again.digest()) << "ONCEWARD_SEED=" << seed;
    for (const auto& [status, count] : world.statuses()) statuses[status] += count;
    crashes += world.crashes();
  }
  std::printf("  %d seeds, %d crashes:", seeds, crashes);
  for (const auto& [status, count] : statuses) {
    std::printf(" %s %d", std::string(to_text(status)).c_str(), count);
  }
  std::printf("\n");
  // The weather is bad enough for every kind of end, and good enough for money to come in.
  EXPECT_GT(crashes, seeds / 2);
  for (const auto end : {ObligationStatus::completed, ObligationStatus::parked,
                         ObligationStatus::rejected, ObligationStatus::capped}) {
    EXPECT_GT(statuses[end], seeds / 200) << to_text(end);
  }
}

TEST(BillingProperty, OneSeedToLookAt) {
  const char* text = std::getenv("ONCEWARD_SEED");
  if (text == nullptr) GTEST_SKIP() << "set ONCEWARD_SEED to print one run";
  RandomWorld world(std::strtoull(text, nullptr, 10));
  world.keeps_trace = true;
  world.run();
  std::printf("%s", world.trace().c_str());
  EXPECT_EQ(world.verdict(), "");
}

}  // namespace
}  // namespace onceward::testing
