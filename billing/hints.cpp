// A hinted object is read before anything is believed, and before the obligation's own next send.
#include "billing/hints.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "billing/look_ups.hpp"
#include "billing/outcomes.hpp"

namespace onceward::billing {

namespace {

// An object that cannot be read holds the obligation's own requests back for so many tries only.
constexpr std::uint32_t blocking_reads_max = 3;
constexpr std::chrono::milliseconds duplicate_check_min = std::chrono::minutes{1};

void start_read(Draft& draft, const std::string& object, HintedKind kind) {
  const Context& context = draft.context();
  if (!context.permit || draft.calls()) return draft.want_permit();
  ExternalRequest request;
  request.key = hinted_key(draft.of(), object);
  request.operation = kind == HintedKind::charge ? Operation::get_charge : Operation::get_intent;
  request.target = object;
  request.not_after_boottime_ms = context.now.boottime_ms + draft.policy().call_timeout.count();
  draft.call(std::move(request));
}

// Whether a request of ours is unresolved that can have taken money by now.
bool own_may_have_moved(const ObligationState& ob) {
  return ob.request && ob.request->open && moves_money(ob.request->step);
}

// Paid by an object that none of our recorded requests is known to have made.
void complete_by_other_road(Draft& draft, const ProviderObject& object) {
  const ObligationState& ob = draft.obligation();
  const bool may_have_moved = own_may_have_moved(ob);
  // The object of a charge or a one-step request is unknown until its answer: this may be it. What
  // belongs to an intent was not made by a request for a charge.
  const bool is_of_intent = object.object == "payment_intent" || !object.payment_intent.empty();
  const bool may_be_own =
      may_have_moved && ob.intent.empty() && !(ob.request->step == Step::charge && is_of_intent);
  std::string alarm;
  if (!may_have_moved) alarm = "paid_by_another_road";
  if (may_have_moved && !may_be_own) alarm = "duplicate_payment_possible";
  if (!is_open(ob.status)) alarm = "money_taken_late";
  complete(draft, object, std::move(alarm));
  if (!may_have_moved) return;
  // Whether ours took money as well is seen when it can no longer be running.
  const Timestamp at =
      std::max(quiet_at(draft, *draft.obligation().request), draft.now().plus(duplicate_check_min));
  draft.add(LookUpOwed{draft.of(), draft.now(), "duplicate_check", at});
}

void on_paid(Draft& draft, const ProviderObject& object) {
  const ObligationState& ob = draft.obligation();
  if (ob.status == ObligationStatus::completed) {
    if (!is_what_was_charged(ob, object)) unexpected_payment(draft, object, "duplicate_payment");
    return;
  }
  if (has_our_money(draft, object)) return complete_by_other_road(draft, object);
  unexpected_payment(draft, object, "payment_of_another_amount");
  park_mismatch(draft);
}

void read_again(Draft& draft, const std::string& object) {
  const HintedObject& hinted = draft.obligation().hinted.at(object);
  const auto pause = back_off(hinted_key(draft.of(), object), hinted.failed_reads + 4);
  draft.add(ObjectHinted{draft.of(), draft.now(), "look_up_failed", hinted.kind, object,
                         draft.now().plus(pause)});
}

void read(Draft& draft, const std::string& object, std::string found) {
  draft.add(HintedObjectRead{draft.of(), draft.now(), object, std::move(found)});
}

}  // namespace

IdempotencyKey hinted_key(const PeriodPurpose& of, const std::string& object) {
  return IdempotencyKey{"hint/" + of.period.text() + "/" + of.purpose.value() + "/" + object};
}

bool is_what_was_charged(const ObligationState& obligation, const ProviderObject& object) {
  const std::string& charge = obligation.charge_id;
  if (charge.empty()) return false;
  if (object.id == charge || (!object.charge.empty() && object.charge == charge)) return true;
  const std::string& intent = obligation.paid_intent;
  return !intent.empty() && (object.id == intent || object.payment_intent == intent);
}

void unexpected_payment(Draft& draft, const ProviderObject& object, std::string alarm) {
  const bool intent = object.object == "payment_intent";
  const std::string& charge = intent && !object.charge.empty() ? object.charge : object.id;
  if (draft.obligation().unexpected_charges.contains(charge)) return;
  draft.add(UnexpectedPaymentFound{draft.of(), draft.now(), std::move(alarm), charge,
                                   intent ? object.id : object.payment_intent, object.amount_minor,
                                   object.currency});
}

bool advance_hinted(Draft& draft) {
  const ObligationState& ob = draft.obligation();
  bool blocks = false;
  for (const auto& [object, hinted] : ob.hinted) {
    if (hinted.failed_reads < blocking_reads_max) blocks = true;
    if (draft.context().in_flight(hinted_key(draft.of(), object))) continue;
    if (!hinted.due || draft.now() < *hinted.due) continue;
    start_read(draft, object, hinted.kind);
    return true;
  }
  return blocks && is_open(ob.status);
}

void on_hinted_object(Draft& draft, const std::string& object, const ExternalAnswer& answer) {
  switch (answer.observation) {
    case Observation::not_found:
    case Observation::invalid_request:
      return read(draft, object, std::string(to_text(answer.observation)));
    case Observation::object:
      break;
    case Observation::declined:
    case Observation::unexpected_state:
    case Observation::key_mismatch:
    case Observation::unauthorized:
    case Observation::key_in_use:
    case Observation::rate_limited:
    case Observation::lock_timeout:
    case Observation::other_client_error:
    case Observation::server_error:
    case Observation::gateway_error:
    case Observation::redirect:
    case Observation::bad_body:
    case Observation::not_sent:
    case Observation::broken:
      return read_again(draft, object);
  }
  if (answer.objects.size() != 1 || answer.objects.front().id != object) {
    return read_again(draft, object);
  }
  const ProviderObject& found = answer.objects.front();
  if (!is_ours(draft, found)) return read(draft, object, "not_ours");
  const ObligationState& ob = draft.obligation();
  const bool is_odd =
      found.status == "succeeded" && is_open(ob.status) && !has_our_money(draft, found);
  if (is_odd && ob.hinted.at(object).failed_reads < odd_reads_doubted) {
    return read_again(draft, object);
  }
  if (found.status == "succeeded") on_paid(draft, found);
  read(draft, object, found.status);
}

}  // namespace onceward::billing
