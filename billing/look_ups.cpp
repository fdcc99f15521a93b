// What each look-up answer makes of the obligation it is about. What it allows next is the resume
// table's business; here it is only recorded.
#include "billing/look_ups.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "billing/outcomes.hpp"

namespace onceward::billing {

namespace {

constexpr std::chrono::milliseconds probe_credentials = std::chrono::seconds{60};

// A read that told nothing: keep what is known and look again later.
void on_failed_look_up(Draft& draft, const ExternalAnswer& answer) {
  const ObligationState& ob = draft.obligation();
  if (!is_open(ob.status)) return;
  if (ob.status == ObligationStatus::processing) {
    return pending(draft, BillingPending::Kind::processing, ob.intent);
  }
  if (ob.status == ObligationStatus::action_required) {
    return pending(draft, BillingPending::Kind::action_required, ob.intent);
  }
  if (answer.observation == Observation::not_found && answer.operation == Operation::get_intent) {
    return draft.add(BillingParked{draft.of(), draft.now(), "intent_not_found"});
  }
  unknown(draft, to_text(answer.observation), answer.code, LookedUp::nothing,
          pause_after(draft, answer));
}

// No success was found. What that allows is the resume table's business; here it is only recorded,
// together with a refusal that is certainly newer than the one recorded before.
void on_unpaid(Draft& draft, LookedUp looked_up, const ProviderObject* object) {
  const ObligationState& ob = draft.obligation();
  if (!is_open(ob.status)) return;
  const RequestState& request = *ob.request;
  const std::string refusal = object == nullptr ? "" : object->failure_charge;
  if (!refusal.empty() && refusal != ob.failure_charge && request.attempt == ob.attempt &&
      request_is_quiet(draft)) {
    return decline(draft, object->failure_code, object->decline_code, refusal, "");
  }
  unknown(draft, looked_up == LookedUp::absent ? "absent" : "unpaid", "", looked_up,
          request_is_quiet(draft) || looked_up == LookedUp::absent
              ? std::chrono::milliseconds{0}
              : back_off(request.key, request.sends));
}

void on_found_intent(Draft& draft, const ProviderObject& intent) {
  if (!has_our_money(draft, intent)) return park_mismatch(draft);
  const std::string& status = intent.status;
  if (status == "succeeded") return complete(draft, intent, "");
  if (!is_open(draft.obligation().status)) return;
  if (status == "processing") return pending(draft, BillingPending::Kind::processing, intent.id);
  if (status == "requires_action") {
    return pending(draft, BillingPending::Kind::action_required, intent.id);
  }
  if (status == "canceled") {
    return draft.add(PaymentIntentCanceled{draft.of(), draft.now(), intent.id, draft.now()});
  }
  if (status == "requires_confirmation" || status == "requires_payment_method") {
    return on_unpaid(draft, LookedUp::unpaid_same, &intent);
  }
  draft.add(BillingParked{draft.of(), draft.now(), "intent_" + status});
}

void on_list(Draft& draft, const ExternalAnswer& answer) {
  std::vector<const ProviderObject*> ours;
  for (const auto& object : answer.objects) {
    if (is_ours(draft, object)) ours.push_back(&object);
  }
  const auto succeeded = [](const ProviderObject* o) { return o->status == "succeeded"; };
  const auto paid = std::count_if(ours.begin(), ours.end(), succeeded);
  if (paid > 0) {
    // Newest first; more than one is money taken twice by somebody and a person must see it.
    const ProviderObject& newest = **std::find_if(ours.begin(), ours.end(), succeeded);
    if (!has_our_money(draft, newest)) return park_mismatch(draft);
    return complete(draft, newest, paid > 1 ? "several_charges_found" : "");
  }
  if (!is_open(draft.obligation().status)) return;
  for (const ProviderObject* object : ours) {
    if (object->status == "pending" || object->status == "processing") {
      return pending(draft, BillingPending::Kind::processing,
                     object->object == "payment_intent" ? object->id : "");
    }
    if (object->object == "payment_intent" && object->status != "canceled") {
      // Ours and payable: adopt it; its money is looked at by the next step.
      if (!has_our_money(draft, *object)) return park_mismatch(draft);
      return adopt(draft, *object);
    }
  }
  on_unpaid(draft, LookedUp::absent, nullptr);
}

}  // namespace

void on_look_up_answer(Draft& draft, const ExternalAnswer& answer) {
  if (answer.observation != Observation::object) return on_failed_look_up(draft, answer);
  const bool list =
      answer.operation == Operation::list_intents || answer.operation == Operation::list_charges;
  if (list) return on_list(draft, answer);
  if (answer.objects.size() != 1 || answer.objects.front().id != draft.obligation().intent) {
    ExternalAnswer bad = answer;
    bad.observation = Observation::bad_body;
    return on_failed_look_up(draft, bad);
  }
  on_found_intent(draft, answer.objects.front());
}

// The list that precedes the first send under scheme `colon`. An older system's charge carries none
// of our metadata, so anything alike that is not certainly another obligation's needs a person.
void on_earlier_list(Draft& draft, const ExternalAnswer& answer) {
  if (!is_open(draft.obligation().status)) return;
  if (answer.observation != Observation::object) {
    return draft.add(
        LookUpOwed{draft.of(), draft.now(), "earlier_system", draft.now().plus(probe_credentials)});
  }
  for (const auto& object : answer.objects) {
    if (object.status != "succeeded" && object.status != "pending") continue;
    if (is_ours(draft, object) && object.status == "succeeded" && has_our_money(draft, object)) {
      return complete(draft, object, "charge_of_an_earlier_store");
    }
    const bool labelled =
        std::any_of(object.metadata.begin(), object.metadata.end(),
                    [](const auto& member) { return member.first == "onceward_period"; });
    if (is_ours(draft, object) || (!labelled && has_our_money(draft, object))) {
      return draft.add(BillingParked{draft.of(), draft.now(), "possible_earlier_charge"});
    }
  }
  draft.add(EarlierSystemChecked{draft.of(), draft.now(),
                                 static_cast<std::int64_t>(answer.objects.size())});
}

}  // namespace onceward::billing
