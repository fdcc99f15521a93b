// Bodies of the cases that notice a mutation, for mutations_test.cpp.
#pragma once

#include "tests/cases/case_run.hpp"

namespace onceward::cases {

void r09_second_try_after_a_decline(const CaseSetup& setup);
void r17_unknown_then_late_repair(const CaseSetup& setup);
void r19_still_running(const CaseSetup& setup);
void r41_refused_after_two_days(const CaseSetup& setup);
void r68_delivered_six_times(const CaseSetup& setup);
void r91_price_changed_on_the_way(const CaseSetup& setup);
void r103_fifty_at_once(const CaseSetup& setup);
void r113_age_unknown(const CaseSetup& setup);
void r115_killed_before_the_send(const CaseSetup& setup);
void r118_redelivered_after_a_crash(const CaseSetup& setup);

}  // namespace onceward::cases
