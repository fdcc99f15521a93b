// What the tests of runs expect in common.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_world.hpp"

namespace onceward::testing {

inline const std::string plan_a(32, 'a');

inline billing::SchedulerPolicy window_of(std::size_t window) {
  billing::SchedulerPolicy policy;
  policy.window = window;
  return policy;
}

/// Every row of the plan was asked and is completed.
inline void expect_all_billed(RunWorld& world, std::size_t rows) {
  EXPECT_EQ(world.newest().status, billing::RunStatus::completed);
  EXPECT_EQ(world.newest().cursor, rows);
  EXPECT_EQ(world.customers().size(), rows);
  for (const auto& [key, customer] : world.customers()) {
    EXPECT_FALSE(customer.request_ids.empty()) << key.first;
    EXPECT_EQ(customer.status, ObligationStatus::completed) << key.first;
  }
  EXPECT_EQ(world.verdict(), "");
}

}  // namespace onceward::testing
