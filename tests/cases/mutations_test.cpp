// Deliberate faults of the program: each is noticed by the case named beside it. A case that stays
// green without the guard that it is about would prove nothing.
#include "tests/cases/bodies.hpp"

namespace onceward::cases {
namespace {

struct Noticed {
  const char* name;
  Mutation mutation;
  CaseBody body;
  bool in_two_steps;  ///< the flows in which it is noticed
  bool in_charges;
};

class Mutations : public ::testing::TestWithParam<Noticed> {};

TEST_P(Mutations, IsNoticed) {
  const Noticed& noticed = GetParam();
  for (const Flow flow : {Flow::payment_intents, Flow::charges}) {
    const bool expected = flow == Flow::charges ? noticed.in_charges : noticed.in_two_steps;
    EXPECT_EQ(report_of(noticed.body, {flow, Mutation::none}), "") << "red without a mutation";
    const std::string report = report_of(noticed.body, {flow, noticed.mutation});
    EXPECT_EQ(!report.empty(), expected) << report;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Mutations,
    ::testing::Values(
        Noticed{"M1_R19", Mutation::random_key, r19_still_running, true, true},
        Noticed{"M2_R09", Mutation::key_without_attempt, r09_second_try_after_a_decline, true,
                true},
        Noticed{"M3_R17", Mutation::failed_on_timeout, r17_unknown_then_late_repair, true, true},
        Noticed{"M4_R118", Mutation::claim_apart, r118_redelivered_after_a_crash, true, true},
        Noticed{"M5_R115", Mutation::claim_means_done, r115_killed_before_the_send, true, true},
        Noticed{"M6_R113", Mutation::resend_after_a_day, r113_age_unknown, true, true},
        Noticed{"M7_R41", Mutation::pending_is_a_charge, r41_refused_after_two_days, true, true},
        Noticed{"M8_R91", Mutation::period_of_the_clock, r91_price_changed_on_the_way, true, true},
        Noticed{"M9_R103", Mutation::cap_not_reserved, r103_fifty_at_once, true, true},
        Noticed{"M10_R68", Mutation::hint_apart, r68_delivered_six_times, true, true}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace onceward::cases
