// Implementation of disputes.
#include "provider/simulator/disputes.hpp"

#include <utility>

#include "provider/simulator/announce.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr std::int64_t evidence_days = 7;

void tell(EndpointContext& context, const char* type, const Dispute& dispute) {
  announce(context, type, to_json(dispute), {context.request_id, context.key});
}

}  // namespace

Dispute& open_dispute(EndpointContext& context, Charge& charge, std::int64_t amount,
                      std::string reason) {
  Dispute dispute;
  dispute.id = context.store.next_id("dp_");
  dispute.created_s = context.now_s();
  dispute.amount = amount == 0 ? charge.amount : amount;
  dispute.currency = charge.currency;
  dispute.charge = charge.id;
  dispute.payment_intent = charge.payment_intent;
  dispute.reason = reason.empty() ? "general" : std::move(reason);
  dispute.evidence_due_s = dispute.created_s + evidence_days * 24 * 3600;
  charge.disputed = true;
  context.store.save(charge);
  Dispute& kept = context.store.add(std::move(dispute));
  tell(context, "charge.dispute.created", kept);
  tell(context, "charge.dispute.funds_withdrawn", kept);
  return kept;
}

bool close_dispute(EndpointContext& context, Dispute& dispute, bool won) {
  if (dispute.status != DisputeStatus::needs_response) return false;
  dispute.status = won ? DisputeStatus::won : DisputeStatus::lost;
  context.store.save(dispute);
  tell(context, "charge.dispute.closed", dispute);
  if (won) tell(context, "charge.dispute.funds_reinstated", dispute);
  return true;
}

}  // namespace onceward::provider::simulator
