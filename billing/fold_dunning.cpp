// The fold of dunning.
#include "billing/fold.hpp"

namespace onceward::billing {

std::string Fold::operator()(const DunningPlanned& e) {
  const bool asked_by_hand = ob_.status == ObligationStatus::in_progress && ob_.declines > 0;
  if (ob_.status != ObligationStatus::declined && !asked_by_hand) {
    return "dunning without a decline";
  }
  ob_.status = ObligationStatus::declined;
  ob_.reason = e.reason;
  ob_.look_up_owed = false;
  ob_.waits_for_method = false;
  ob_.next_attempt_at.reset();
  wait_until(e.next_action_at);
  switch (e.plan) {
    case DunningPlan::try_again:
      ob_.next_attempt_at = e.next_action_at;
      return {};
    case DunningPlan::wait_for_method:
      ob_.waits_for_method = true;
      return {};
    case DunningPlan::give_up:
      ob_.closing = Closing{Closing::As::uncollectible, e.reason, "", false};
      return {};
  }
  return "unknown plan";
}

std::string Fold::operator()(const FoundStillOwed& e) {
  if (!is_open(ob_.status)) return "still owed after it was closed";
  if (ob_.request && ob_.request->open) return "still owed while a request is unresolved";
  ob_.still_owed_at = e.at;
  if (!e.failure_charge.empty()) ob_.failure_charge = e.failure_charge;
  ob_.look_up_owed = false;
  wait_until(e.at);
  return {};
}

}  // namespace onceward::billing
