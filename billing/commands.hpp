// Deciding the commands to a customer's entity, one overload each. Private to billing.
#pragma once

#include <optional>

#include <onceward/billing/billing_entity.hpp>

namespace onceward::billing {

[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const BillCustomer& command,
                                                    const Context& context);
[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const LookAgain& command,
                                                    const Context& context);
[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const CancelObligation& command,
                                                    const Context& context);
[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const SetPaymentMethod& command,
                                                    const Context& context);
[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const ResolveObligation& command,
                                                    const Context& context);

[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const ProviderHint& command,
                                                    const Context& context);
[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const RefundObligation& command,
                                                    const Context& context);

[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const ResolveRefund& command,
                                                    const Context& context);
[[nodiscard]] BillingEntity::Decided decide_command(const BillingPolicy& policy,
                                                    const BillingState& state,
                                                    const AcknowledgeAlarm& command,
                                                    const Context& context);
/// Closed, with an operator, or with the provider for days: nothing soon changes the answer to
/// whoever wanted it called off.
[[nodiscard]] bool is_called_off(ObligationStatus status) noexcept;

/// The reply to a command whose mark was refused: the state for a repeat, a refusal for another
/// payload. Absent if its mark was not refused.
[[nodiscard]] std::optional<BillingReply> decide_repeat(const BillingState& state,
                                                        const ObligationKey& key, const Mark& mark,
                                                        const Context& context);

/// The reply that a waiting command is due in this state; absent: it goes on waiting, and commands
/// that never wait get none.
[[nodiscard]] std::optional<BillingReply> reply_to_waiter(const BillingState& state,
                                                          const BillCustomer& command);
[[nodiscard]] std::optional<BillingReply> reply_to_waiter(const BillingState& state,
                                                          const RefundObligation& command);

[[nodiscard]] std::optional<BillingReply> reply_when_called_off(const BillingState& state,
                                                                const ObligationKey& key);

/// Statuses in which no automatic step will soon change the answer to a caller.
[[nodiscard]] bool is_settled(ObligationStatus status) noexcept;

/// Nothing to store, only this to say.
[[nodiscard]] BillingEntity::Decided answer_only(BillingReply reply);

}  // namespace onceward::billing
