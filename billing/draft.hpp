// Draft: a decision about one obligation in the making. Events are folded into a scratch copy at
// once, so that later steps of the same decision, and the row, follow from them. Private to
// billing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/billing/resume_table.hpp>

namespace onceward::billing {

class Draft {
 public:
  /// Borrows policy, state and context for the duration of one decide call.
  Draft(const BillingPolicy& policy, const BillingState& state, const Context& context,
        PeriodPurpose of);

  void add(BillingEvent event);
  void call(ExternalRequest request) {
    decided_.effects.push_back(CallProvider{std::move(request)});
  }
  void mark(Mark mark) { decided_.marks.push_back(std::move(mark)); }
  void cap(CapOp::Kind kind, std::uint32_t attempt);
  void want_permit() { decided_.wants_permit = true; }

  [[nodiscard]] bool exists() const { return !scratch_.obligations.empty(); }
  [[nodiscard]] const ObligationState& obligation() const;
  [[nodiscard]] ObligationRow row() const;
  [[nodiscard]] ObligationKey key() const { return {state_.customer, of_.period, of_.purpose}; }
  [[nodiscard]] const PeriodPurpose& of() const { return of_; }
  /// The customer before this decision: for what its obligations have in common.
  [[nodiscard]] const BillingState& customer_state() const { return state_; }
  [[nodiscard]] const ProviderCustomer& provider_customer() const {
    return scratch_.provider_customer;
  }
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const BillingPolicy& policy() const { return policy_; }
  [[nodiscard]] Timestamp now() const { return context_.now.wall; }
  [[nodiscard]] bool calls() const { return !decided_.effects.empty(); }
  [[nodiscard]] bool wants_permit() const { return decided_.wants_permit; }
  [[nodiscard]] bool is_broken() const { return broken_.has_value(); }

  /// The decision, with the row write that its events imply; a quarantine if an event did not fit
  /// the state (an answer that contradicts the history must not take the node down).
  [[nodiscard]] BillingEntity::Decided finish();

 private:
  void add_changed_refunds();

  const BillingPolicy& policy_;
  const BillingState& state_;
  const Context& context_;
  PeriodPurpose of_;
  bool existed_;
  BillingState scratch_;  // holds at most the one obligation
  BillingEntity::Decided decided_;
  std::optional<std::string> broken_;
};

/// Starts whatever the obligation owes now, or asks for a permit; does nothing if nothing is owed.
/// `in_flight` calls of this incarnation are left alone until their watchdog time.
void advance(Draft& draft);

/// Whether no request of this obligation can still be running at the provider.
[[nodiscard]] bool request_is_quiet(const Draft& draft);

/// When no send of this request can be running at the provider any more, on the clock that still
/// counts; and whether that is so now.
[[nodiscard]] Timestamp quiet_at(const Draft& draft, const RequestState& request);
[[nodiscard]] bool is_quiet(const Draft& draft, const RequestState& request);

/// What the resume table looks at of this request.
[[nodiscard]] ResumeFacts resume_facts(const Draft& draft, const RequestState& request);

/// When refunds and hints of the obligation want to be looked at; absent: not at all.
[[nodiscard]] std::optional<Timestamp> side_action_at(const ObligationState& obligation);

/// The provider's word for a refund of what was given back already.
inline constexpr std::string_view already_refunded_code = "charge_already_refunded";

/// Whether the same key would only bring the same useless answer again after this observation.
[[nodiscard]] bool spends_key(std::string_view observation);

/// How long to wait before the next look at a request that was sent `sends` times: doubling from
/// one second to ten minutes, spread by the key so that a thousand customers do not return at once.
[[nodiscard]] std::chrono::milliseconds back_off(const IdempotencyKey& key, std::uint32_t sends);

/// Scheme `colon`: an older system may have sent this very key, longer ago than the provider
/// remembers. Its charges are listed before the first send.
[[nodiscard]] bool needs_earlier_check(const BillingPolicy& policy, const ObligationKey& key);

/// Correlation of the look-up for an older system's charge of this obligation.
[[nodiscard]] IdempotencyKey earlier_look_up_key(const BillingPolicy& policy,
                                                 const ObligationKey& key);

/// Correlation of the look-up about the request with this key.
[[nodiscard]] IdempotencyKey look_up_key(const IdempotencyKey& request_key);

}  // namespace onceward::billing
