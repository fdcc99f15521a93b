// What a person should know about an obligation that needs one: why, and the exact next step. Pure,
// from the row alone, so that lists need no entity.
#pragma once

#include <optional>
#include <string_view>

#include <onceward/core/obligation.hpp>

namespace onceward::billing {

struct Advice {
  std::string_view why;        ///< one sentence, in present tense
  std::string_view next_step;  ///< what to do, or what happens by itself
};

/// Absent if nobody needs to look: the obligation is on its way, or closed as it should be.
/// `action_required` and `processing` have advice always; when they are overdue is the caller's
/// deadline. Texts are for people and may change; `status` and `reason` of the row are for
/// programs.
[[nodiscard]] std::optional<Advice> advice_for(const ObligationRow& row);

}  // namespace onceward::billing
