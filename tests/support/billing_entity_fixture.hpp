// Entity: one customer's billing entity decided by hand. What a decision stores is folded at once,
// as the machine does, and passes the codec on its way.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <onceward/billing/billing_entity.hpp>

#include "tests/support/fake_provider.hpp"

namespace onceward::testing {

using namespace onceward::billing;  // NOLINT: a fixture of that module

class Entity : public ::testing::Test {
 protected:
  Entity() : entity_(make_policy()), state_(entity_.initial(PersistenceId{"customer/cust_1"})) {
    now_.wall = *parse_iso("2026-09-01T00:00:00Z");
    now_.boottime_ms = 5'000'000;
    now_.boot = 7;
    now_.provider = now_.wall;
  }
  static BillingPolicy make_policy() {
    BillingPolicy p;
    p.ns = Namespace{"acme-billing"};
    p.account = AccountLabel{"default"};
    return p;
  }
  static BillCustomer bill(std::int64_t minor = 4990) {
    BillCustomer b;
    b.key = {CustomerId{"cust_1"}, *BillingPeriod::parse("2026-08"), Purpose{"subscription"}};
    b.amount = Money{minor, *Currency::parse("usd")};
    b.payment_method = PaymentMethod{"pm_1"};
    b.provider_customer = ProviderCustomer{"cus_1"};
    b.request_id = RequestId{"r1"};
    return b;
  }
  Context context(bool permit = true, const Refusal* refusal = nullptr) const {
    return Context{now_, permit, refusal, nullptr};
  }
  BillingEntity::Decided decide(const BillCustomer& b, bool permit = true) {
    return keep(entity_.decide(state_, BillingCommand{b}, context(permit)));
  }
  BillingEntity::Decided answer(const ExternalAnswer& a, bool permit = true) {
    return keep(entity_.decide_answer(state_, a, context(permit)));
  }
  BillingEntity::Decided resume() { return keep(entity_.resume(state_, context())); }
  // As the machine does after the unit was stored.
  BillingEntity::Decided keep(BillingEntity::Decided decided) {
    for (const auto& event : decided.events) {
      // Everything passes the codec on its way.
      const auto codec = billing_event_codec();
      auto decoded = codec.decode(codec.encode(event));
      EXPECT_TRUE(decoded.has_value());
      EXPECT_EQ(*decoded, event);
      EXPECT_TRUE(entity_.evolve(state_, *decoded).has_value());
    }
    for (const auto& op : decided.caps) {
      const auto held = cap_.find(op.attempt);
      const bool settled = held != cap_.end() && held->second == CapOp::Kind::settle;
      if (settled) continue;
      if (op.kind == CapOp::Kind::release) {
        cap_.erase(op.attempt);
      } else if (op.kind == CapOp::Kind::settle || held == cap_.end()) {
        cap_[op.attempt] = op.kind;
      }
    }
    return decided;
  }
  static const ExternalRequest* call_in(const BillingEntity::Decided& d) {
    for (const auto& effect : d.effects) {
      if (const auto* call = std::get_if<CallProvider>(&effect)) return &call->request;
    }
    return nullptr;
  }
  /// The operation that the decision asks for; absent if it asks for none.
  static std::optional<Operation> operation_in(const BillingEntity::Decided& d) {
    const auto* call = call_in(d);
    return call == nullptr ? std::nullopt : std::optional(call->operation);
  }
  /// The newest event of one kind; null if there is none.
  template <class E>
  static const E* event_in(const BillingEntity::Decided& d) {
    const E* found = nullptr;
    for (const auto& event : d.events) {
      if (const auto* typed = std::get_if<E>(&event)) found = typed;
    }
    return found;
  }
  ExternalAnswer handled(const BillingEntity::Decided& d, Fate fate = Fate::ok) {
    const auto* request = call_in(d);
    EXPECT_NE(request, nullptr);
    return request == nullptr ? ExternalAnswer{} : provider_.handle(*request, fate, now_.wall);
  }
  /// An answer without object to the call of the decision.
  static ExternalAnswer observed(const BillingEntity::Decided& d, Observation observation) {
    ExternalAnswer answer;
    answer.key = call_in(d)->key;
    answer.operation = call_in(d)->operation;
    answer.observation = observation;
    answer.single_wire_send = true;
    return answer;
  }
  /// Time passes to the obligation's alarm, and what is owed then is decided.
  BillingEntity::Decided wake() {
    const auto at = obligation().next_action_at;
    EXPECT_TRUE(at.has_value()) << "nobody would wake it";
    if (at && now_.wall < *at) advance_time(std::chrono::milliseconds{at->ms - now_.wall.ms});
    return resume();
  }
  /// The next try after a decline: time passes to it, the provider is read, and says what follows.
  BillingEntity::Decided next_try_after_last_look() {
    const auto look = wake();
    EXPECT_NE(call_in(look), nullptr);
    EXPECT_TRUE(call_in(look) != nullptr && is_look_up(call_in(look)->operation));
    return answer(handled(look));
  }
  /// Answers as the provider does and wakes until nothing happens any more or an hour has passed;
  /// POSTs meet `fate`. Returns the number of calls.
  int run_for(std::chrono::milliseconds time, BillingEntity::Decided d, Fate fate,
              Fate look_up_fate = Fate::ok) {
    constexpr int calls_max = 10'000;
    const Timestamp end = now_.wall.plus(time);
    int calls = 0;
    while (calls < calls_max) {
      if (call_in(d) != nullptr) {
        ++calls;
        const bool reads = is_look_up(call_in(d)->operation);
        d = answer(handled(d, reads ? look_up_fate : fate));
        continue;
      }
      const auto at = obligation().next_action_at;
      if (!at || end < *at) return calls;
      d = wake();
    }
    ADD_FAILURE() << "the provider is hammered";
    return calls;
  }
  BillingEntity::Decided look_again() {
    return keep(entity_.decide(state_, BillingCommand{LookAgain{bill().key, "ann", "card fixed"}},
                               context()));
  }
  BillingEntity::Decided decide_any(BillingCommand command, bool permit = true,
                                    const Refusal* refusal = nullptr) {
    return keep(entity_.decide(state_, command, context(permit, refusal)));
  }
  static CancelObligation cancellation() {
    CancelObligation c;
    c.key = bill().key;
    c.who = "ann";
    c.why = "duplicate plan";
    c.mark = mark_of(c, RequestId{"cancel-1"});
    return c;
  }
  static SetPaymentMethod new_method(const char* method) {
    SetPaymentMethod m;
    m.customer = CustomerId{"cust_1"};
    m.payment_method = PaymentMethod{method};
    m.who = "ann";
    m.why = "new card";
    m.mark = mark_of(m, RequestId{"pm-1"});
    return m;
  }
  static ResolveObligation verdict(Resolution resolution, std::string reference = "") {
    ResolveObligation v;
    v.key = bill().key;
    v.resolution = resolution;
    v.reference = std::move(reference);
    v.who = "ann";
    v.why = "looked it up";
    v.mark = mark_of(v, RequestId{"resolve-1"});
    return v;
  }
  static const Told* told(const BillingEntity::Decided& d) {
    return d.reply ? std::get_if<Told>(&*d.reply) : nullptr;
  }
  /// A refusal of the payer's side with these codes, of the intent or charge that was asked for.
  ExternalAnswer refused_with(const BillingEntity::Decided& d, const char* decline_code) {
    ExternalAnswer refused = handled(d, Fate::declined);
    refused.decline_code = decline_code;
    return refused;
  }
  /// Folds one event as if it had been decided.
  void add(BillingEvent event) {
    BillingEntity::Decided decided;
    decided.events.push_back(std::move(event));
    (void)keep(std::move(decided));
  }
  /// What an object of this obligation carries.
  static Params obligation_metadata_of() {
    return {{"onceward_namespace", "acme-billing"},
            {"onceward_customer", "cust_1"},
            {"onceward_period", "2026-08"},
            {"onceward_purpose", "subscription"}};
  }
  static PeriodPurpose of() { return {bill().key.period, bill().key.purpose}; }
  const ObligationState& obligation() const { return state_.obligations.begin()->second; }
  ObligationStatus status() const { return obligation().status; }
  void use_flow(Flow flow) {
    BillingPolicy p = make_policy();
    p.flow = flow;
    entity_ = BillingEntity(p);
  }
  void advance_time(std::chrono::milliseconds by) {
    now_.wall = now_.wall.plus(by);
    now_.boottime_ms += by.count();
    now_.provider = now_.wall;
  }
  /// What the spend cap holds for the obligation's attempts, in minor units.
  std::int64_t reserved() const {
    std::int64_t sum = 0;
    for (const auto& [attempt, state] : cap_) sum += state == CapOp::Kind::reserve ? 4990 : 0;
    return sum;
  }
  std::int64_t settled() const {
    std::int64_t sum = 0;
    for (const auto& [attempt, state] : cap_) sum += state == CapOp::Kind::settle ? 4990 : 0;
    return sum;
  }

  BillingEntity entity_;
  BillingState state_;
  Now now_;
  FakeProvider provider_;
  std::map<std::uint32_t, CapOp::Kind> cap_;  // by attempt
};

}  // namespace onceward::testing
