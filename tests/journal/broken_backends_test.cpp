// Each rule of the journal port, broken on purpose, fails the case that is there for it; nothing
// broken, the same program passes.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/journal/broken_journal.hpp"

namespace onceward::journal::testing {
namespace {

struct Broken {
  BrokenRule rule;
  const char* name;
  const char* suite;  // without "Journal" and "Conformance"
  const char* failing_case;
};

/// Runs the suite over the broken journal; its exit code and its output.
std::pair<int, std::string> run(BrokenRule rule, const std::string& filter) {
  const std::string command = "ONCEWARD_BROKEN_RULE=" + std::to_string(static_cast<int>(rule)) +
                              " " ONCEWARD_BROKEN_BACKEND " --gtest_filter='" + filter + "' 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string output;
  char chunk[4096];
  while (std::fgets(chunk, sizeof(chunk), pipe) != nullptr) output += chunk;
  return {::pclose(pipe), output};
}

class BrokenBackends : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenBackends, FailsTheCaseOfItsRule) {
  const Broken& broken = GetParam();
  const std::string name =
      "Broken/Journal" + std::string(broken.suite) + "Conformance/0." + broken.failing_case;
  const auto [code, output] = run(broken.rule, name);
  EXPECT_NE(code, 0);
  EXPECT_NE(output.find("[  FAILED  ] " + name), std::string::npos) << output;
}

INSTANTIATE_TEST_SUITE_P(
    Journal, BrokenBackends,
    ::testing::Values(
        Broken{BrokenRule::lost_acknowledgement, "LostAcknowledgement", "Commit",
               "StoresEventsWithEverythingThatWasGiven"},
        Broken{BrokenRule::gap, "Gap", "Read", "ReplaysInOrderFromAnyPlaceAndStopsWhenAsked"},
        Broken{BrokenRule::stale_epoch_accepted, "StaleEpochAccepted", "Commit",
               "FencesAnOlderAndAnUnheardOfEpoch"},
        Broken{BrokenRule::stale_end_accepted, "StaleEndAccepted", "Commit",
               "FencesAnotherSequenceNumberOrHead"},
        Broken{BrokenRule::row_apart_from_event, "RowApartFromEvent", "Commit",
               "StoresAllPartsOfAUnitTogether"},
        Broken{BrokenRule::replay_out_of_order, "ReplayOutOfOrder", "Read",
               "ReplaysInOrderFromAnyPlaceAndStopsWhenAsked"},
        Broken{BrokenRule::truncated_payload, "TruncatedPayload", "Commit",
               "StoresEventsWithEverythingThatWasGiven"},
        Broken{BrokenRule::mark_not_unique, "MarkNotUnique", "Commit",
               "RefusesAMarkThatExistsAndShowsIt"},
        Broken{BrokenRule::unknown_read_too_early, "UnknownReadTooEarly", "Barrier",
               "NobodyWritesOrReadsUntilTheBarrier"},
        Broken{BrokenRule::cap_not_enforced, "CapNotEnforced", "Cap",
               "RefusesWhatWouldPassALimitAndSaysByHowMuch"},
        Broken{BrokenRule::neighbours_harmed, "NeighboursHarmed", "Commit",
               "LeavesTheNeighboursOfRefusedUnitsUnharmed"},
        Broken{BrokenRule::half_unit, "HalfUnit", "Commit",
               "LeavesTheNeighboursOfRefusedUnitsUnharmed"},
        Broken{BrokenRule::claim_overwrites, "ClaimOverwrites", "Commit",
               "RefusesAClaimThatExistsAndShowsTheRow"},
        Broken{BrokenRule::snapshot_lost, "SnapshotLost", "Read", "KeepsTheNewestSnapshotOnly"},
        Broken{BrokenRule::quarantine_forgotten, "QuarantineForgotten", "Read",
               "QuarantinesUntilItIsLifted"}),
    [](const auto& broken) { return broken.param.name; });

TEST(BrokenBackend, PassesEverythingIfNothingIsBroken) {
  const auto [code, output] = run(BrokenRule::none, "*");
  EXPECT_EQ(code, 0) << output;
}

}  // namespace
}  // namespace onceward::journal::testing
