// See the table in the header; tests/billing/resume_table_test.cpp has a case per cell.
#include <onceward/billing/resume_table.hpp>

namespace onceward::billing {

std::string_view to_text(ResumeAction action) noexcept {
  switch (action) {
    case ResumeAction::send_same_key:
      return "send_same_key";
    case ResumeAction::send_next_generation:
      return "send_next_generation";
    case ResumeAction::look_up:
      return "look_up";
    case ResumeAction::wait_until_quiet:
      return "wait_until_quiet";
    case ResumeAction::park:
      return "park";
  }
  return "unknown";
}

ResumeAction resume_action(const ResumeFacts& facts) noexcept {
  if (!facts.tainted) return ResumeAction::send_same_key;
  if (facts.young && !facts.pointless && !facts.burst_used) return ResumeAction::send_same_key;
  switch (facts.looked_up) {
    case LookedUp::nothing:
    case LookedUp::failed:
      return ResumeAction::look_up;
    case LookedUp::too_early:
      return facts.quiet ? ResumeAction::look_up : ResumeAction::wait_until_quiet;
    case LookedUp::absent:
    case LookedUp::unpaid_same:
      break;
  }
  switch (facts.step) {
    case Step::create:
    case Step::cancel:
      return ResumeAction::send_next_generation;
    case Step::confirm:
      return facts.quiet ? ResumeAction::send_next_generation : ResumeAction::wait_until_quiet;
    case Step::create_confirm:
      // Its intent is known and unpaid: confirming that very one cannot take money twice.
      if (facts.quiet && facts.looked_up == LookedUp::unpaid_same) {
        return ResumeAction::send_next_generation;
      }
      return facts.quiet ? ResumeAction::park : ResumeAction::wait_until_quiet;
    case Step::charge:
    case Step::refund:
      return facts.quiet ? ResumeAction::park : ResumeAction::wait_until_quiet;
  }
  return ResumeAction::park;
}

}  // namespace onceward::billing
