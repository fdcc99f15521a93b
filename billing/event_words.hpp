// Words for the enumerations of events as they are stored; permanent. Private.
#pragma once

#include <array>
#include <string_view>

#include <onceward/billing/billing_events.hpp>

namespace onceward::billing {

inline constexpr std::array<std::string_view, 5> looked_up_names = {
    "nothing", "absent", "unpaid_same", "failed", "too_early"};
inline constexpr std::array<std::string_view, 2> pending_names = {"processing", "action_required"};
inline constexpr std::array<std::string_view, 3> plan_names = {"try_again", "wait_for_method",
                                                               "give_up"};

}  // namespace onceward::billing
