// BillCustomer: guards, conflicts, initiation, and when its sender is told.
#include <algorithm>
#include <string>
#include <utility>

#include <onceward/billing/quarantine_entity.hpp>

#include "billing/commands.hpp"
#include "billing/draft.hpp"

namespace onceward::billing {

namespace {

using Decided = BillingEntity::Decided;

// Replies as the sender asked to be told, from the state this decision leads to.
void tell(Decided& decided, const BillCustomer& bill, ObligationRow row) {
  const bool deduplicated = row.request_id != bill.request_id;
  const ObligationStatus status = row.status;
  Told told{std::move(row), deduplicated, false};
  switch (bill.notify) {
    case Notify::accepted:
      decided.reply = std::move(told);
      return;
    case Notify::accepted_and_left:
      decided.reply = std::move(told);
      decided.wait = status == ObligationStatus::in_progress;
      return;
    case Notify::settled:
      if (is_settled(status)) {
        decided.reply = std::move(told);
      } else {
        decided.wait = true;
      }
      return;
  }
}

std::optional<Conflict> conflict_of(const BillingState& state, const BillCustomer& bill) {
  for (const auto& [of, obligation] : state.obligations) {
    if (of.purpose == bill.key.purpose &&
        of.period.granularity() != bill.key.period.granularity()) {
      return Conflict{Conflict::Kind::granularity, row_of(state.customer, of, obligation),
                      "purpose " + of.purpose.value() + " is billed by " +
                          std::string(to_text(of.period.granularity()))};
    }
  }
  const auto found = state.obligations.find({bill.key.period, bill.key.purpose});
  std::optional<ObligationRow> existing;
  if (found != state.obligations.end()) {
    existing = row_of(state.customer, found->first, found->second);
  }
  if (!state.provider_customer.value().empty() &&
      state.provider_customer != bill.provider_customer) {
    return Conflict{Conflict::Kind::provider_customer, std::move(existing),
                    "provider_customer is " + state.provider_customer.value()};
  }
  if (existing && existing->amount != bill.amount) {
    const std::string recorded = "recorded as " + to_display(existing->amount);
    return Conflict{Conflict::Kind::amount, std::move(existing), recorded};
  }
  return std::nullopt;
}

Decided decide_known(const BillingState& state, const BillCustomer& bill,
                     const ObligationState& obligation) {
  Decided decided;
  if (bill.caller_mark) decided.marks.push_back(*bill.caller_mark);
  tell(decided, bill, row_of(state.customer, {bill.key.period, bill.key.purpose}, obligation));
  return decided;
}

// What would hide or double a member that the provider's objects are recognised by.
std::optional<Refused> refusal_of_metadata(const Metadata& metadata) {
  for (auto at = metadata.begin(); at != metadata.end(); ++at) {
    if (at->first.rfind("onceward_", 0) == 0) {
      return Refused{"metadata name " + at->first + " is reserved"};
    }
    const auto same = [&](const auto& other) { return other.first == at->first; };
    if (std::any_of(metadata.begin(), at, same)) {
      return Refused{"metadata name " + at->first + " is given twice"};
    }
  }
  return std::nullopt;
}

Decided decide_new(const BillingPolicy& policy, const BillingState& state, const BillCustomer& bill,
                   const Context& context) {
  if (!policy.allow_future && context.now.wall < bill.key.period.start()) {
    return answer_only(Conflict{
        Conflict::Kind::period_not_begun, std::nullopt,
        "period " + bill.key.period.text() + " begins at " + to_iso(bill.key.period.start())});
  }
  const bool charges = bill.amount.minor > 0;
  if (charges && bill.payment_method.value().empty()) {
    return answer_only(Refused{"payment_method is required for an amount above 0"});
  }
  if (auto refused = refusal_of_metadata(bill.metadata)) return answer_only(std::move(*refused));
  Draft draft(policy, state, context, {bill.key.period, bill.key.purpose});
  BillingInitiated initiated;
  initiated.of = draft.of();
  initiated.at = draft.now();
  initiated.amount = bill.amount;
  initiated.payment_method = bill.payment_method;
  initiated.provider_customer = bill.provider_customer;
  initiated.request_id = bill.request_id;
  initiated.metadata = bill.metadata;
  initiated.next_action_at = draft.now();
  draft.add(std::move(initiated));
  if (bill.caller_mark) draft.mark(*bill.caller_mark);
  if (charges) {
    if (needs_earlier_check(policy, draft.key())) {
      draft.add(LookUpOwed{draft.of(), draft.now(), "earlier_system", draft.now()});
    }
    advance(draft);
  } else {
    draft.add(PeriodWaived{draft.of(), draft.now(), "no_charge_due"});
  }
  ObligationRow row = draft.row();
  Decided decided = draft.finish();
  // Of a broken draft nothing is stored, so nothing is told.
  if (!decided.quarantine) tell(decided, bill, std::move(row));
  return decided;
}

Decided decide_mark_refused(const BillingState& state, const BillCustomer& bill,
                            const Mark& existing) {
  if (!bill.caller_mark || existing.fingerprint != bill.caller_mark->fingerprint) {
    return answer_only(CallerKeyReused{});
  }
  const auto found = state.obligations.find({bill.key.period, bill.key.purpose});
  if (found == state.obligations.end()) {
    Decided decided = answer_only(TurnedDown{Turndown::quarantined});
    decided.quarantine = std::string(lost_obligation);
    return decided;
  }
  Told told{row_of(state.customer, found->first, found->second), false, true};
  return answer_only(std::move(told));
}

// The row exists although the history holds no such obligation: the guard of last resort acts.
Decided decide_claim_refused(const BillCustomer& bill, const ObligationRow& existing) {
  Decided decided;
  if (is_open(existing.status)) {
    decided.reply = TurnedDown{Turndown::quarantined};
  } else {
    decided.reply = Told{existing, existing.request_id != bill.request_id, false};
  }
  decided.quarantine = "row " + to_display(existing.key) + " exists without events";
  return decided;
}

}  // namespace

bool is_settled(ObligationStatus status) noexcept {
  switch (status) {
    case ObligationStatus::in_progress:
    case ObligationStatus::processing:
    case ObligationStatus::unknown:
      return false;
    case ObligationStatus::action_required:
    case ObligationStatus::parked:
    case ObligationStatus::rejected:
    case ObligationStatus::declined:
    case ObligationStatus::capped:
    case ObligationStatus::completed:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
    case ObligationStatus::uncollectible:
      return true;
  }
  return true;
}

Decided decide_command(const BillingPolicy& policy, const BillingState& state,
                       const BillCustomer& bill, const Context& context) {
  if (context.refusal != nullptr) {
    if (const auto* mark = std::get_if<MarkRefused>(context.refusal)) {
      return decide_mark_refused(state, bill, mark->existing);
    }
    if (const auto* claim = std::get_if<ClaimRefused>(context.refusal)) {
      return decide_claim_refused(bill, claim->existing);
    }
  }
  if (auto conflict = conflict_of(state, bill)) return answer_only(std::move(*conflict));
  const auto found = state.obligations.find({bill.key.period, bill.key.purpose});
  if (found != state.obligations.end()) return decide_known(state, bill, found->second);
  return decide_new(policy, state, bill, context);
}

std::optional<BillingReply> reply_to_waiter(const BillingState& state, const BillCustomer& bill) {
  const auto found = state.obligations.find({bill.key.period, bill.key.purpose});
  if (found == state.obligations.end()) return BillingReply{TurnedDown{Turndown::uncertain}};
  const ObligationStatus status = found->second.status;
  const bool told =
      bill.notify == Notify::settled ? is_settled(status) : status != ObligationStatus::in_progress;
  if (!told) return std::nullopt;
  ObligationRow row = row_of(state.customer, found->first, found->second);
  const bool deduplicated = row.request_id != bill.request_id;
  return BillingReply{Told{std::move(row), deduplicated, false}};
}

}  // namespace onceward::billing
