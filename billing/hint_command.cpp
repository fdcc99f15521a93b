// Deciding hints: the mark and what it makes owed are one commit. Nothing a hint says is believed.
#include <string>
#include <utility>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

constexpr std::size_t type_length_max = 64;
constexpr std::size_t object_length_max = 128;
// Objects that wait to be read; more at once is no webhook traffic but an error somewhere.
constexpr std::size_t hinted_max = 32;

bool is_visible(std::string_view text, std::size_t length_max) {
  if (text.size() > length_max) return false;
  for (const char c : text) {
    if (c < '!' || c > '~') return false;
  }
  return true;
}

std::optional<Refused> refusal_of(const ProviderHint& hint) {
  if (hint.mark.scope.empty() || hint.mark.key.empty()) {
    return Refused{"a hint needs the id of its event"};
  }
  if (hint.type.empty() || !is_visible(hint.type, type_length_max)) {
    return Refused{"the type of a hint is 1-64 visible ASCII characters"};
  }
  if (hint.object.empty() || !is_visible(hint.object, object_length_max) ||
      !is_visible(hint.intent, object_length_max) || !is_visible(hint.charge, object_length_max)) {
    return Refused{"ids of objects in a hint are 1-128 visible ASCII characters"};
  }
  return std::nullopt;
}

bool is_about_refunds(const ProviderHint& hint) {
  return hint.kind == HintedKind::refund || hint.type.rfind("charge.refund", 0) == 0;
}

// It says again what is recorded, and a success never ends: nothing is to be read.
bool is_known(const ObligationState& ob, const ProviderHint& hint) {
  if (ob.status != ObligationStatus::completed) return false;
  if (!hint.charge.empty()) {
    return hint.charge == ob.charge_id || ob.unexpected_charges.contains(hint.charge);
  }
  return !ob.paid_intent.empty() && hint.intent == ob.paid_intent;
}

// The object is what our recorded request made or acts on: the look-up of that request reads it.
bool is_own(const ObligationState& ob, const ProviderHint& hint) {
  if (!ob.request || ob.intent.empty()) return false;
  return hint.intent == ob.intent || hint.object == ob.intent;
}

void take(Draft& draft, const ProviderHint& hint) {
  const ObligationState& ob = draft.obligation();
  const std::string cause = hint.mark.scope + " " + hint.type + " " + hint.mark.key;
  const Timestamp now = draft.now();
  if (hint.kind == HintedKind::dispute) {
    return draft.add(DisputeRecorded{draft.of(), now, hint.object, hint.charge, hint.type});
  }
  if (is_about_refunds(hint) && !ob.charge_id.empty()) {
    return draft.add(RefundLookUpOwed{draft.of(), now, cause, now});
  }
  if (is_known(ob, hint)) return;
  if (is_own(ob, hint)) return draft.add(LookUpOwed{draft.of(), now, cause, now});
  // Of a refund of something that we did not charge, the charge itself is what matters.
  const bool by_charge = hint.kind == HintedKind::refund;
  const std::string& object = by_charge ? hint.charge : hint.object;
  if (object.empty()) return;
  const HintedKind kind = by_charge ? HintedKind::charge : hint.kind;
  draft.add(ObjectHinted{draft.of(), now, cause, kind, object, now});
}

}  // namespace

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const ProviderHint& hint, const Context& context) {
  if (auto refused = refusal_of(hint)) return answer_only(std::move(*refused));
  const PeriodPurpose of{hint.key.period, hint.key.purpose};
  const auto found = state.obligations.find(of);
  if (found == state.obligations.end()) return answer_only(NoSuchObligation{});
  const ObligationState& obligation = found->second;
  if (context.refusal != nullptr && std::holds_alternative<MarkRefused>(*context.refusal)) {
    return answer_only(HintTaken{row_of(state.customer, of, obligation), true});
  }
  if (obligation.hinted.size() >= hinted_max && !obligation.hinted.contains(hint.object)) {
    return answer_only(TurnedDown{Turndown::busy});
  }
  Draft draft(policy, state, context, of);
  take(draft, hint);
  draft.mark(hint.mark);
  advance(draft);
  HintTaken taken{draft.row(), false};
  Decided decided = draft.finish();
  if (!decided.quarantine) decided.reply = std::move(taken);
  return decided;
}

}  // namespace onceward::billing
