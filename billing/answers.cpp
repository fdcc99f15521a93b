// What each answer to a request makes of the obligation it is about. Answers are matched by key; a
// success is believed only if id, amount, currency and metadata are ours.
#include <algorithm>
#include <string>
#include <utility>

#include <onceward/provider/classification.hpp>

#include "billing/hints.hpp"
#include "billing/look_ups.hpp"
#include "billing/outcomes.hpp"
#include "billing/refunds.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

constexpr std::chrono::milliseconds probe_credentials = std::chrono::seconds{60};
// In place of an observation: our object, with a status that says neither yes nor no.
constexpr std::string_view unexpected_status = "unexpected_status";

// Without its guard, an answer that money is on its way passes as the charge itself.
bool passes_as_charged(Draft& draft, ProviderObject object) {
  const bool is_on_its_way = object.status == "processing" || object.status == "pending";
  if (!is_on_its_way || !draft.policy().weakening.lacks(Guard::charge_status)) return false;
  object.charge = object.status;
  complete(draft, object, "");
  return true;
}

// The state of an intent that answered our create or confirm directly.
void on_intent(Draft& draft, const ProviderObject& intent) {
  const std::string& status = intent.status;
  if (status == "succeeded") return complete(draft, intent, "");
  if (status == "processing") return pending(draft, BillingPending::Kind::processing, intent.id);
  if (status == "requires_action") {
    return pending(draft, BillingPending::Kind::action_required, intent.id);
  }
  if (status == "canceled") {
    if (draft.obligation().intent.empty()) adopt(draft, intent);
    if (draft.obligation().intent == intent.id) return canceled(draft, intent.id);
  }
  const bool unpaid = status == "requires_confirmation" || status == "requires_payment_method";
  const auto& request = draft.obligation().request;
  if (unpaid && request && request->step == Step::create) return adopt(draft, intent);
  // A confirm that answers with an unpaid intent, a hold we never ask for, a word we do not know.
  unknown(draft, unexpected_status, status, LookedUp::nothing,
          back_off(request->key, request->sends));
}

void on_charge(Draft& draft, const ProviderObject& charge) {
  if (charge.status == "succeeded") return complete(draft, charge, "");
  if (charge.status == "pending") return pending(draft, BillingPending::Kind::processing, "");
  if (charge.status == "failed") {
    return decline(draft, charge.failure_code, charge.decline_code, charge.id, "");
  }
  const auto& request = draft.obligation().request;
  unknown(draft, unexpected_status, charge.status, LookedUp::nothing,
          back_off(request->key, request->sends));
}

void on_object(Draft& draft, const ExternalAnswer& answer) {
  const auto& request = *draft.obligation().request;
  if (answer.objects.size() != 1) {
    return unknown(draft, to_text(Observation::bad_body), "", LookedUp::nothing,
                   back_off(request.key, request.sends));
  }
  const ProviderObject& object = answer.objects.front();
  const bool has_target = request.step == Step::confirm || request.step == Step::cancel;
  const bool expected = !has_target || object.id == draft.obligation().intent;
  if (!expected || !is_ours(draft, object) || !has_our_money(draft, object)) {
    return unknown(draft, "mismatch", object.id, LookedUp::nothing,
                   back_off(request.key, request.sends));
  }
  if (passes_as_charged(draft, object)) return;
  if (object.object == "charge") return on_charge(draft, object);
  on_intent(draft, object);
}

void on_declined(Draft& draft, const ExternalAnswer& answer) {
  std::string failure_charge;
  std::string intent;
  for (const auto& object : answer.objects) {
    if (object.object != "payment_intent") continue;
    failure_charge = object.failure_charge.empty() ? object.charge : object.failure_charge;
    intent = object.id;
  }
  // Re-confirm the same intent next time: a declined one stays payable beside any new one.
  if (!draft.obligation().intent.empty()) intent.clear();
  decline(draft, answer.code, answer.decline_code, failure_charge, intent);
}

void on_rejected(Draft& draft, const ExternalAnswer& answer) {
  const ObligationState& ob = draft.obligation();
  // A payable intent may not outlive a closed obligation.
  if (answer.code == "amount_too_small" && draft.policy().below_minimum == BelowMinimum::waive &&
      ob.intent.empty() && !ob.closing) {
    const std::uint32_t attempt = ob.attempt;
    draft.add(PeriodWaived{draft.of(), draft.now(), "below_minimum"});
    return draft.cap(CapOp::Kind::release, attempt);
  }
  RequestRejected event;
  event.of = draft.of();
  event.at = draft.now();
  event.key = ob.request->key;
  event.observation = std::string(to_text(answer.observation));
  event.code = answer.code;
  event.message = answer.message;
  const std::uint32_t attempt = ob.attempt;
  // An intent that could not be cancelled may still take the money that is reserved for it.
  const bool releases = ob.request->step != Step::cancel;
  draft.add(std::move(event));
  if (releases) draft.cap(CapOp::Kind::release, attempt);
}

void on_not_executed(Draft& draft, const ExternalAnswer& answer) {
  RequestRejected event;
  event.of = draft.of();
  event.at = draft.now();
  event.key = draft.obligation().request->key;
  event.observation = std::string(to_text(answer.observation));
  event.code = answer.code;
  event.message = answer.message;
  const bool config = answer.observation == Observation::unauthorized;
  event.retry_at = draft.now().plus(config ? probe_credentials : pause_after(draft, answer));
  draft.add(std::move(event));
}

void on_post_answer(Draft& draft, const ExternalAnswer& answer) {
  const RequestState& request = *draft.obligation().request;
  const bool tainted = request.tainted || !answer.single_wire_send;
  switch (provider::verdict(answer.observation, tainted)) {
    case provider::Verdict::by_status:
      return on_object(draft, answer);
    case provider::Verdict::declined:
      return on_declined(draft, answer);
    case provider::Verdict::rejected:
      return on_rejected(draft, answer);
    case provider::Verdict::not_executed:
      return on_not_executed(draft, answer);
    case provider::Verdict::look_up_first:
      // The refusal is saved under the key: whatever the intent says, this key is spent.
      return unknown(draft, to_text(answer.observation), answer.code, LookedUp::nothing,
                     std::chrono::milliseconds{0});
    case provider::Verdict::unknown: {
      if (draft.policy().weakening.lacks(Guard::unknown_lookup)) {
        return decline(draft, "no_answer", "", "", "");
      }
      // Where the same key would bring the same answer, the look-up comes at once.
      const bool at_once = spends_key(to_text(answer.observation));
      return unknown(draft, to_text(answer.observation), answer.code, LookedUp::nothing,
                     at_once ? std::chrono::milliseconds{0} : pause_after(draft, answer));
    }
  }
}

const ObligationState* find_by_key(const BillingPolicy& policy, const BillingState& state,
                                   const IdempotencyKey& key, PeriodPurpose& of) {
  for (auto it = state.obligations.rbegin(); it != state.obligations.rend(); ++it) {
    const auto& request = it->second.request;
    const ObligationKey obligation{state.customer, it->first.period, it->first.purpose};
    if (!request && needs_earlier_check(policy, obligation) &&
        earlier_look_up_key(policy, obligation) == key) {
      of = it->first;
      return &it->second;
    }
    if (request && (request->key == key || look_up_key(request->key) == key)) {
      of = it->first;
      return &it->second;
    }
  }
  return nullptr;
}

// Answers for requests that were followed by another, or closed, or given to an operator: they act
// only if they are a success that names one of our obligations.
Decided on_stale(const BillingPolicy& policy, const BillingState& state,
                 const ExternalAnswer& answer, const Context& context) {
  for (const auto& object : answer.objects) {
    if (answer.observation != Observation::object || object.status != "succeeded") continue;
    for (const auto& [of, obligation] : state.obligations) {
      Draft draft(policy, state, context, of);
      if (object.object == "refund" || !is_ours(draft, object)) continue;
      const bool is_paid = obligation.status == ObligationStatus::completed;
      if (!is_paid && !has_our_money(draft, object)) continue;
      complete(draft, object, "");
      return draft.finish();
    }
  }
  return {};
}

// Refunds and hinted objects are told by keys of their own. False: the answer is about neither.
bool is_side_answer(const ObligationState& obligation, const PeriodPurpose& of,
                    const ExternalAnswer& answer, Draft& draft) {
  if (answer.key == refund_list_key(of)) {
    on_refund_list(draft, answer);
    return true;
  }
  for (const RefundState& refund : obligation.refunds) {
    if (!refund.request || refund.request->key != answer.key) continue;
    on_refund_answer(draft, refund.number, answer);
    return true;
  }
  for (const auto& [object, hinted] : obligation.hinted) {
    if (answer.key != hinted_key(of, object)) continue;
    on_hinted_object(draft, std::string(object), answer);
    return true;
  }
  return false;
}

std::optional<Decided> decide_side_answer(const BillingPolicy& policy, const BillingState& state,
                                          const ExternalAnswer& answer, const Context& context) {
  for (const auto& [of, obligation] : state.obligations) {
    if (obligation.refunds.empty() && obligation.hinted.empty() && !obligation.refunds_due) {
      continue;
    }
    Draft draft(policy, state, context, of);
    if (!is_side_answer(obligation, of, answer, draft)) continue;
    advance(draft);
    return draft.finish();
  }
  return std::nullopt;
}

}  // namespace

BillingEntity::Decided BillingEntity::decide_answer(const State& state,
                                                    const ExternalAnswer& answer,
                                                    const Context& context) const {
  if (auto decided = decide_side_answer(policy_, state, answer, context)) {
    return std::move(*decided);
  }
  PeriodPurpose of;
  const ObligationState* obligation = find_by_key(policy_, state, answer.key, of);
  if (obligation == nullptr) return on_stale(policy_, state, answer, context);
  Draft draft(policy_, state, context, of);
  if (!obligation->request) {
    on_earlier_list(draft, answer);
  } else if (is_look_up(answer.operation)) {
    on_look_up_answer(draft, answer);
  } else if (!obligation->request->open || !is_open(obligation->status) ||
             is_operator_owned(obligation->status)) {
    return on_stale(policy_, state, answer, context);
  } else {
    on_post_answer(draft, answer);
  }
  advance(draft);
  return draft.finish();
}

}  // namespace onceward::billing
