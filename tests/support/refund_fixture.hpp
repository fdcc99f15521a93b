// Refunds: the entity fixture with an obligation that can be charged and refunds that are asked
// for.
#pragma once

#include "tests/support/billing_entity_fixture.hpp"

namespace onceward::testing {

class Refunds : public Entity {
 protected:
  void complete() {
    (void)answer(handled(answer(handled(Entity::decide(bill())))));
    ASSERT_EQ(status(), ObligationStatus::completed);
  }
  static RefundObligation command(const std::string& id = "r1",
                                  std::optional<std::int64_t> minor = std::nullopt) {
    RefundObligation c;
    c.key = bill().key;
    c.amount_minor = minor;
    c.mark = Mark{"refund", id, minor ? std::to_string(*minor) : "all", std::nullopt};
    c.who = "ann";
    c.why = "double plan";
    return c;
  }
  BillingEntity::Decided ask(const RefundObligation& c, bool permit = true,
                             const Refusal* refusal = nullptr) {
    return keep(entity_.decide(state_, BillingCommand{c}, context(permit, refusal)));
  }
  BillingEntity::Decided hint_of_refund(const std::string& event) {
    ProviderHint hint;
    hint.key = bill().key;
    hint.mark = Mark{"webhook", event, "f", std::nullopt};
    hint.type = "charge.refunded";
    hint.kind = HintedKind::charge;
    hint.object = obligation().charge_id;
    hint.charge = obligation().charge_id;
    return keep(entity_.decide(state_, BillingCommand{hint}, context()));
  }
  const RefundState& refund(std::size_t number = 1) const {
    return obligation().refunds.at(number - 1);
  }
  ObligationRow row() const { return row_of(CustomerId{"cust_1"}, of(), obligation()); }
  /// As the node's alarm clock does: by the row of the obligation.
  BillingEntity::Decided wake_by_row() {
    const auto at = row().next_action_at;
    EXPECT_TRUE(at.has_value()) << "nobody would wake it";
    if (at && now_.wall < *at) advance_time(std::chrono::milliseconds{at->ms - now_.wall.ms});
    return resume();
  }
  template <class R>
  static const R* reply_in(const BillingEntity::Decided& d) {
    return d.reply ? std::get_if<R>(&*d.reply) : nullptr;
  }
  std::int64_t given() const { return provider_.refunded(obligation().charge_id); }
};

}  // namespace onceward::testing
