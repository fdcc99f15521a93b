// What each look-up answer makes of the obligation it is about. What it allows next is the resume
// table's business; here it is only recorded.
#include "billing/look_ups.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "billing/closing.hpp"
#include "billing/hints.hpp"
#include "billing/next_try.hpp"
#include "billing/outcomes.hpp"

namespace onceward::billing {

namespace {

constexpr std::chrono::milliseconds probe_credentials = std::chrono::seconds{60};

// A read that failed is repeated after this if nothing is unresolved.
constexpr std::chrono::milliseconds hint_pause = std::chrono::minutes{10};

// A read of something that cannot be: another amount, a status that nobody knows, no such intent.
void on_odd_look_up(Draft& draft, std::string_view observation, std::string code,
                    std::string reason) {
  const RequestState& request = *draft.obligation().request;
  // The words of an operator may stand in the reason meanwhile; the code is that of the last read.
  const bool agrees = draft.obligation().code == code;
  if (agrees && request.failed_look_ups >= odd_reads_doubted) {
    return park(draft, std::move(reason));
  }
  unknown(draft, observation, std::move(code), LookedUp::failed,
          back_off(request.key, request.sends + request.failed_look_ups));
}

void on_mismatched_look_up(Draft& draft, const ProviderObject& object) {
  on_odd_look_up(draft, "mismatch", object.id, "mismatch");
}

// A read that told nothing: keep what is known and look again later.
void on_failed_look_up(Draft& draft, Observation observation, const ExternalAnswer& answer) {
  const ObligationState& ob = draft.obligation();
  if (ob.status == ObligationStatus::processing) {
    return pending(draft, BillingPending::Kind::processing, ob.intent);
  }
  if (ob.status == ObligationStatus::action_required) {
    return pending(draft, BillingPending::Kind::action_required, ob.intent);
  }
  if (observation == Observation::not_found && answer.operation == Operation::get_intent) {
    const std::string_view seen = to_text(observation);
    return on_odd_look_up(draft, seen, answer.code.empty() ? std::string(seen) : answer.code,
                          "intent_not_found");
  }
  unknown(draft, to_text(observation), answer.code, LookedUp::failed, pause_after(draft, answer));
}

// Whether the object shows a refusal that is certainly newer than the recorded one.
bool shows_new_refusal(const ObligationState& ob, const ProviderObject& object) {
  if (object.failure_charge.empty() && object.failure_code.empty()) return false;
  if (ob.declines == 0) return true;
  // Without the charge of the recorded refusal, what is shown may be that very refusal.
  return !object.failure_charge.empty() && !ob.failure_charge.empty() &&
         object.failure_charge != ob.failure_charge;
}

// No success was found. A refusal is definitive once no send of ours can be running.
void on_unpaid(Draft& draft, LookedUp looked_up, const ProviderObject* intent) {
  const ObligationState& ob = draft.obligation();
  const RequestState& request = *ob.request;
  const bool quiet = request_is_quiet(draft);
  const bool was_tried = moves_money(request.step);
  if (intent != nullptr && was_tried && quiet && shows_new_refusal(ob, *intent)) {
    return decline(draft, intent->failure_code, intent->decline_code, intent->failure_charge, "");
  }
  const bool proves = quiet || !was_tried;
  // The first time at once; a provider that fails every time is not hammered.
  const bool at_once = proves && request.sends <= 1;
  unknown(draft, looked_up == LookedUp::absent ? "absent" : "unpaid", "",
          proves ? looked_up : LookedUp::too_early,
          at_once ? std::chrono::milliseconds{0} : back_off(request.key, request.sends));
}

bool is_open_for_steps(const Draft& draft) {
  const ObligationStatus status = draft.obligation().status;
  return is_open(status) && !is_operator_owned(status);
}

void on_found_intent(Draft& draft, const ProviderObject& intent) {
  if (!has_our_money(draft, intent)) return on_mismatched_look_up(draft, intent);
  const std::string& status = intent.status;
  if (status == "succeeded") return complete(draft, intent, "");
  if (status == "processing") return pending(draft, BillingPending::Kind::processing, intent.id);
  if (status == "canceled") return canceled(draft, intent.id);
  const bool is_cancelled = draft.obligation().request->step == Step::cancel;
  if (status == "requires_action" && !is_cancelled) {
    return pending(draft, BillingPending::Kind::action_required, intent.id);
  }
  const bool is_unpaid = status == "requires_confirmation" || status == "requires_payment_method" ||
                         status == "requires_action";
  if (is_unpaid) {
    const bool only_created = draft.obligation().request->step == Step::create;
    if (only_created || draft.obligation().intent.empty()) adopt(draft, intent);
    // What was only created took no money; what was confirmed may have been refused.
    if (!only_created && is_open_for_steps(draft)) {
      on_unpaid(draft, LookedUp::unpaid_same, &intent);
    }
    return;
  }
  on_odd_look_up(draft, "unexpected_status", status, "intent_" + status);
}

std::vector<const ProviderObject*> ours_among(const Draft& draft, const ExternalAnswer& answer) {
  std::vector<const ProviderObject*> ours;
  for (const auto& object : answer.objects) {
    if (is_ours(draft, object)) ours.push_back(&object);
  }
  return ours;
}

// One of our charges that did not succeed; true if it decides.
bool on_found_charge(Draft& draft, const ProviderObject& charge) {
  if (charge.status == "pending") {
    pending(draft, BillingPending::Kind::processing, "");
    return true;
  }
  const std::uint32_t attempt = draft.obligation().request->attempt;
  if (charge.status != "failed" || attempt_of(charge) != attempt || !request_is_quiet(draft)) {
    return false;
  }
  decline(draft, charge.failure_code, charge.decline_code, charge.id, "");
  return true;
}

// Complete and newest first.
void on_list(Draft& draft, const ExternalAnswer& answer) {
  const auto ours = ours_among(draft, answer);
  const auto succeeded = [](const ProviderObject* o) { return o->status == "succeeded"; };
  const auto paid = std::count_if(ours.begin(), ours.end(), succeeded);
  if (paid > 0) {
    // More than one is money taken twice by somebody and a person must see it.
    const ProviderObject& newest = **std::find_if(ours.begin(), ours.end(), succeeded);
    if (!has_our_money(draft, newest)) return on_mismatched_look_up(draft, newest);
    for (const ProviderObject* object : ours) {
      if (succeeded(object)) complete(draft, *object, paid > 1 ? "several_charges_found" : "");
    }
    return;
  }
  for (const ProviderObject* object : ours) {
    if (object->status == "canceled") continue;
    if (object->object == "payment_intent") return on_found_intent(draft, *object);
    if (on_found_charge(draft, *object)) return;
  }
  on_unpaid(draft, LookedUp::absent, nullptr);
}

bool is_list(Operation operation) {
  return operation == Operation::list_intents || operation == Operation::list_charges;
}

// What the read really tells: a GET that answers with another object tells nothing.
Observation observed(const Draft& draft, const ExternalAnswer& answer) {
  if (answer.observation != Observation::object || is_list(answer.operation)) {
    return answer.observation;
  }
  const bool fits = answer.objects.size() == 1 && !answer.objects.front().id.empty() &&
                    answer.objects.front().id == draft.obligation().intent;
  return fits ? Observation::object : Observation::bad_body;
}

// When a declined obligation is to be woken although nothing is read any more.
std::optional<Timestamp> next_alarm_of_declined(const Draft& draft) {
  const ObligationState& ob = draft.obligation();
  if (ob.closing) return draft.now();
  if (ob.next_attempt_at) return ob.next_attempt_at;
  return ob.first_declined_at.value_or(draft.now()).plus(draft.policy().dunning_spread);
}

// Of ours, though no answer had named it: somebody acts on it, or anybody still could.
bool can_still_be_paid(const ProviderObject& object) {
  if (object.status == "pending" || object.status == "processing") return true;
  return object.object == "payment_intent" && object.status != "canceled" &&
         object.status != "succeeded";
}

// A try after a decline is due and this read decides about it. True if it has decided.
bool on_last_look(Draft& draft, const ExternalAnswer& answer,
                  const std::vector<const ProviderObject*>& ours) {
  if (!next_try_is_due(draft)) return false;
  const ObligationState& ob = draft.obligation();
  const auto owned = std::find_if(ours.begin(), ours.end(), [&](const ProviderObject* o) {
    return ob.intent.empty() ? can_still_be_paid(*o) : o->id == ob.intent;
  });
  const ProviderObject* object = owned == ours.end() ? nullptr : *owned;
  if (object == nullptr && !is_list(answer.operation)) {
    park(draft, "mismatch");
    return true;
  }
  const std::string status = object == nullptr ? "absent" : object->status;
  if (status == "canceled") {
    canceled(draft, object->id);
    return true;
  }
  const bool somebody_acts =
      status == "pending" || status == "processing" || status == "requires_action";
  if (somebody_acts) {
    // Paid by another road, perhaps: what becomes of it is read before the next try.
    draft.add(DunningPlanned{draft.of(), draft.now(), DunningPlan::try_again, "found_" + status,
                             draft.now().plus(std::chrono::hours{1})});
    return true;
  }
  // An intent whose id no answer had told is payable: it is confirmed, not replaced.
  if (object != nullptr && ob.intent.empty()) {
    if (!has_our_money(draft, *object)) {
      park_mismatch(draft);
      return true;
    }
    adopt(draft, *object);
  }
  draft.add(FoundStillOwed{draft.of(), draft.now(), status,
                           object == nullptr ? "" : object->failure_charge});
  return true;
}

// Nothing of this obligation is unresolved, or an operator owns it: only money found changes it. A
// read that was owed is noted as made, or owed again.
void on_look_up_of_resolved(Draft& draft, const ExternalAnswer& answer) {
  const bool told = observed(draft, answer) == Observation::object;
  const auto ours = told ? ours_among(draft, answer) : std::vector<const ProviderObject*>{};
  bool paid = false;
  for (const ProviderObject* object : ours) {
    if (object->status != "succeeded") continue;
    const bool was_paid = draft.obligation().status == ObligationStatus::completed;
    if (!was_paid && !has_our_money(draft, *object)) continue;
    complete(draft, *object, "");
    paid = paid || !was_paid;
  }
  if (paid) return;
  const ObligationState& ob = draft.obligation();
  if (told && on_last_look(draft, answer, ours)) return;
  if (!ob.look_up_owed && !next_try_is_due(draft)) return;
  if (!told) {
    return draft.add(
        LookUpOwed{draft.of(), draft.now(), "look_up_failed", draft.now().plus(hint_pause)});
  }
  LookUpAnswered done{draft.of(), draft.now(), ours.empty() ? "absent" : ours.front()->status, {}};
  if (ob.status == ObligationStatus::declined) done.next_action_at = next_alarm_of_declined(draft);
  if (ob.status == ObligationStatus::in_progress) done.next_action_at = draft.now();
  draft.add(std::move(done));
}

}  // namespace

void on_look_up_answer(Draft& draft, const ExternalAnswer& answer) {
  const ObligationState& ob = draft.obligation();
  if (!ob.request->open || !is_open(ob.status) || is_operator_owned(ob.status)) {
    return on_look_up_of_resolved(draft, answer);
  }
  const Observation observation = observed(draft, answer);
  if (observation != Observation::object) return on_failed_look_up(draft, observation, answer);
  if (is_list(answer.operation)) return on_list(draft, answer);
  on_found_intent(draft, answer.objects.front());
}

// The list that precedes the first send under scheme `colon`. An older system's charge carries none
// of our metadata, so anything alike that is not certainly another obligation's needs a person.
void on_earlier_list(Draft& draft, const ExternalAnswer& answer) {
  if (!draft.obligation().look_up_owed) return;  // a second answer to the same question
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
