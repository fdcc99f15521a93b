// What is recorded for each outcome, whatever call told it.
#include "billing/outcomes.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "billing/closing.hpp"
#include "billing/hints.hpp"
#include "billing/next_try.hpp"
#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

constexpr std::chrono::milliseconds poll_pending = std::chrono::hours{1};
// A provider may ask for patience, but not for so much that nobody would notice.
constexpr std::chrono::milliseconds retry_after_max = std::chrono::hours{1};

bool carries_our_metadata(const Draft& draft, const ProviderObject& object) {
  for (const auto& [name, value] : obligation_metadata(draft.policy(), draft.key())) {
    const auto found = std::find_if(object.metadata.begin(), object.metadata.end(),
                                    [&name = name](const auto& m) { return m.first == name; });
    if (found == object.metadata.end() || found->second != value) return false;
  }
  return true;
}

bool is_of_another_attempt(const ProviderObject& object, std::uint32_t attempt) {
  const auto own = attempt_of(object);
  return own && *own != attempt;
}

}  // namespace

std::optional<std::uint32_t> attempt_of(const ProviderObject& object) {
  for (const auto& [name, value] : object.metadata) {
    if (name != "onceward_attempt") continue;
    std::uint32_t attempt = 0;
    const char* const end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, attempt);
    if (parsed.ec == std::errc{} && parsed.ptr == end) return attempt;
  }
  return std::nullopt;
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
  if (draft.obligation().status == ObligationStatus::completed) {
    if (!is_what_was_charged(draft.obligation(), object)) {
      unexpected_payment(draft, object, "duplicate_payment");
    }
    return;
  }
  const ObligationState& ob = draft.obligation();
  // Callers were told otherwise: a person should see it.
  const bool late = !is_open(ob.status) || is_operator_owned(ob.status) ||
                    ob.status == ObligationStatus::declined;
  const std::uint32_t attempt = ob.request ? ob.request->attempt : ob.attempt;
  if (alarm.empty() && late) alarm = "money_taken_late";
  if (alarm.empty() && ob.closing) alarm = "charged_before_it_was_called_off";
  if (alarm.empty() && is_of_another_attempt(object, attempt)) alarm = "charge_of_another_attempt";
  BillingCompleted done;
  done.of = draft.of();
  done.at = draft.now();
  const bool intent = object.object == "payment_intent";
  done.charge_id = intent && !object.charge.empty() ? object.charge : object.id;
  done.intent = intent ? object.id : object.payment_intent;
  done.attempt = attempt;
  done.alarm = std::move(alarm);
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
  const auto planned = back_off(request->key, request->sends + request->failed_look_ups);
  const auto asked = answer.retry_after.value_or(std::chrono::milliseconds{0});
  return std::max(planned, std::min(asked, retry_after_max));
}

void decline(Draft& draft, std::string code, std::string decline_code, std::string failure_charge,
             std::string intent) {
  const std::uint32_t attempt = draft.obligation().attempt;
  AttemptDeclined event;
  event.of = draft.of();
  event.at = draft.now();
  event.attempt = attempt;
  event.code = std::move(code);
  event.decline_code = std::move(decline_code);
  event.failure_charge = std::move(failure_charge);
  event.intent = std::move(intent);
  event.next_attempt_at = draft.now();
  draft.add(std::move(event));
  draft.cap(CapOp::Kind::release, attempt);
  if (!draft.obligation().closing) plan_after_decline(draft);
}

void pending(Draft& draft, BillingPending::Kind kind, const std::string& intent) {
  draft.add(BillingPending{draft.of(), draft.now(), kind, intent, draft.now().plus(poll_pending)});
}

void canceled(Draft& draft, const std::string& intent) {
  const std::uint32_t attempt = draft.obligation().attempt;
  draft.add(PaymentIntentCanceled{draft.of(), draft.now(), intent, draft.now()});
  draft.cap(CapOp::Kind::release, attempt);
}

void adopt(Draft& draft, const ProviderObject& intent) {
  if (!draft.obligation().intent.empty() && draft.obligation().intent != intent.id) {
    return park(draft, "a_second_intent_exists");
  }
  draft.add(PaymentIntentCreated{draft.of(), draft.now(), intent.id});
}

void park_mismatch(Draft& draft) {
  park(draft, "mismatch");
}

}  // namespace onceward::billing
