// How a case is run: its body is a function of the flow and of what was taken out of the program,
// so that the same body proves the rule and notices a mutation.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/case_world.hpp"

namespace onceward::cases {

using namespace onceward::billing;  // NOLINT: tests of that module
using namespace std::chrono_literals;
using testing::CaseOptions;
using testing::CaseWorld;
using testing::CrashPoint;
using Status = ObligationStatus;

/// Deliberate faults of the program; each must be noticed by a case.
enum class Mutation : std::uint8_t {
  none,
  random_key,           ///< m1: every send has a key of its own
  key_without_attempt,  ///< m2
  failed_on_timeout,    ///< m3
  claim_apart,          ///< m4: claim and events are two transactions
  claim_means_done,     ///< m5: resume treats what is claimed as done
  resend_after_a_day,   ///< m6
  pending_is_a_charge,  ///< m7: `pending` returned as charge id
  period_of_the_clock,  ///< m8
  cap_not_reserved,     ///< m9: the cap is checked, nothing is reserved
  hint_apart,           ///< m10: webhook effect outside the transaction of its mark
};

struct CaseSetup {
  Flow flow = Flow::payment_intents;
  Mutation mutation = Mutation::none;

  /// The world's options under this setup.
  [[nodiscard]] CaseOptions options() const;
  [[nodiscard]] CaseOptions options_from(std::string_view start) const;
};
using CaseBody = void (*)(const CaseSetup&);

/// The program as it is, in the flows of two requests and of one.
void in_both_flows(CaseBody body);
/// Rows that are about intents.
void in_two_steps(CaseBody body);
/// What the body reports under a mutation; empty if it notices nothing.
[[nodiscard]] std::string report_of(CaseBody body, const CaseSetup& setup);

inline Timestamp utc(std::string_view text) {
  return *parse_iso(text);
}

}  // namespace onceward::cases
