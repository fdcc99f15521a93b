// What each answer makes of a refund. Only an object that names this very refund, or the one refund
// that can be it, ends an unknown outcome.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <onceward/provider/classification.hpp>

#include "billing/outcomes.hpp"
#include "billing/refunds.hpp"

namespace onceward::billing {

namespace {

constexpr std::chrono::milliseconds poll_pending = std::chrono::hours{1};
constexpr std::chrono::milliseconds read_again = std::chrono::minutes{10};
constexpr std::chrono::milliseconds probe_credentials = std::chrono::seconds{60};
constexpr std::chrono::milliseconds retry_after_max = std::chrono::hours{1};

bool is_attributed(const ProviderObject& object) {
  return std::any_of(object.metadata.begin(), object.metadata.end(),
                     [](const auto& member) { return member.first == "onceward_refund"; });
}

bool is_amount_of(const RefundState& refund, const ProviderObject& object) {
  return object.amount_minor == refund.amount.minor &&
         object.currency == refund.amount.currency.text();
}

bool is_this_refund(const Draft& draft, const RefundState& refund, const ProviderObject& object) {
  if (object.object != "refund" || !is_ours(draft, object)) return false;
  const std::string number = std::to_string(refund.number);
  const bool names_it =
      std::any_of(object.metadata.begin(), object.metadata.end(), [&](const auto& member) {
        return member.first == "onceward_refund" && member.second == number;
      });
  const std::string& paid = draft.obligation().charge_id;
  const bool of_our_charge =
      object.charge.empty() || object.charge == paid || object.payment_intent == paid;
  return names_it && of_our_charge && is_amount_of(refund, object);
}

std::chrono::milliseconds pause_of(const RefundState& refund, const ExternalAnswer& answer) {
  const auto own = back_off(refund.request->key, refund.request->sends);
  return answer.retry_after ? std::max(own, std::min(*answer.retry_after, retry_after_max)) : own;
}

void unknown(Draft& draft, const RefundState& refund, std::string_view observation,
             std::string code, LookedUp looked_up, std::chrono::milliseconds pause) {
  OutcomeUnknown event;
  event.of = draft.of();
  event.at = draft.now();
  event.key = refund.request->key;
  event.observation = std::string(observation);
  event.code = std::move(code);
  event.looked_up = looked_up;
  event.next_action_at = draft.now().plus(pause);
  draft.add(std::move(event));
}

void pending(Draft& draft, const RefundState& refund, const std::string& refund_id) {
  draft.add(RefundPending{draft.of(), draft.now(), refund.number, refund_id,
                          draft.now().plus(poll_pending)});
}

// By its status; a word we do not know is never a success.
void settle(Draft& draft, const RefundState& refund, const ProviderObject& object,
            const std::string& alarm) {
  const std::string& status = object.status;
  if (status == "failed" || status == "canceled") {
    if (refund.status == RefundStatus::failed) return;
    const std::string& code = object.failure_code.empty() ? status : object.failure_code;
    draft.add(RefundFailed{draft.of(), draft.now(), refund.number, object.id, code, ""});
  } else if (!is_open(refund.status)) {
    return;  // a success or a pending one says nothing new of it
  } else if (status == "succeeded") {
    draft.add(RefundCompleted{draft.of(), draft.now(), refund.number, object.id, alarm});
  } else if (status == "pending" || status == "requires_action") {
    pending(draft, refund, object.id);
  } else if (refund.request && refund.request->open) {
    unknown(draft, refund, to_text(Observation::object), status, LookedUp::nothing,
            back_off(refund.request->key, refund.request->sends));
  }
}

bool is_unresolved(const Draft& draft, const RefundState& refund) {
  if (!refund.request || !refund.request->open || refund.status == RefundStatus::parked) {
    return false;
  }
  if (draft.context().in_flight(refund.request->key)) return false;
  // One that certainly did nothing waits for its time and stays untainted.
  return refund.status == RefundStatus::unknown || !refund.request->answered;
}

// The read failed: everything that waited for it waits for the next one.
void on_failed_list(Draft& draft, const ExternalAnswer& answer) {
  if (draft.obligation().refunds_due) {
    draft.add(
        RefundLookUpOwed{draft.of(), draft.now(), "look_up_failed", draft.now().plus(read_again)});
  }
  const std::vector<RefundState> refunds = draft.obligation().refunds;
  for (const RefundState& refund : refunds) {
    if (is_unresolved(draft, refund)) {
      unknown(draft, refund, to_text(answer.observation), answer.code, LookedUp::failed,
              back_off(refund.request->key, refund.request->failed_look_ups + 1));
    } else if (refund.status == RefundStatus::pending && refund.next_action_at <= draft.now()) {
      pending(draft, refund, refund.refund_id);
    }
  }
}

// Objects of the list and which of them belong to a refund of ours.
struct Listed {
  const std::vector<ProviderObject>& objects;
  std::vector<bool> taken;

  [[nodiscard]] bool is_free(std::size_t i) const {
    const std::string& status = objects[i].status;
    return !taken[i] && !is_attributed(objects[i]) &&
           (status == "succeeded" || status == "pending");
  }
};

// Somebody gave money of this charge back beside us: it is this refund only if it can be no other.
void adopt_or_park(Draft& draft, const RefundState& refund, Listed& listed) {
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < listed.objects.size(); ++i) {
    if (listed.is_free(i) && is_amount_of(refund, listed.objects[i])) alike.push_back(i);
  }
  if (alike.size() != 1) {
    return draft.add(RefundParked{draft.of(), draft.now(), refund.number, "already_refunded"});
  }
  listed.taken[alike.front()] = true;
  settle(draft, refund, listed.objects[alike.front()], "adopted_from_outside");
}

void on_absent(Draft& draft, const RefundState& refund) {
  const bool proves = is_quiet(draft, *refund.request);
  const bool at_once = proves && refund.request->sends <= 1;
  unknown(draft, refund, "absent", "", proves ? LookedUp::absent : LookedUp::too_early,
          at_once ? std::chrono::milliseconds{0}
                  : back_off(refund.request->key, refund.request->sends));
}

std::vector<RefundState> settle_found(Draft& draft, Listed& listed) {
  std::vector<RefundState> absent;
  const std::vector<RefundState> refunds = draft.obligation().refunds;
  for (const RefundState& refund : refunds) {
    const auto found = std::find_if(
        listed.objects.begin(), listed.objects.end(), [&](const ProviderObject& object) {
          return is_this_refund(draft, refund, object) ||
                 (!refund.refund_id.empty() && object.id == refund.refund_id);
        });
    if (found == listed.objects.end()) {
      absent.push_back(refund);
      continue;
    }
    listed.taken[static_cast<std::size_t>(found - listed.objects.begin())] = true;
    settle(draft, refund, *found, "");
  }
  return absent;
}

void note_outside(Draft& draft, const Listed& listed) {
  for (std::size_t i = 0; i < listed.objects.size(); ++i) {
    const ProviderObject& object = listed.objects[i];
    if (!listed.is_free(i) || draft.obligation().outside_refunds.contains(object.id)) continue;
    draft.add(OutsideRefundFound{draft.of(), draft.now(), object.id, object.amount_minor});
  }
}

}  // namespace

void on_refund_answer(Draft& draft, std::uint32_t number, const ExternalAnswer& answer) {
  const RefundState refund = draft.obligation().refunds[number - 1];
  if (answer.observation == Observation::object) {
    if (answer.objects.size() == 1 && is_this_refund(draft, refund, answer.objects.front())) {
      return settle(draft, refund, answer.objects.front(), "");
    }
    if (!is_unresolved(draft, refund)) return;
    return unknown(draft, refund, "mismatch", "", LookedUp::nothing, pause_of(refund, answer));
  }
  if (!is_unresolved(draft, refund)) return;  // late, and no success
  if (answer.code == already_refunded_code) {
    return unknown(draft, refund, to_text(answer.observation), answer.code, LookedUp::nothing,
                   std::chrono::milliseconds{0});
  }
  const bool tainted = refund.request->tainted || !answer.single_wire_send;
  const std::string observed(to_text(answer.observation));
  switch (provider::verdict(answer.observation, tainted)) {
    case provider::Verdict::declined:
    case provider::Verdict::rejected:
      draft.add(RefundFailed{draft.of(), draft.now(), number, "",
                             answer.code.empty() ? observed : answer.code, answer.message});
      // Perhaps more than is left, because somebody else gave a part back: that is to be counted.
      return draft.add(RefundLookUpOwed{draft.of(), draft.now(), "refund_refused", draft.now()});
    case provider::Verdict::not_executed: {
      const bool config = answer.observation == Observation::unauthorized;
      const auto pause = config ? probe_credentials : pause_of(refund, answer);
      return draft.add(RequestRejected{draft.of(), draft.now(), refund.request->key, observed,
                                       answer.code, answer.message, draft.now().plus(pause)});
    }
    case provider::Verdict::by_status:
    case provider::Verdict::look_up_first:
    case provider::Verdict::unknown: {
      // Where the same key would bring the same answer, the look-up comes at once.
      const bool at_once = spends_key(observed);
      return unknown(draft, refund, observed, answer.code, LookedUp::nothing,
                     at_once ? std::chrono::milliseconds{0} : pause_of(refund, answer));
    }
  }
}

void on_refund_list(Draft& draft, const ExternalAnswer& answer) {
  if (answer.observation != Observation::object) return on_failed_list(draft, answer);
  Listed listed{answer.objects, std::vector<bool>(answer.objects.size(), false)};
  for (const RefundState& refund : settle_found(draft, listed)) {
    if (is_unresolved(draft, refund)) {
      if (refund.already_refunded) {
        adopt_or_park(draft, refund, listed);
      } else {
        on_absent(draft, refund);
      }
    } else if (refund.status == RefundStatus::pending && refund.next_action_at <= draft.now()) {
      pending(draft, refund, refund.refund_id);
    }
  }
  note_outside(draft, listed);
  if (draft.obligation().refunds_due) {
    draft.add(
        RefundsListed{draft.of(), draft.now(), static_cast<std::int64_t>(answer.objects.size())});
  }
}

}  // namespace onceward::billing
