// Runs the meter with its planted bug, shows the shortest schedule that buys twice, then runs it
// without. Exit 0 if both verdicts are as they should be.
#include <cstdio>

#include <onceward/harness/explain.hpp>

#include "scenario.hpp"

namespace harness = onceward::harness;

int main() {
  const harness::Scenario broken = meter::scenario(true);
  const harness::Report found = harness::explore(broken);
  if (!found.failure) {
    std::printf("the planted bug was not found\n");
    return 1;
  }
  const harness::Failure shortest = harness::shrink(broken, *found.failure);
  std::printf("%s\n%s\n", harness::to_text(shortest.choices).c_str(),
              harness::to_text(harness::replay(broken, shortest.choices)).c_str());

  const harness::Report report = harness::explore(meter::scenario(false));
  std::printf("without the bug: %llu of %llu schedules hold\n",
              static_cast<unsigned long long>(report.schedules),
              static_cast<unsigned long long>(report.schedules));
  return report.holds() && report.complete ? 0 : 1;
}
