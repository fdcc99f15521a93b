// What is recorded for each outcome, whatever call told it.
#include "billing/outcomes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/dunning.hpp>

#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

constexpr std::chrono::milliseconds poll_pending = std::chrono::hours{1};

bool carries_our_metadata(const Draft& draft, const ProviderObject& object) {
  for (const auto& [name, value] : obligation_metadata(draft.policy(), draft.key())) {
    const auto found = std::find_if(object.metadata.begin(), object.metadata.end(),
                                    [&name = name](const auto& m) { return m.first == name; });
    if (found == object.metadata.end() || found->second != value) return false;
  }
  return true;
}

}  // namespace

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

void park_mismatch(Draft& draft) {
  if (!is_open(draft.obligation().status)) return;
  draft.add(BillingParked{draft.of(), draft.now(), "mismatch"});
}

}  // namespace onceward::billing
