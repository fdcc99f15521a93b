// The fold of one customer: initiation, the obligation an event is about, and the row it implies.
#include <onceward/billing/billing_state.hpp>

#include <utility>

#include "billing/draft.hpp"
#include "billing/fold.hpp"

namespace onceward::billing {

namespace {

Unexpected impossible(const BillingState& state, const PeriodPurpose& of, std::string what) {
  return fail(
      ErrorCode::impossible_transition,
      to_display(ObligationKey{state.customer, of.period, of.purpose}) + ": " + std::move(what));
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

// A dispute is shown beside whatever else is to be said.
std::string shown_reason(const ObligationState& obligation) {
  if (obligation.dispute.empty()) return obligation.reason;
  std::string shown = obligation.reason.empty() ? "" : obligation.reason + "; ";
  return shown + "disputed " + obligation.dispute + " (" + obligation.dispute_type + ")";
}

}  // namespace

// A cut body or a hop's error may go away; a saved error, parameters that never match and a request
// that is refused before it is looked at do not.
bool spends_key(std::string_view observation) {
  for (const auto spent :
       {Observation::server_error, Observation::key_mismatch, Observation::invalid_request,
        Observation::not_found, Observation::unexpected_state}) {
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

bool may_have_taken_money(const ObligationState& obligation) noexcept {
  const auto& request = obligation.request;
  return request && request->open && moves_money(request->step) &&
         (request->tainted || !request->answered);
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
  row.reason = shown_reason(obligation);
  row.request_id = obligation.request_id;
  row.initiated_at = obligation.initiated_at;
  row.updated_at = obligation.updated_at;
  row.next_action_at = obligation.next_action_at;
  const auto side_at = side_action_at(obligation);
  if (side_at && (!row.next_action_at || *side_at < *row.next_action_at)) {
    row.next_action_at = side_at;
  }
  row.next_attempt_at = obligation.next_attempt_at;
  return row;
}

}  // namespace onceward::billing
