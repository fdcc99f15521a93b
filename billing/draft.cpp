// Collecting the events of one decision and deriving the row from them.
#include "billing/draft.hpp"

#include <algorithm>
#include <utility>

namespace onceward::billing {

Draft::Draft(const BillingPolicy& policy, const BillingState& state, const Context& context,
             PeriodPurpose of)
    : policy_(policy), state_(state), context_(context), of_(std::move(of)) {
  scratch_.customer = state.customer;
  scratch_.provider_customer = state.provider_customer;
  const auto found = state.obligations.find(of_);
  existed_ = found != state.obligations.end();
  if (existed_) scratch_.obligations.emplace(of_, found->second);
}

void Draft::add(BillingEvent event) {
  if (broken_) return;
  auto folded = evolve_obligation(scratch_, event);
  if (!folded) {
    broken_ = std::move(folded).error().context;
    return;
  }
  decided_.events.push_back(std::move(event));
}

void Draft::cap(CapOp::Kind kind, std::uint32_t attempt) {
  CapOp op;
  op.kind = kind;
  op.obligation = key();
  op.attempt = attempt;
  op.amount = obligation().amount;
  op.enforce = policy_.cap_mode == CapMode::enforce && !policy_.weakening.lacks(Guard::cap);
  decided_.caps.push_back(std::move(op));
}

const ObligationState& Draft::obligation() const {
  ONCEWARD_CHECK(exists(), "the obligation of a draft is initiated first");
  return scratch_.obligations.begin()->second;
}

ObligationRow Draft::row() const {
  return row_of(state_.customer, of_, obligation());
}

BillingEntity::Decided Draft::finish() {
  if (broken_) {
    BillingEntity::Decided broken;
    broken.quarantine = std::move(broken_);
    return broken;
  }
  if (!decided_.events.empty()) {
    decided_.rows.push_back({existed_ ? RowWrite::Kind::update : RowWrite::Kind::claim, row()});
    add_changed_refunds();
  }
  return std::move(decided_);
}

void Draft::add_changed_refunds() {
  const auto before = state_.obligations.find(of_);
  const auto& refunds = obligation().refunds;
  for (std::size_t i = 0; i < refunds.size(); ++i) {
    const bool existed = before != state_.obligations.end() && i < before->second.refunds.size();
    if (existed && before->second.refunds[i] == refunds[i]) continue;
    decided_.refunds.push_back(refund_row_of(key(), refunds[i]));
  }
}

std::chrono::milliseconds back_off(const IdempotencyKey& key, std::uint32_t sends) {
  constexpr std::int64_t first_ms = 1'000;
  constexpr std::int64_t longest_ms = 600'000;
  const std::uint32_t doublings = std::min(sends > 0 ? sends - 1 : 0U, 12U);
  const std::int64_t base = std::min(first_ms << doublings, longest_ms);
  std::uint32_t spread = 0;
  for (const char c : key.value()) spread = spread * 31 + static_cast<unsigned char>(c);
  return std::chrono::milliseconds{base + base * static_cast<std::int64_t>(spread % 25) / 100};
}

bool needs_earlier_check(const BillingPolicy& policy, const ObligationKey& key) {
  return policy.scheme == KeyScheme::colon && key.purpose.value() == "subscription";
}

IdempotencyKey earlier_look_up_key(const BillingPolicy& policy, const ObligationKey& key) {
  return look_up_key(idempotency_key(policy, KeyInputs{key, Step::charge, 1, 0}));
}

IdempotencyKey look_up_key(const IdempotencyKey& request_key) {
  return IdempotencyKey{"look-up/" + request_key.value()};
}

}  // namespace onceward::billing
