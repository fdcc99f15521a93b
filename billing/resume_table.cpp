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
    case ResumeAction::call_off:
      return "call_off";
    case ResumeAction::park:
      return "park";
  }
  return "unknown";
}

namespace {

// A complete list without our charge, or without the intent of a one-step request.
ResumeAction after_absence(const ResumeFacts& facts) {
  if (!facts.quiet) return ResumeAction::wait_until_quiet;
  if (facts.heading == Heading::by_verdict) return ResumeAction::call_off;
  const bool rebills = facts.may_rebill && facts.heading == Heading::bill;
  return rebills ? ResumeAction::send_next_generation : ResumeAction::park;
}

// The request's intent is known and unpaid: confirming that very one cannot take money twice.
ResumeAction after_unpaid(const ResumeFacts& facts) {
  if (!facts.quiet) return ResumeAction::wait_until_quiet;
  return facts.heading == Heading::bill ? ResumeAction::send_next_generation
                                        : ResumeAction::call_off;
}

ResumeAction after_look_up(const ResumeFacts& facts) {
  switch (facts.step) {
    case Step::create:
      // One that still runs would leave a second intent beside the one that follows.
      if (!facts.quiet) return ResumeAction::wait_until_quiet;
      return facts.heading == Heading::bill ? ResumeAction::send_next_generation
                                            : ResumeAction::call_off;
    case Step::cancel:
      return ResumeAction::send_next_generation;
    case Step::confirm:
      return after_unpaid(facts);
    case Step::create_confirm:
      return facts.looked_up == LookedUp::unpaid_same ? after_unpaid(facts) : after_absence(facts);
    case Step::charge:
      return after_absence(facts);
    case Step::refund:
      return facts.quiet ? ResumeAction::park : ResumeAction::wait_until_quiet;
  }
  return ResumeAction::park;
}

}  // namespace

ResumeAction resume_action(const ResumeFacts& facts) noexcept {
  const bool bills = facts.heading == Heading::bill;
  const bool is_wanted = bills || facts.step == Step::cancel || facts.step == Step::refund;
  if (!facts.tainted) return is_wanted ? ResumeAction::send_same_key : ResumeAction::call_off;
  const bool key_helps = facts.young && !facts.pointless && !facts.burst_used;
  if (key_helps && (is_wanted || !moves_money(facts.step))) return ResumeAction::send_same_key;
  switch (facts.looked_up) {
    case LookedUp::nothing:
    case LookedUp::failed:
      return ResumeAction::look_up;
    case LookedUp::too_early:
      return facts.quiet ? ResumeAction::look_up : ResumeAction::wait_until_quiet;
    case LookedUp::absent:
    case LookedUp::unpaid_same:
      return after_look_up(facts);
  }
  return ResumeAction::park;
}

}  // namespace onceward::billing
