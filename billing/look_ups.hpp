// Answers to reads of the provider's present state. Private to billing.
#pragma once

#include <cstdint>

#include "billing/draft.hpp"

namespace onceward::billing {

/// One read may be wrong like any other answer. What it told is believed, and shown to an operator,
/// only when more reads than these have told nothing usable in a row and the last two agree.
inline constexpr std::uint32_t odd_reads_doubted = 4;

/// The answer to start_look_up(): what it says of the obligation's request.
void on_look_up_answer(Draft& draft, const ExternalAnswer& answer);

/// The answer to start_earlier_look_up(): charges an older system may have made.
void on_earlier_list(Draft& draft, const ExternalAnswer& answer);

}  // namespace onceward::billing
