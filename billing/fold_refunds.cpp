// The fold of refunds, and of what hints lead to. None of it changes the status of an obligation: a
// refunded period stays billed.
#include <algorithm>
#include <utility>

#include "billing/draft.hpp"
#include "billing/fold.hpp"

namespace onceward::billing {

RefundState* Fold::refund(std::uint32_t number) {
  return number >= 1 && number <= ob_.refunds.size() ? &ob_.refunds[number - 1] : nullptr;
}

RefundState* Fold::refund_of(const IdempotencyKey& key) {
  const auto found = std::find_if(ob_.refunds.begin(), ob_.refunds.end(), [&](const auto& refund) {
    return refund.request && refund.request->key == key;
  });
  return found == ob_.refunds.end() ? nullptr : &*found;
}

namespace {

// What our own refunds leave. What others gave back may be seen later than it was done: a history
// stays possible whenever that is recorded.
std::int64_t left_of_own(const ObligationState& obligation) {
  std::int64_t left = obligation.amount.minor;
  for (const RefundState& refund : obligation.refunds) {
    if (refund.status != RefundStatus::failed) left -= refund.amount.minor;
  }
  return left;
}

}  // namespace

std::string Fold::operator()(const RefundRequested& e) {
  if (ob_.status != ObligationStatus::completed) return "refund of what was not charged";
  if (e.number != ob_.refunds.size() + 1) return "refund with a number out of order";
  if (e.amount.minor <= 0 || e.amount.currency != ob_.amount.currency ||
      e.amount.minor > left_of_own(ob_)) {
    return "refund of more than is left";
  }
  RefundState refund;
  refund.number = e.number;
  refund.amount = e.amount;
  refund.request_id = e.request_id;
  refund.fingerprint = e.fingerprint;
  refund.who = e.who;
  refund.why = e.why;
  refund.requested_at = e.at;
  refund.updated_at = e.at;
  refund.next_action_at = e.next_action_at;
  ob_.refunds.push_back(std::move(refund));
  return {};
}

std::string Fold::refund_started(const RequestStarted& e) {
  RefundState* found = refund(e.attempt);
  if (found == nullptr) return "a refund was sent that nobody asked for";
  if (!is_open(found->status) || found->status == RefundStatus::parked) {
    return "a refund was sent that is closed or an operator's";
  }
  auto& request = found->request;
  if (request && request->key != e.key) return "a refund was sent under a second key";
  if (request) {
    // A send that never got its answer may have been executed.
    request->tainted = request->tainted || !request->answered;
  } else {
    request.emplace();
    request->step = e.step;
    request->attempt = e.attempt;
    request->generation = e.generation;
    request->key = e.key;
    request->first_sent = e.sent;
  }
  request->last_sent = e.sent;
  request->not_after_boottime_ms = e.not_after_boottime_ms;
  request->answered = false;
  request->observation.clear();
  request->looked_up = LookedUp::nothing;
  ++request->sends;
  ++request->sends_since_look_up;
  found->next_action_at = e.next_action_at;
  found->updated_at = e.at;
  return {};
}

std::string Fold::refund_rejected(RefundState& refund, const RequestRejected& e) {
  if (!refund.request->open) return "rejection of a resolved refund";
  if (!e.retry_at) return "a refund that is refused for good has failed";
  refund.request->answered = true;
  refund.request->observation = e.observation;
  refund.reason = e.observation + (e.code.empty() ? "" : "/" + e.code);
  refund.next_action_at = *e.retry_at;
  refund.updated_at = e.at;
  return {};
}

std::string Fold::refund_unknown(RefundState& refund, const OutcomeUnknown& e) {
  RequestState& request = *refund.request;
  if (!request.open) return "unknown outcome of a resolved refund";
  request.answered = true;
  request.tainted = true;
  switch (e.looked_up) {
    case LookedUp::nothing:
      request.observation = e.observation;
      request.pointless = request.pointless || spends_key(e.observation);
      refund.already_refunded = refund.already_refunded || e.code == already_refunded_code;
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
  refund.status = RefundStatus::unknown;
  refund.reason = e.observation + (e.code.empty() ? "" : "/" + e.code);
  refund.next_action_at = e.next_action_at;
  refund.updated_at = e.at;
  return {};
}

namespace {

void close_refund(RefundState& refund, RefundStatus status, std::string reason, Timestamp at) {
  refund.status = status;
  refund.reason = std::move(reason);
  refund.next_action_at.reset();
  refund.updated_at = at;
  if (refund.request) refund.request->open = false;
}

}  // namespace

std::string Fold::operator()(const RefundPending& e) {
  RefundState* found = refund(e.number);
  if (found == nullptr || !is_open(found->status)) return "pending refund that is not open";
  if (e.refund_id.empty()) return "pending refund without id";
  found->status = RefundStatus::pending;
  found->refund_id = e.refund_id;
  found->reason.clear();
  found->next_action_at = e.next_action_at;
  found->updated_at = e.at;
  if (found->request) found->request->open = false;
  ob_.outside_refunds.erase(e.refund_id);
  return {};
}

std::string Fold::operator()(const RefundCompleted& e) {
  RefundState* found = refund(e.number);
  if (found == nullptr || !is_open(found->status)) return "completed refund that is not open";
  found->refund_id = e.refund_id;
  close_refund(*found, RefundStatus::succeeded, e.alarm, e.at);
  ob_.outside_refunds.erase(e.refund_id);
  return {};
}

std::string Fold::operator()(const RefundFailed& e) {
  RefundState* found = refund(e.number);
  // The money of one that succeeded may come back to us.
  if (found == nullptr || found->status == RefundStatus::failed) return "refund failed twice";
  if (!e.refund_id.empty()) found->refund_id = e.refund_id;
  close_refund(*found, RefundStatus::failed, e.code, e.at);
  return {};
}

std::string Fold::operator()(const RefundParked& e) {
  RefundState* found = refund(e.number);
  if (found == nullptr || !is_open(found->status)) return "parked refund that is not open";
  found->status = RefundStatus::parked;
  found->reason = e.reason;
  found->next_action_at.reset();
  found->updated_at = e.at;
  return {};
}

std::string Fold::operator()(const RefundLookUpOwed& e) {
  if (ob_.charge_id.empty()) return "refunds of what was not charged are to be read";
  ob_.refunds_due = e.next_action_at;
  return {};
}

std::string Fold::operator()(const RefundsListed&) {
  ob_.refunds_due.reset();
  return {};
}

std::string Fold::operator()(const OutsideRefundFound& e) {
  if (e.refund_id.empty()) return "outside refund without id";
  ob_.outside_refunds[e.refund_id] = e.amount_minor;
  return {};
}

// --- hints ---

std::string Fold::operator()(const ObjectHinted& e) {
  if (e.object.empty()) return "hinted object without id";
  HintedObject& hinted = ob_.hinted[e.object];
  if (hinted.due) ++hinted.failed_reads;
  hinted.kind = e.kind;
  hinted.due = e.next_action_at;
  return {};
}

std::string Fold::operator()(const HintedObjectRead& e) {
  if (ob_.hinted.erase(e.object) == 0) return "an object was read that no hint named";
  return {};
}

std::string Fold::operator()(const UnexpectedPaymentFound& e) {
  if (e.charge_id.empty()) return "unexpected payment without charge id";
  if (!ob_.unexpected_charges.insert(e.charge_id).second) return "unexpected payment found twice";
  if (!is_open(ob_.status)) ob_.reason = e.alarm + " " + e.charge_id;
  return {};
}

std::string Fold::operator()(const DisputeRecorded& e) {
  if (e.dispute.empty()) return "dispute without id";
  ob_.dispute = e.dispute;
  ob_.dispute_type = e.type;
  return {};
}

std::string Fold::operator()(const AlarmAcknowledged&) {
  if (ob_.status != ObligationStatus::completed) return "alarm of what is not completed";
  ob_.reason.clear();
  ob_.dispute.clear();
  ob_.dispute_type.clear();
  return {};
}

// --- what the state implies ---

std::int64_t refundable_minor(const ObligationState& obligation) {
  if (obligation.status != ObligationStatus::completed) return 0;
  std::int64_t left = left_of_own(obligation);
  for (const auto& [refund_id, amount_minor] : obligation.outside_refunds) left -= amount_minor;
  return std::max<std::int64_t>(left, 0);
}

RefundRow refund_row_of(const ObligationKey& obligation, const RefundState& refund) {
  RefundRow row;
  row.obligation = obligation;
  row.number = refund.number;
  row.amount = refund.amount;
  row.status = refund.status;
  row.refund_id = refund.refund_id;
  row.reason = refund.reason;
  row.request_id = refund.request_id;
  row.who = refund.who;
  row.why = refund.why;
  row.requested_at = refund.requested_at;
  row.updated_at = refund.updated_at;
  row.next_action_at = refund.next_action_at;
  return row;
}

std::optional<Timestamp> side_action_at(const ObligationState& obligation) {
  std::optional<Timestamp> earliest = obligation.refunds_due;
  const auto consider = [&](const std::optional<Timestamp>& at) {
    if (at && (!earliest || *at < *earliest)) earliest = at;
  };
  for (const auto& [object, hinted] : obligation.hinted) consider(hinted.due);
  for (const RefundState& refund : obligation.refunds) consider(refund.next_action_at);
  return earliest;
}

}  // namespace onceward::billing
