// Answers to reads of the provider's present state. Private to billing.
#pragma once

#include "billing/draft.hpp"

namespace onceward::billing {

/// The answer to start_look_up(): what it says of the obligation's request.
void on_look_up_answer(Draft& draft, const ExternalAnswer& answer);

/// The answer to start_earlier_look_up(): charges an older system may have made.
void on_earlier_list(Draft& draft, const ExternalAnswer& answer);

}  // namespace onceward::billing
