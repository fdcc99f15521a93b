// Sending refunds and resuming them by the resume table. A refund has one key for ever: it is never
// sent under a second one, so a provider that remembers it gives the money back once.
#include "billing/refunds.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/resume_table.hpp>
#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

// Waiting for quiet is never shorter than this.
constexpr std::chrono::milliseconds quiet_wait_min = std::chrono::minutes{1};

bool is_due(const Draft& draft, const std::optional<Timestamp>& at) {
  return at && *at <= draft.now();
}

// What was charged, in the provider's spelling: the charge, or its intent if only that is known.
std::pair<std::string, std::string> target_of(const ObligationState& ob) {
  const bool by_intent = !ob.paid_intent.empty() && ob.charge_id == ob.paid_intent;
  return {by_intent ? "payment_intent" : "charge", ob.charge_id};
}

Params params_of(const Draft& draft, const RefundState& refund) {
  Params params;
  params.push_back(target_of(draft.obligation()));
  params.emplace_back("amount", std::to_string(refund.amount.minor));
  for (auto& [name, value] : obligation_metadata(draft.policy(), draft.key())) {
    params.emplace_back("metadata[" + name + "]", value);
  }
  params.emplace_back("metadata[onceward_refund]", std::to_string(refund.number));
  return params;
}

void start_refund(Draft& draft, const RefundState& refund) {
  const Context& context = draft.context();
  if (!context.permit || draft.calls()) return draft.want_permit();
  ExternalRequest request;
  request.key = idempotency_key(draft.policy(), {draft.key(), Step::refund, refund.number, 0});
  request.operation = Operation::create_refund;
  request.params = params_of(draft, refund);
  request.not_after_boottime_ms = context.now.boottime_ms + draft.policy().call_timeout.count();

  RequestStarted started;
  started.of = draft.of();
  started.at = draft.now();
  started.step = Step::refund;
  started.attempt = refund.number;
  started.generation = 0;
  started.key = request.key;
  started.intent = draft.obligation().charge_id;
  started.sent = sent_at(context.now);
  started.not_after_boottime_ms = request.not_after_boottime_ms;
  started.next_action_at = draft.now().plus(draft.policy().attempt_deadline);
  draft.add(std::move(started));
  draft.call(std::move(request));
}

void start_refund_list(Draft& draft) {
  const Context& context = draft.context();
  if (!context.permit || draft.calls()) return draft.want_permit();
  ExternalRequest request;
  request.key = refund_list_key(draft.of());
  request.operation = Operation::list_refunds;
  request.params.push_back(target_of(draft.obligation()));
  request.params.emplace_back("limit", "100");
  request.not_after_boottime_ms = context.now.boottime_ms + draft.policy().call_timeout.count();
  draft.call(std::move(request));
}

void wait_until_quiet(Draft& draft, const RequestState& request) {
  OutcomeUnknown event;
  event.of = draft.of();
  event.at = draft.now();
  event.key = request.key;
  event.observation = "waiting_until_quiet";
  event.looked_up = LookedUp::too_early;
  event.next_action_at = std::max(quiet_at(draft, request), draft.now().plus(quiet_wait_min));
  draft.add(std::move(event));
}

void resume_refund(Draft& draft, const RefundState& refund) {
  switch (resume_action(resume_facts(draft, *refund.request))) {
    case ResumeAction::send_same_key:
      return start_refund(draft, refund);
    case ResumeAction::look_up:
      return start_refund_list(draft);
    case ResumeAction::wait_until_quiet:
      return wait_until_quiet(draft, *refund.request);
    // A second key could give the money back twice.
    case ResumeAction::send_next_generation:
    case ResumeAction::call_off:  // is never the answer for a refund
    case ResumeAction::park:
      return draft.add(RefundParked{draft.of(), draft.now(), refund.number, "outcome_unknown"});
  }
}

void advance_refund(Draft& draft, const RefundState& refund) {
  if (refund.request && draft.context().in_flight(refund.request->key)) return;
  const bool due = is_due(draft, refund.next_action_at);
  switch (refund.status) {
    case RefundStatus::in_progress:
    case RefundStatus::unknown:
      if (!refund.request) {
        if (due) start_refund(draft, refund);
      } else if (due || !refund.request->answered) {
        // A send without answer that is not in flight was lost with its process: act at once.
        resume_refund(draft, refund);
      }
      return;
    case RefundStatus::pending:
      if (due) start_refund_list(draft);
      return;
    case RefundStatus::parked:
    case RefundStatus::succeeded:
    case RefundStatus::failed:
      return;
  }
}

}  // namespace

IdempotencyKey refund_list_key(const PeriodPurpose& of) {
  return IdempotencyKey{"refunds/" + of.period.text() + "/" + of.purpose.value()};
}

void advance_refunds(Draft& draft) {
  const ObligationState& ob = draft.obligation();
  if (ob.charge_id.empty() || draft.context().in_flight(refund_list_key(draft.of()))) return;
  if (is_due(draft, ob.refunds_due)) return start_refund_list(draft);
  for (std::size_t i = 0; i < ob.refunds.size(); ++i) {
    const RefundState refund = ob.refunds[i];  // a copy: events change the state under it
    advance_refund(draft, refund);
    if (draft.calls() || draft.wants_permit()) return;
  }
}

}  // namespace onceward::billing
