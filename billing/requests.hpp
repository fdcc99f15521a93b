// Building frozen provider requests from journaled facts, and starting them durably. Private.
#pragma once

#include "billing/draft.hpp"

namespace onceward::billing {

/// Records RequestStarted (with its cap reservation where money may move) and asks for the call;
/// under a cap refusal records BillingCapped instead. Without a free permit only asks for one.
/// `generation` is the obligation's present one or the next.
void start_request(Draft& draft, Step step, std::uint32_t generation);

/// Asks for the charges that an older system may have made for this obligation; stores nothing.
void start_earlier_look_up(Draft& draft);

/// Asks for the read that tells the state of the obligation's request; stores nothing.
void start_look_up(Draft& draft);

/// The metadata every create and charge carries, in the provider's spelling.
[[nodiscard]] Params obligation_metadata(const BillingPolicy& policy, const ObligationKey& key);

}  // namespace onceward::billing
