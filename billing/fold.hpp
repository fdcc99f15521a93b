// Fold: what each event makes of its obligation, and which transitions no history may hold. One
// overload per event; bodies stand in fold_*.cpp by group. Private to billing.
#pragma once

#include <string>

#include <onceward/billing/billing_state.hpp>

namespace onceward::billing {

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
  std::string operator()(const RefundRequested& e);
  std::string operator()(const RefundPending& e);
  std::string operator()(const RefundCompleted& e);
  std::string operator()(const RefundFailed& e);
  std::string operator()(const RefundParked& e);
  std::string operator()(const RefundLookUpOwed& e);
  std::string operator()(const RefundsListed& e);
  std::string operator()(const OutsideRefundFound& e);
  std::string operator()(const ObjectHinted& e);
  std::string operator()(const HintedObjectRead& e);
  std::string operator()(const UnexpectedPaymentFound& e);
  std::string operator()(const DisputeRecorded& e);
  std::string operator()(const AlarmAcknowledged& e);
  std::string operator()(const EarlierSystemChecked& e) {
    if (ob_.request) return "checked for an older system's charge after a send";
    ob_.look_up_owed = false;
    ob_.reason.clear();
    wait_until(e.at);
    return {};
  }
  std::string operator()(const OperatorResolved& e);
  std::string operator()(const PaymentMethodChanged& e);
  std::string operator()(const BillingPaidOutside& e);
  std::string operator()(const DunningPlanned& e);
  std::string operator()(const FoundStillOwed& e);

 private:
  [[nodiscard]] RefundState* refund(std::uint32_t number);
  [[nodiscard]] RefundState* refund_of(const IdempotencyKey& key);
  std::string refund_started(const RequestStarted& e);
  std::string refund_rejected(RefundState& refund, const RequestRejected& e);
  std::string refund_unknown(RefundState& refund, const OutcomeUnknown& e);
  std::string close(ObligationStatus status, const std::string& reason);
  /// Back to automatic steps, whoever owned it: what may have acted is read first.
  void take_up(Timestamp at);
  void close_request() {
    if (ob_.request) ob_.request->open = false;
  }
  void wait_until(Timestamp at) { ob_.next_action_at = at; }

  ObligationState& ob_;
};

}  // namespace onceward::billing
