// What each answer of the provider makes of the obligation it is about. Answers are matched by key;
// a success is believed only if id, amount, currency and metadata are ours.
#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/dunning.hpp>

#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

constexpr std::chrono::milliseconds poll_pending = std::chrono::hours{1};
constexpr std::chrono::milliseconds probe_credentials = std::chrono::seconds{60};

bool carries_our_metadata(const Draft& draft, const ProviderObject& object) {
  for (const auto& [name, value] : obligation_metadata(draft.policy(), draft.key())) {
    const auto found = std::find_if(object.metadata.begin(), object.metadata.end(),
                                    [&name = name](const auto& m) { return m.first == name; });
    if (found == object.metadata.end() || found->second != value) return false;
  }
  return true;
}

bool has_our_money(const Draft& draft, const ProviderObject& object) {
  const Money& amount = draft.obligation().amount;
  return object.amount_minor == amount.minor && object.currency == amount.currency.text() &&
         (object.customer.empty() || object.customer == draft.provider_customer().value());
}

bool is_ours(const Draft& draft, const ProviderObject& object) {
  return !object.id.empty() && carries_our_metadata(draft, object);
}

void complete(Draft& draft, const ProviderObject& object, std::string alarm) {
  if (draft.obligation().status == ObligationStatus::completed) return;
  const ObligationState& ob = draft.obligation();
  const bool late = !is_open(ob.status) || ob.status == ObligationStatus::parked;
  const std::uint32_t attempt = ob.request ? ob.request->attempt : ob.attempt;
  BillingCompleted done;
  done.of = draft.of();
  done.at = draft.now();
  const bool intent = object.object == "payment_intent";
  done.charge_id = intent && !object.charge.empty() ? object.charge : object.id;
  done.intent = intent ? object.id : object.payment_intent;
  done.attempt = attempt;
  done.alarm = !alarm.empty() ? std::move(alarm) : late ? "money_taken_late" : "";
  draft.add(std::move(done));
  draft.cap(CapOp::Kind::settle, attempt);
}

void unknown(Draft& draft, std::string_view observation, std::string code, LookedUp looked_up,
             std::chrono::milliseconds pause) {
  const auto& request = draft.obligation().request;
  ONCEWARD_CHECK(request.has_value(), "an unknown outcome belongs to a request");
  OutcomeUnknown event;
  event.of = draft.of();
  event.at = draft.now();
  event.key = request->key;
  event.observation = std::string(observation);
  event.code = std::move(code);
  event.looked_up = looked_up;
  event.next_action_at = draft.now().plus(pause);
  draft.add(std::move(event));
}

std::chrono::milliseconds pause_after(const Draft& draft, const ExternalAnswer& answer) {
  const auto& request = draft.obligation().request;
  const auto planned = back_off(request->key, request->sends);
  return std::max(planned, answer.retry_after.value_or(std::chrono::milliseconds{0}));
}

void decline(Draft& draft, std::string code, std::string decline_code, std::string failure_charge,
             std::string intent) {
  const ObligationState& ob = draft.obligation();
  const std::uint32_t attempt = ob.attempt;
  const auto step = next_try(draft.policy(), provider::decline_bucket(code, decline_code),
                             ob.declines + 1, ob.initiated_at, draft.now());
  const auto* again = std::get_if<TryAgain>(&step);
  AttemptDeclined event;
  event.of = draft.of();
  event.at = draft.now();
  event.attempt = attempt;
  event.code = std::move(code);
  event.decline_code = std::move(decline_code);
  event.failure_charge = std::move(failure_charge);
  event.intent = std::move(intent);
  event.next_attempt_at = again != nullptr ? again->at : draft.now();
  draft.add(std::move(event));
  draft.cap(CapOp::Kind::release, attempt);
  if (again != nullptr) return;
  const std::string& reason = std::get<GiveUp>(step).reason;
  // A payable intent may not outlive a closed obligation: with one, a person decides.
  if (draft.obligation().intent.empty() && reason != "payment_method_needed") {
    draft.add(BillingUncollectible{draft.of(), draft.now(), reason});
  } else {
    draft.add(BillingParked{draft.of(), draft.now(), reason});
  }
}

void pending(Draft& draft, BillingPending::Kind kind, const std::string& intent) {
  draft.add(BillingPending{draft.of(), draft.now(), kind, intent, draft.now().plus(poll_pending)});
}

// The intent of a create or GET whose money has not moved yet.
void adopt(Draft& draft, const ProviderObject& intent) {
  if (draft.obligation().intent == intent.id) return;
  if (!draft.obligation().intent.empty()) {
    draft.add(BillingParked{draft.of(), draft.now(), "a_second_intent_exists"});
    return;
  }
  draft.add(PaymentIntentCreated{draft.of(), draft.now(), intent.id});
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
    adopt(draft, intent);
    if (draft.obligation().intent != intent.id) return;
    draft.add(PaymentIntentCanceled{draft.of(), draft.now(), intent.id, draft.now()});
    return;
  }
  const bool unpaid = status == "requires_confirmation" || status == "requires_payment_method";
  const auto& request = draft.obligation().request;
  if (unpaid && request && request->step == Step::create) return adopt(draft, intent);
  // A confirm that answers with an unpaid intent, a hold we never ask for, a word we do not know.
  unknown(draft, to_text(Observation::object), status, LookedUp::nothing,
          back_off(request->key, request->sends));
}

void on_charge(Draft& draft, const ProviderObject& charge) {
  if (charge.status == "succeeded") return complete(draft, charge, "");
  if (charge.status == "pending") return pending(draft, BillingPending::Kind::processing, "");
  if (charge.status == "failed") {
    return decline(draft, charge.failure_code, charge.decline_code, charge.id, "");
  }
  const auto& request = draft.obligation().request;
  unknown(draft, to_text(Observation::object), charge.status, LookedUp::nothing,
          back_off(request->key, request->sends));
}

void on_object(Draft& draft, const ExternalAnswer& answer) {
  const auto& request = *draft.obligation().request;
  if (answer.objects.size() != 1) {
    return unknown(draft, to_text(Observation::bad_body), "", LookedUp::nothing,
                   back_off(request.key, request.sends));
  }
  const ProviderObject& object = answer.objects.front();
  const bool expected = request.step != Step::confirm || object.id == draft.obligation().intent;
  if (!expected || !is_ours(draft, object) || !has_our_money(draft, object)) {
    return unknown(draft, "mismatch", object.id, LookedUp::nothing,
                   back_off(request.key, request.sends));
  }
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
  if (answer.code == "amount_too_small" && draft.policy().below_minimum == BelowMinimum::waive) {
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
  draft.add(std::move(event));
  draft.cap(CapOp::Kind::release, attempt);
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
      return draft.add(LookUpOwed{draft.of(), draft.now(), std::string(to_text(answer.observation)),
                                  draft.now()});
    case provider::Verdict::unknown: {
      // A saved error would be replayed for as long as the key lives: look at once.
      const bool at_once = provider::same_key_is_pointless(answer.observation);
      return unknown(draft, to_text(answer.observation), answer.code, LookedUp::nothing,
                     at_once ? std::chrono::milliseconds{0} : pause_after(draft, answer));
    }
  }
}

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

// An object of ours with another amount, currency or customer than recorded: only a person can
// tell.
void park_mismatch(Draft& draft) {
  if (!is_open(draft.obligation().status)) return;
  draft.add(BillingParked{draft.of(), draft.now(), "mismatch"});
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

// Answers for requests that were followed by another, or closed: they act only if they are a
// success that names one of our obligations.
Decided on_stale(const BillingPolicy& policy, const BillingState& state,
                 const ExternalAnswer& answer, const Context& context) {
  for (const auto& object : answer.objects) {
    if (answer.observation != Observation::object || object.status != "succeeded") continue;
    for (const auto& [of, obligation] : state.obligations) {
      Draft draft(policy, state, context, of);
      if (obligation.status == ObligationStatus::completed || !is_ours(draft, object) ||
          !has_our_money(draft, object)) {
        continue;
      }
      complete(draft, object, "");
      return draft.finish();
    }
  }
  return {};
}

}  // namespace

BillingEntity::Decided BillingEntity::decide_answer(const State& state,
                                                    const ExternalAnswer& answer,
                                                    const Context& context) const {
  PeriodPurpose of;
  const ObligationState* obligation = find_by_key(policy_, state, answer.key, of);
  if (obligation == nullptr) return on_stale(policy_, state, answer, context);
  Draft draft(policy_, state, context, of);
  if (!obligation->request) {
    on_earlier_list(draft, answer);
  } else if (is_look_up(answer.operation)) {
    on_look_up_answer(draft, answer);
  } else if (!obligation->request->open || !is_open(obligation->status)) {
    return on_stale(policy_, state, answer, context);
  } else {
    on_post_answer(draft, answer);
  }
  advance(draft);
  return draft.finish();
}

}  // namespace onceward::billing
