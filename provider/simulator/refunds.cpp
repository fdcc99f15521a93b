// Refunds, their ends, and what they do to their charge.
#include "provider/simulator/refunds.hpp"

#include <boost/json/serialize.hpp>
#include <utility>

#include "provider/simulator/announce.hpp"
#include "provider/simulator/payments.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr const char* failure_reason_default = "lost_or_stolen_card";

void write_ledger(EndpointContext& context, const Charge& charge, const Refund& refund) {
  LedgerRow row = ledger_row_of(charge);
  row.at = context.now;
  row.refund = refund.id;
  row.amount = refund.amount;
  row.key = refund.key;
  row.request = refund.request;
  const LedgerRow& kept = context.ledger.append_refund(std::move(row));
  context.changes.put("ledger_refund", std::to_string(kept.seq),
                      [&] { return boost::json::serialize(to_json(kept)); });
}

/// The money stays with the provider: the charge has it left again.
void fail_refund(Charge& charge, Refund& refund, const std::string& reason) {
  refund.status = RefundStatus::failed;
  refund.failure_reason = reason.empty() ? failure_reason_default : reason;
  charge.amount_refunded -= refund.amount;
}

void settle(EndpointContext& context, Refund& refund) {
  Charge& charge = *context.store.charges().find(refund.charge);
  const bool succeeds = refund.settlement->succeeds;
  refund.settlement.reset();
  if (succeeds) {
    refund.status = RefundStatus::succeeded;
    write_ledger(context, charge, refund);
  } else {
    fail_refund(charge, refund, refund.failure_reason);
    context.store.save(charge);
  }
  context.store.save(refund);
  announce(context, "refund.updated", to_json(refund), {});
  if (!succeeds) announce(context, "refund.failed", to_json(refund), {});
}

}  // namespace

Refund& make_refund(EndpointContext& context, Charge& charge, Refund refund) {
  refund.id = context.store.next_id("re_");
  refund.created_s = context.now_s();
  refund.currency = charge.currency;
  refund.charge = charge.id;
  refund.payment_intent = charge.payment_intent;
  refund.key = context.key;
  refund.request = context.request_id;
  charge.amount_refunded += refund.amount;
  const RefundOutcome outcome = context.forced_refund().value_or(RefundOutcome{});
  if (outcome.pending_for.count() > 0) {
    refund.status = RefundStatus::pending;
    refund.settlement = Settlement{context.now.plus(outcome.pending_for), outcome.succeeds};
  } else if (!outcome.succeeds) {
    fail_refund(charge, refund, outcome.failure_reason);
  }
  Refund& kept = context.store.add(std::move(refund));
  context.store.save(charge);
  if (kept.settlement) context.store.pending_refunds().push_back(&kept);
  if (kept.status == RefundStatus::succeeded) write_ledger(context, charge, kept);
  const Cause cause{context.request_id, context.key};
  announce(context, "refund.created", to_json(kept), cause);
  if (kept.status == RefundStatus::failed) {
    announce(context, "refund.failed", to_json(kept), cause);
  } else {
    announce(context, "charge.refunded", to_json(charge), cause);
  }
  return kept;
}

void settle_due_refunds(EndpointContext& context) {
  auto& pending = context.store.pending_refunds();
  for (std::size_t at = 0; at < pending.size();) {
    Refund& refund = *pending[at];
    if (refund.settlement->at > context.now) {
      ++at;
      continue;
    }
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(at));
    settle(context, refund);
  }
}

}  // namespace onceward::provider::simulator
