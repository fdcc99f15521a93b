// BillingEntity: one customer's billing as a Decider. Pure; the machine orders what it decides.
#pragma once

#include <memory>
#include <optional>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/billing/billing_events.hpp>
#include <onceward/billing/billing_policy.hpp>
#include <onceward/billing/billing_state.hpp>
#include <onceward/core/entity_type.hpp>

namespace onceward::billing {

/// Thread-safe and immutable. Persistence ids are `customer/<id>`.
class BillingEntity {
 public:
  using State = BillingState;
  using Event = BillingEvent;
  using Command = BillingCommand;
  using Reply = BillingReply;
  using Decided = Decision<Event, Reply>;

  explicit BillingEntity(BillingPolicy policy);

  [[nodiscard]] State initial(const PersistenceId& id) const;
  /// A second command never starts a second attempt: it gets the present state.
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const;
  /// Matched by request key; an answer for a closed request acts only if it is a success.
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const;
  /// The resume table applied to every open obligation, oldest first, one call at a time.
  [[nodiscard]] Decided resume(const State& state, const Context& context) const;
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const;
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const;
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const;

  [[nodiscard]] const BillingPolicy& policy() const noexcept { return policy_; }

 private:
  BillingPolicy policy_;
};

/// The entity type "billing" with its JSON codec. Aborts on a policy with guards taken out.
[[nodiscard]] EntityType billing_entity_type(const BillingPolicy& policy);

/// The same with guards taken out, for tests that must notice it. Never for a node.
[[nodiscard]] EntityType weakened_billing_entity_type(BillingPolicy policy, Weakening weakening);

}  // namespace onceward::billing
