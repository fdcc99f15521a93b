// The fold: what each event makes of an obligation, and which transitions no history may hold.
#include <onceward/billing/billing_state.hpp>

#include <algorithm>
#include <utility>

#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

Unexpected impossible(const BillingState& state, const PeriodPurpose& of, std::string what) {
  return fail(
      ErrorCode::impossible_transition,
      to_display(ObligationKey{state.customer, of.period, of.purpose}) + ": " + std::move(what));
}

// Applies one event to the obligation it is about. One overload per event; each returns an empty
// text, or what makes the transition impossible.
class Fold {
 public:
  explicit Fold(ObligationState& obligation) : ob_(obligation) {}

  std::string operator()(const BillingInitiated&) { return "initiated twice"; }
  std::string operator()(const RequestStarted& e);
  std::string operator()(const LookUpOwed& e);
  std::string operator()(const LookUpAnswered& e);
  std::string operator()(const CancelRequested& e);
  std::string operator()(const PaymentIntentCreated& e);
  std::string operator()(const PaymentIntentCanceled& e);
  std::string operator()(const AttemptDeclined& e);
  std::string operator()(const RequestRejected& e);
  std::string operator()(const OutcomeUnknown& e);
  std::string operator()(const BillingPending& e);
  std::string operator()(const BillingCompleted& e);
  std::string operator()(const BillingUncollectible& e) {
    return close(ObligationStatus::uncollectible, e.reason);
  }
  std::string operator()(const BillingParked& e);
  std::string operator()(const BillingCapped& e);
  std::string operator()(const BillingCancelled& e) {
    return close(ObligationStatus::cancelled, e.reason);
  }
  std::string operator()(const PeriodWaived& e) {
    return close(ObligationStatus::waived, e.reason);
  }
  std::string operator()(const OperatorActed& e);
  std::string operator()(const EarlierSystemChecked& e) {
    if (ob_.request) return "checked for an older system's charge after a send";
    ob_.look_up_owed = false;
    ob_.reason.clear();
    wait_until(e.at);
    return {};
  }

 private:
  std::string close(ObligationStatus status, const std::string& reason);
  void close_request() {
    if (ob_.request) ob_.request->open = false;
  }
  void wait_until(Timestamp at) { ob_.next_action_at = at; }

  ObligationState& ob_;
};

std::string Fold::operator()(const RequestStarted& e) {
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
    const bool same_intent =
        acts_on_intent && e.step == Step::confirm && e.intent == ob_.intent && !ob_.intent.empty();
    if (request && request->open && moves_money(request->step) && !same_intent) {
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
  ob_.look_up_owed = false;
  ob_.next_attempt_at.reset();
  ob_.reason.clear();
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

std::string Fold::operator()(const CancelRequested& e) {
  if (!is_open(ob_.status)) return "cancel requested for a closed obligation";
  ob_.cancel_requested = true;
  ob_.reason = e.why;
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
  ++ob_.generation;
  close_request();
  ob_.look_up_owed = false;
  if (!is_open(ob_.status)) return {};
  ob_.status = ObligationStatus::in_progress;
  wait_until(e.next_action_at);
  return {};
}

std::string Fold::operator()(const AttemptDeclined& e) {
  if (e.attempt != ob_.attempt) return "decline of another attempt";
  if (!is_open(ob_.status)) return "decline of a closed obligation";
  if (!ob_.request || !ob_.request->open) return "decline of no open request";
  ++ob_.declines;
  ++ob_.attempt;
  close_request();
  if (!e.intent.empty()) ob_.intent = e.intent;
  ob_.status = ObligationStatus::declined;
  ob_.code = e.code;
  ob_.decline_code = e.decline_code;
  ob_.failure_charge = e.failure_charge;
  ob_.look_up_owed = false;
  ob_.next_attempt_at = e.next_attempt_at;
  wait_until(e.next_attempt_at);
  return {};
}

std::string Fold::operator()(const RequestRejected& e) {
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
  // Whoever lets it be sent again freezes new parameters, which need a key of their own.
  ++ob_.generation;
  ob_.status = ObligationStatus::rejected;
  ob_.next_action_at.reset();
  return {};
}

std::string Fold::operator()(const OutcomeUnknown& e) {
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

std::string Fold::operator()(const BillingCompleted& e) {
  if (ob_.status == ObligationStatus::completed) return "completed twice";
  if (e.charge_id.empty()) return "completed without charge id";
  ob_.status = ObligationStatus::completed;
  ob_.charge_id = e.charge_id;
  if (!e.intent.empty()) ob_.intent = e.intent;
  ob_.reason = e.alarm;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  close_request();
  return {};
}

std::string Fold::operator()(const BillingParked& e) {
  if (!is_open(ob_.status)) return "parked after it was closed";
  ob_.status = ObligationStatus::parked;
  ob_.reason = e.reason;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  return {};
}

std::string Fold::operator()(const BillingCapped& e) {
  if (!is_open(ob_.status)) return "capped after it was closed";
  ob_.status = ObligationStatus::capped;
  ob_.reason = "limit " + std::to_string(e.limit_minor) + ", used " + std::to_string(e.used_minor);
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  return {};
}

std::string Fold::operator()(const OperatorActed& e) {
  if (!is_open(ob_.status)) return "operator's retry of a closed obligation";
  ob_.reason = e.action + " by " + e.who + ": " + e.why;
  ob_.next_attempt_at.reset();
  const bool may_have_acted =
      ob_.request && ob_.request->open && (ob_.request->tainted || !ob_.request->answered);
  if (may_have_acted || ob_.status == ObligationStatus::processing ||
      ob_.status == ObligationStatus::action_required) {
    ob_.look_up_owed = true;
    if (is_operator_owned(ob_.status)) ob_.status = ObligationStatus::unknown;
  } else {
    ob_.status = ObligationStatus::in_progress;
  }
  wait_until(e.next_action_at);
  return {};
}

std::string Fold::close(ObligationStatus status, const std::string& reason) {
  if (!is_open(ob_.status)) return "closed twice";
  ob_.status = status;
  ob_.reason = reason;
  ob_.look_up_owed = false;
  ob_.next_action_at.reset();
  ob_.next_attempt_at.reset();
  close_request();
  return {};
}

Result<Unit> initiate(BillingState& state, const BillingInitiated& e) {
  if (!state.provider_customer.value().empty() && state.provider_customer != e.provider_customer) {
    return impossible(state, e.of, "another provider customer than the frozen one");
  }
  ObligationState obligation;
  obligation.amount = e.amount;
  obligation.payment_method = e.payment_method;
  obligation.metadata = e.metadata;
  obligation.request_id = e.request_id;
  obligation.initiated_at = e.at;
  obligation.updated_at = e.at;
  obligation.next_action_at = e.next_action_at;
  if (!state.obligations.emplace(e.of, std::move(obligation)).second) {
    return impossible(state, e.of, "initiated twice");
  }
  state.provider_customer = e.provider_customer;
  return ok();
}

}  // namespace

// A cut body or a hop's error may go away; a saved error, parameters that never match and a request
// that is refused before it is looked at do not.
bool spends_key(std::string_view observation) {
  for (const auto spent : {Observation::server_error, Observation::key_mismatch,
                           Observation::invalid_request, Observation::not_found}) {
    if (observation == to_text(spent)) return true;
  }
  return false;
}

const PeriodPurpose& subject_of(const BillingEvent& event) {
  return std::visit([](const auto& e) -> const PeriodPurpose& { return e.of; }, event);
}

Result<Unit> evolve_obligation(BillingState& state, const BillingEvent& event) {
  if (const auto* initiated = std::get_if<BillingInitiated>(&event)) {
    return initiate(state, *initiated);
  }
  const PeriodPurpose& of = subject_of(event);
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return impossible(state, of, "event before initiation");
  std::string broken = std::visit(Fold{found->second}, event);
  if (!broken.empty()) return impossible(state, of, std::move(broken));
  found->second.updated_at = std::visit([](const auto& e) { return e.at; }, event);
  return ok();
}

ObligationRow row_of(const CustomerId& customer, const PeriodPurpose& of,
                     const ObligationState& obligation) {
  ObligationRow row;
  row.key = ObligationKey{customer, of.period, of.purpose};
  row.status = obligation.status;
  row.amount = obligation.amount;
  row.charge_id = obligation.charge_id;
  row.attempt = obligation.request ? obligation.request->attempt : 0;
  row.decline_code = obligation.decline_code;
  row.reason = obligation.reason;
  row.request_id = obligation.request_id;
  row.initiated_at = obligation.initiated_at;
  row.updated_at = obligation.updated_at;
  row.next_action_at = obligation.next_action_at;
  row.next_attempt_at = obligation.next_attempt_at;
  return row;
}

}  // namespace onceward::billing
