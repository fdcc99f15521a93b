// What goes on the wire for each step. Every value comes from the journal or the recorded identity,
// so that a resend is byte-equal.
#include "billing/requests.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace onceward::billing {

namespace {

// Objects made shortly before our first send by a provider whose clock differs from ours.
constexpr std::chrono::milliseconds created_skew = std::chrono::hours{1};

// An older system may have billed a period in advance, at most this long before it began.
constexpr std::chrono::milliseconds earlier_window = std::chrono::hours{24 * 31};

Operation operation_of(Step step) {
  switch (step) {
    case Step::charge:
      return Operation::create_charge;
    case Step::create:
    case Step::create_confirm:
      return Operation::create_intent;
    case Step::confirm:
      return Operation::confirm_intent;
    case Step::cancel:
      return Operation::cancel_intent;
    case Step::refund:
      return Operation::create_refund;
  }
  ONCEWARD_CHECK(false, "every step has an operation");
}

void add_money(Params& params, const Draft& draft) {
  const ObligationState& ob = draft.obligation();
  params.emplace_back("amount", std::to_string(ob.amount.minor));
  params.emplace_back("currency", std::string(ob.amount.currency.text()));
  params.emplace_back("customer", draft.provider_customer().value());
}

void add_metadata(Params& params, const Draft& draft) {
  for (auto& [name, value] : obligation_metadata(draft.policy(), draft.key())) {
    params.emplace_back("metadata[" + name + "]", value);
  }
  for (const auto& [name, value] : draft.obligation().metadata) {
    params.emplace_back("metadata[" + name + "]", value);
  }
}

Params params_of(const Draft& draft, Step step, const PaymentMethod& payment_method,
                 std::uint32_t attempt) {
  Params params;
  params.reserve(12);
  switch (step) {
    case Step::charge:
      add_money(params, draft);
      params.emplace_back("source", payment_method.value());
      add_metadata(params, draft);
      params.emplace_back("metadata[onceward_attempt]", std::to_string(attempt));
      break;
    case Step::create:
    case Step::create_confirm:
      add_money(params, draft);
      params.emplace_back("payment_method", payment_method.value());
      params.emplace_back("payment_method_types[0]", "card");
      if (step == Step::create_confirm) {
        params.emplace_back("confirm", "true");
        params.emplace_back("off_session", "true");
      }
      add_metadata(params, draft);
      break;
    case Step::confirm:
      params.emplace_back("payment_method", payment_method.value());
      params.emplace_back("off_session", "true");
      break;
    case Step::cancel:
    case Step::refund:
      break;
  }
  return params;
}

// The cap's refusal, if it is one of the reservation that this request would make. A money-moving
// request that is unresolved holds its reservation: "capped" would hide that it may have acted.
const CapRefused* refusal_of_reservation(const Draft& draft, Step step) {
  const Refusal* refusal = draft.context().refusal;
  const auto* cap = refusal != nullptr ? std::get_if<CapRefused>(refusal) : nullptr;
  if (cap == nullptr || !moves_money(step)) return nullptr;
  const ObligationState& ob = draft.obligation();
  const bool is_reserved = ob.request && ob.request->open && moves_money(ob.request->step);
  const bool is_of_this = cap->period == draft.of().period &&
                          cap->limit.currency == ob.amount.currency &&
                          cap->requested_minor == ob.amount.minor;
  return is_reserved || !is_of_this ? nullptr : cap;
}

IdempotencyKey key_of(const Draft& draft, Step step, std::uint32_t attempt,
                      std::uint32_t generation) {
  const Weakening& weakening = draft.policy().weakening;
  if (weakening.lacks(Guard::attempt_in_key)) attempt = 1;
  IdempotencyKey key =
      idempotency_key(draft.policy(), KeyInputs{draft.key(), step, attempt, generation});
  if (!weakening.lacks(Guard::stable_key)) return key;
  return IdempotencyKey{key.value() + std::to_string(draft.context().now.boottime_ms)};
}

}  // namespace

Params obligation_metadata(const BillingPolicy& policy, const ObligationKey& key) {
  return {{"onceward_namespace", policy.ns.value()},
          {"onceward_customer", key.customer.value()},
          {"onceward_period", key.period.text()},
          {"onceward_purpose", key.purpose.value()}};
}

void start_request(Draft& draft, Step step, std::uint32_t generation) {
  const Context& context = draft.context();
  const ObligationState& ob = draft.obligation();
  if (const auto* cap = refusal_of_reservation(draft, step)) {
    draft.add(BillingCapped{draft.of(), draft.now(), cap->limit.minor, cap->used_minor});
    return;
  }
  if (!context.permit || draft.calls()) return draft.want_permit();

  const std::uint32_t attempt = ob.attempt;
  const IdempotencyKey key = key_of(draft, step, attempt, generation);
  const bool resend = ob.request && ob.request->key == key;
  // The method is frozen with the key; a new one enters with the next attempt or generation.
  const PaymentMethod method = resend ? ob.request->payment_method : ob.payment_method;
  ExternalRequest request;
  request.key = key;
  request.operation = operation_of(step);
  request.target = step == Step::confirm || step == Step::cancel ? ob.intent : "";
  request.params = params_of(draft, step, method, attempt);
  request.not_after_boottime_ms = context.now.boottime_ms + draft.policy().call_timeout.count();

  RequestStarted started;
  started.of = draft.of();
  started.at = draft.now();
  started.step = step;
  started.attempt = attempt;
  started.generation = generation;
  started.key = key;
  started.intent = request.target;
  started.payment_method = method;
  started.sent = sent_at(context.now);
  started.not_after_boottime_ms = request.not_after_boottime_ms;
  started.next_action_at = draft.now().plus(draft.policy().attempt_deadline);
  draft.add(std::move(started));
  if (moves_money(step) && !resend) draft.cap(CapOp::Kind::reserve, attempt);
  draft.call(std::move(request));
}

void start_earlier_look_up(Draft& draft) {
  const Context& context = draft.context();
  if (!context.permit || draft.calls()) return draft.want_permit();
  ExternalRequest request;
  request.key = earlier_look_up_key(draft.policy(), draft.key());
  request.operation = Operation::list_charges;
  const std::int64_t from_ms = draft.of().period.start().ms - earlier_window.count();
  request.params.emplace_back("customer", draft.provider_customer().value());
  request.params.emplace_back("created[gte]", std::to_string(from_ms / 1000));
  request.params.emplace_back("limit", "100");
  request.not_after_boottime_ms = context.now.boottime_ms + draft.policy().call_timeout.count();
  draft.call(std::move(request));
}

namespace {

// No send of this request was earlier on the provider's clock, whichever clock of ours was wrong
// then or is now.
Timestamp earliest_send(const Draft& draft) {
  const ObligationState& ob = draft.obligation();
  const SentAt& sent = ob.request->first_sent;
  const Now& now = draft.context().now;
  Timestamp at = std::min(ob.initiated_at, sent.wall);
  if (sent.provider) at = std::min(at, *sent.provider);
  // CLOCK_BOOTTIME cannot be set: it tells how long ago it was on a clock that is right now.
  const std::int64_t ago_ms = now.boot == sent.boot ? now.boottime_ms - sent.boottime_ms : 0;
  const auto ago = std::chrono::milliseconds{-std::max<std::int64_t>(ago_ms, 0)};
  at = std::min(at, now.wall.plus(ago));
  return now.provider ? std::min(at, now.provider->plus(ago)) : at;
}

}  // namespace

void start_look_up(Draft& draft) {
  const Context& context = draft.context();
  const ObligationState& ob = draft.obligation();
  if (!context.permit || draft.calls()) return draft.want_permit();
  ONCEWARD_CHECK(ob.request.has_value(), "a look-up follows a request");
  ExternalRequest request;
  request.key = look_up_key(ob.request->key);
  if (!ob.intent.empty()) {
    request.operation = Operation::get_intent;
    request.target = ob.intent;
  } else {
    request.operation =
        ob.request->step == Step::charge ? Operation::list_charges : Operation::list_intents;
    const std::int64_t from_s = earliest_send(draft).ms / 1000 - created_skew.count() / 1000;
    request.params.emplace_back("customer", draft.provider_customer().value());
    request.params.emplace_back("created[gte]", std::to_string(from_s));
    request.params.emplace_back("limit", "100");
  }
  request.not_after_boottime_ms = context.now.boottime_ms + draft.policy().call_timeout.count();
  draft.call(std::move(request));
}

}  // namespace onceward::billing
