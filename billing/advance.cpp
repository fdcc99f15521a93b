// What an obligation owes right now, from its state alone: the next step of its flow, a resend or a
// look-up by the resume table, or nothing yet.
#include <algorithm>

#include <onceward/billing/resume_table.hpp>
#include "billing/closing.hpp"
#include "billing/hints.hpp"
#include "billing/next_try.hpp"
#include "billing/refunds.hpp"
#include "billing/requests.hpp"

namespace onceward::billing {

namespace {

// Waiting for quiet is never shorter than this.
constexpr std::chrono::milliseconds quiet_wait_min = std::chrono::minutes{1};

bool due(const Draft& draft) {
  const auto& at = draft.obligation().next_action_at;
  return at && *at <= draft.now();
}

bool in_flight(const Draft& draft, const RequestState& request) {
  return draft.context().in_flight(request.key) ||
         draft.context().in_flight(look_up_key(request.key));
}

}  // namespace

Timestamp quiet_at(const Draft& draft, const RequestState& request) {
  const BillingPolicy& policy = draft.policy();
  const Now& now = draft.context().now;
  if (now.boot == request.last_sent.boot) {
    const std::int64_t left =
        request.not_after_boottime_ms + policy.provider_bound.count() - now.boottime_ms;
    return now.wall.plus(std::chrono::milliseconds{std::max<std::int64_t>(left, 0)});
  }
  // The machine was started anew since: only calendar clocks span that.
  return request.last_sent.wall.plus(policy.call_timeout + policy.provider_bound);
}

bool is_quiet(const Draft& draft, const RequestState& request) {
  // The answer to the last send, saved by the endpoint itself: what ran under this key has ended.
  if (request.answered && request.observation == to_text(Observation::server_error)) return true;
  return quiet_at(draft, request) <= draft.now();
}

ResumeFacts resume_facts(const Draft& draft, const RequestState& request) {
  const RequestAge age = age_of(request.first_sent, draft.context().now);
  ResumeFacts facts;
  facts.step = request.step;
  // A send without any answer may have been executed.
  facts.tainted = request.tainted || !request.answered;
  facts.young = (age.trusted && age.age < draft.policy().same_key_max) ||
                draft.policy().weakening.lacks(Guard::key_age);
  facts.pointless = request.pointless;
  facts.quiet = is_quiet(draft, request);
  // Without the provider's time this process cannot tell how old anything is; a read brings it, and
  // what an earlier read found may no longer hold.
  facts.looked_up = draft.context().now.provider ? request.looked_up : LookedUp::nothing;
  facts.burst_used =
      request.sends_since_look_up >= static_cast<std::uint32_t>(draft.policy().same_key_burst);
  const auto& closing = draft.obligation().closing;
  if (closing) facts.heading = closing->by_verdict ? Heading::by_verdict : Heading::call_off;
  facts.may_rebill = draft.obligation().may_rebill;
  return facts;
}

namespace {

void resume_request(Draft& draft, const RequestState& request) {
  switch (resume_action(resume_facts(draft, request))) {
    case ResumeAction::send_same_key:
      return start_request(draft, request.step, request.generation);
    case ResumeAction::send_next_generation: {
      // What a one-step request left is an intent to confirm.
      const bool confirms =
          request.step == Step::create_confirm && !draft.obligation().intent.empty();
      return start_request(draft, confirms ? Step::confirm : request.step,
                           draft.obligation().generation + 1);
    }
    case ResumeAction::look_up:
      return start_look_up(draft);
    case ResumeAction::wait_until_quiet:
      // What was read while a send could still run proves nothing: read again when none can.
      return draft.add(
          LookUpOwed{draft.of(), draft.now(), "waiting_until_quiet",
                     std::max(quiet_at(draft, request), draft.now().plus(quiet_wait_min))});
    case ResumeAction::call_off:
      return close_up(draft);
    case ResumeAction::park:
      return park(draft, "outcome_unknown");
  }
}

}  // namespace

bool request_is_quiet(const Draft& draft) {
  const auto& request = draft.obligation().request;
  return !request || is_quiet(draft, *request);
}

namespace {

void advance_charge(Draft& draft) {
  const ObligationState& ob = draft.obligation();
  if (!is_open(ob.status) && !ob.look_up_owed) return;
  const bool open_request = ob.request && ob.request->open;
  if (ob.request && in_flight(draft, *ob.request)) return;
  if (ob.look_up_owed) {
    if (!due(draft)) return;
    if (ob.request) return start_look_up(draft);
    const IdempotencyKey earlier = earlier_look_up_key(draft.policy(), draft.key());
    if (!draft.context().in_flight(earlier)) start_earlier_look_up(draft);
    return;
  }
  switch (ob.status) {
    case ObligationStatus::in_progress:
    case ObligationStatus::unknown:
      // An unanswered send that is not in flight was lost with its process: act at once.
      if (open_request) {
        if (due(draft) || !ob.request->answered) resume_request(draft, *ob.request);
        return;
      }
      if (due(draft)) start_next(draft);
      return;
    case ObligationStatus::declined:
      if (due(draft)) start_next(draft);
      return;
    case ObligationStatus::processing:
      if (due(draft)) start_look_up(draft);
      return;
    case ObligationStatus::action_required: {
      // Nothing moves until the customer acts: an intent that is not wanted any more is cancelled.
      const bool tried = open_request && ob.request->step == Step::cancel;
      if (ob.closing && !tried && !ob.intent.empty()) return close_up(draft);
      if (due(draft)) start_look_up(draft);
      return;
    }
    case ObligationStatus::rejected:
      // What is not wanted any more needs no operator to mend it.
      if (ob.closing && ob.request && ob.request->step != Step::cancel) close_up(draft);
      return;
    case ObligationStatus::parked:
    case ObligationStatus::capped:
    case ObligationStatus::completed:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
    case ObligationStatus::uncollectible:
      return;
  }
}

}  // namespace

void advance(Draft& draft) {
  if (draft.is_broken()) return;
  if (advance_hinted(draft)) return;
  advance_charge(draft);
  if (!draft.calls() && !draft.wants_permit()) advance_refunds(draft);
}

}  // namespace onceward::billing
