// The fold of requests, their intents, and answers that leave the outcome open.
#include "billing/fold.hpp"

#include <utility>

#include "billing/draft.hpp"

namespace onceward::billing {

std::string Fold::operator()(const RequestStarted& e) {
  if (e.step == Step::refund) return refund_started(e);
  if (!is_open(ob_.status)) return "request started for a closed obligation";
  if (e.attempt != ob_.attempt) return "request of another attempt";
  if (e.generation < ob_.generation) return "generation went back";
  auto& request = ob_.request;
  if (request && request->key == e.key) {
    // A send that never got its answer may have been executed.
    request->tainted = request->tainted || (request->open && !request->answered);
    request->open = true;
  } else {
    const bool acts_on_intent =
        request && (request->step == Step::confirm || request->step == Step::create_confirm);
    const bool same_intent = acts_on_intent && e.intent == ob_.intent && !ob_.intent.empty() &&
                             (e.step == Step::confirm || e.step == Step::cancel);
    const bool is_alone = same_intent || ob_.may_rebill;
    if (request && request->open && moves_money(request->step) && !is_alone) {
      return "a second money-moving request beside an open one";
    }
    const bool re_sent = request && request->open && request->attempt == e.attempt;
    RequestState next;
    next.step = e.step;
    next.attempt = e.attempt;
    next.generation = e.generation;
    next.key = e.key;
    next.first_sent = e.sent;
    // A new generation is untainted although the one before it was not resolved: it started because
    // no send can be running any more and the provider showed that none took money.
    if (re_sent) next.sends = request->sends;
    request = std::move(next);
  }
  request->payment_method = e.payment_method;
  request->last_sent = e.sent;
  request->not_after_boottime_ms = e.not_after_boottime_ms;
  request->answered = false;
  request->observation.clear();
  request->looked_up = LookedUp::nothing;
  ++request->sends;
  ++request->sends_since_look_up;
  ob_.generation = e.generation;
  ob_.reserved = ob_.reserved || moves_money(e.step);
  ob_.look_up_owed = false;
  ob_.next_attempt_at.reset();
  ob_.still_owed_at.reset();
  ob_.waits_for_method = false;
  ob_.may_rebill = false;
  if (!ob_.closing) ob_.reason.clear();
  // Still unknown while an earlier send may have acted; a fresh key is plainly in progress.
  if (!(ob_.status == ObligationStatus::unknown && request->tainted)) {
    ob_.status = ObligationStatus::in_progress;
  }
  wait_until(e.next_action_at);
  return {};
}

std::string Fold::operator()(const LookUpOwed& e) {
  ob_.look_up_owed = true;
  const bool unresolved = is_open(ob_.status) && !is_operator_owned(ob_.status);
  // A resolved obligation keeps the reason of its status.
  if (unresolved && (!ob_.request || ob_.request->open)) ob_.reason = e.cause;
  wait_until(e.next_action_at);
  return {};
}

std::string Fold::operator()(const LookUpAnswered& e) {
  if (ob_.request && ob_.request->open && is_open(ob_.status) && !is_operator_owned(ob_.status)) {
    return "a look-up without result about an unresolved request";
  }
  ob_.look_up_owed = false;
  ob_.next_action_at = e.next_action_at;
  return {};
}

std::string Fold::operator()(const PaymentIntentCreated& e) {
  if (e.intent.empty()) return "intent without id";
  if (!ob_.intent.empty() && ob_.intent != e.intent) return "a second intent beside a payable one";
  ob_.intent = e.intent;
  ob_.look_up_owed = false;
  const bool is_only_created = !ob_.request || !moves_money(ob_.request->step);
  // A one-step request that made this intent may have confirmed it, too.
  if (!is_only_created) return {};
  close_request();
  const bool waits_for_answer = ob_.status == ObligationStatus::unknown ||
                                ob_.status == ObligationStatus::processing ||
                                ob_.status == ObligationStatus::action_required;
  if (waits_for_answer) ob_.status = ObligationStatus::in_progress;
  if (ob_.status == ObligationStatus::in_progress) wait_until(e.at);
  return {};
}

std::string Fold::operator()(const PaymentIntentCanceled& e) {
  if (ob_.intent != e.intent) return "another intent was canceled than the payable one";
  ob_.intent.clear();
  ob_.reserved = false;
  ++ob_.generation;
  close_request();
  ob_.look_up_owed = false;
  if (!is_open(ob_.status) || is_operator_owned(ob_.status)) return {};
  if (ob_.status == ObligationStatus::declined && ob_.next_attempt_at && !ob_.closing) {
    // The next try keeps its time; it begins with a new intent.
    wait_until(*ob_.next_attempt_at);
    return {};
  }
  if (ob_.status == ObligationStatus::declined && ob_.waits_for_method) return {};
  ob_.status = ObligationStatus::in_progress;
  wait_until(e.next_action_at);
  return {};
}

std::string Fold::operator()(const RequestRejected& e) {
  if (RefundState* refund = refund_of(e.key)) return refund_rejected(*refund, e);
  if (!ob_.request || ob_.request->key != e.key) return "rejection of an unknown request";
  auto& request = *ob_.request;
  if (!request.open) return "rejection of a resolved request";
  request.answered = true;
  request.observation = e.observation;
  ob_.look_up_owed = false;
  ob_.reason = e.observation + (e.code.empty() ? "" : "/" + e.code);
  ob_.code = e.code;
  if (e.retry_at) {
    wait_until(*e.retry_at);
    return {};
  }
  if (!is_open(ob_.status)) return "rejection of a closed obligation";
  request.open = false;
  // An intent that could not be cancelled may still take the money that is reserved for it.
  if (request.step != Step::cancel) ob_.reserved = false;
  // Whoever lets it be sent again freezes new parameters, which need a key of their own.
  ++ob_.generation;
  ob_.status = ObligationStatus::rejected;
  ob_.next_action_at.reset();
  return {};
}

std::string Fold::operator()(const OutcomeUnknown& e) {
  if (RefundState* refund = refund_of(e.key)) return refund_unknown(*refund, e);
  if (!ob_.request || ob_.request->key != e.key) return "unknown outcome of an unknown request";
  if (!is_open(ob_.status)) return "unknown outcome of a closed obligation";
  auto& request = *ob_.request;
  if (!request.open) return "unknown outcome of a resolved request";
  request.answered = true;
  request.tainted = true;
  ob_.look_up_owed = false;
  switch (e.looked_up) {
    case LookedUp::nothing:
      request.observation = e.observation;
      request.pointless = request.pointless || spends_key(e.observation);
      break;
    case LookedUp::failed:
      ++request.failed_look_ups;
      break;
    case LookedUp::absent:
    case LookedUp::unpaid_same:
    case LookedUp::too_early:
      request.looked_up = e.looked_up;
      request.sends_since_look_up = 0;
      request.failed_look_ups = 0;
      break;
  }
  ob_.status = ObligationStatus::unknown;
  ob_.code = e.code;
  ob_.reason = e.observation;
  wait_until(e.next_action_at);
  return {};
}

std::string Fold::operator()(const BillingPending& e) {
  if (!is_open(ob_.status)) return "pending after it was closed";
  if (!ob_.request || !ob_.request->open) return "pending without an open request";
  if (!e.intent.empty() && ob_.intent.empty()) ob_.intent = e.intent;
  ob_.request->answered = true;
  ob_.request->pointless = true;  // it would say pending again
  ob_.look_up_owed = false;
  ob_.status = e.kind == BillingPending::Kind::processing ? ObligationStatus::processing
                                                          : ObligationStatus::action_required;
  wait_until(e.next_action_at);
  return {};
}

}  // namespace onceward::billing
