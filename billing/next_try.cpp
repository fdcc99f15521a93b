// When and how a declined obligation is tried again.
#include "billing/next_try.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/dunning.hpp>

#include "billing/closing.hpp"
#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

constexpr std::chrono::milliseconds a_day = std::chrono::hours{24};

// A read older than this does not tell any more whether the period is still owed.
constexpr std::chrono::milliseconds fresh = std::chrono::minutes{2};

Step next_step(const Draft& draft) {
  const ObligationState& ob = draft.obligation();
  switch (draft.policy().flow) {
    case Flow::charges:
      return Step::charge;
    case Flow::payment_intents:
      return ob.intent.empty() ? Step::create : Step::confirm;
    case Flow::payment_intents_one_step:
      return ob.intent.empty() ? Step::create_confirm : Step::confirm;
  }
  ONCEWARD_CHECK(false, "every flow has a next step");
}

void plan(Draft& draft, DunningPlan what, std::string reason, Timestamp at) {
  draft.add(DunningPlanned{draft.of(), draft.now(), what, std::move(reason), at});
}

Timestamp first_decline(const Draft& draft) {
  return draft.obligation().first_declined_at.value_or(draft.now());
}

// The last time this obligation's try put a strain on the card; absent if it did not.
std::optional<Timestamp> last_strain(const ObligationState& ob, const PaymentMethod& card) {
  std::optional<Timestamp> at;
  if (ob.declined_at && ob.declined_method == card) at = ob.declined_at;
  const bool tries = is_open(ob.status) && ob.request && ob.request->open && ob.attempt > 1 &&
                     moves_money(ob.request->step) && ob.request->payment_method == card;
  if (tries) at = std::max(at.value_or(Timestamp{}), ob.request->last_sent.wall);
  return at;
}

// When the card may be tried again: schemes count the tries of a day over all obligations.
Timestamp card_rests_until(const Draft& draft) {
  const PaymentMethod& card = draft.obligation().payment_method;
  Timestamp until{};
  for (const auto& [of, other] : draft.customer_state().obligations) {
    const auto at = last_strain(other, card);
    if (at) until = std::max(until, at->plus(a_day));
  }
  return until;
}

// True if the try was put off or given up.
bool spares_card(Draft& draft) {
  const Timestamp until = card_rests_until(draft);
  if (until <= draft.now()) return false;
  if (first_decline(draft).plus(draft.policy().dunning_spread) < until) {
    plan(draft, DunningPlan::give_up, "dunning_exhausted", draft.now());
    close_up(draft);
  } else {
    plan(draft, DunningPlan::try_again, "card_tried_today", until);
  }
  return true;
}

bool is_fresh(const Draft& draft) {
  const auto& at = draft.obligation().still_owed_at;
  return at && *at <= draft.now() && draft.now() <= at->plus(fresh);
}

}  // namespace

bool next_try_is_due(const Draft& draft) {
  const ObligationState& ob = draft.obligation();
  if (ob.declines == 0 || ob.closing || (ob.request && ob.request->open)) return false;
  if (ob.status == ObligationStatus::in_progress) return true;
  return ob.status == ObligationStatus::declined && !ob.waits_for_method && ob.next_attempt_at &&
         *ob.next_attempt_at <= draft.now();
}

void start_next(Draft& draft) {
  const ObligationState& ob = draft.obligation();
  if (ob.closing) return close_up(draft);
  if (ob.status == ObligationStatus::declined && ob.waits_for_method) {
    plan(draft, DunningPlan::give_up, "payment_method_needed", draft.now());
    return close_up(draft);
  }
  // Whoever asks for a try by hand takes the card's day on himself.
  if (ob.status == ObligationStatus::declined && spares_card(draft)) return;
  const Step step = next_step(draft);
  const bool is_new_intent = ob.request && ob.request->step == Step::create;
  const bool looks_first = ob.declines > 0 && moves_money(step) && !is_new_intent;
  if (looks_first && !is_fresh(draft)) return start_look_up(draft);
  start_request(draft, step, ob.generation);
}

void plan_after_decline(Draft& draft) {
  const ObligationState& ob = draft.obligation();
  const auto bucket = provider::decline_bucket(ob.code, ob.decline_code);
  const auto step =
      next_try(draft.policy(), bucket, ob.declines, first_decline(draft), draft.now());
  if (const auto* again = std::get_if<TryAgain>(&step)) {
    const bool listed = provider::is_listed_decline(ob.code, ob.decline_code);
    return plan(draft, DunningPlan::try_again, listed ? "" : "unlisted_decline_code", again->at);
  }
  if (const auto* wait = std::get_if<WaitForMethod>(&step)) {
    return plan(draft, DunningPlan::wait_for_method, "payment_method_needed", wait->until);
  }
  plan(draft, DunningPlan::give_up, std::get<GiveUp>(step).reason, draft.now());
}

}  // namespace onceward::billing
