// Oracles that know billing: an independent model of the obligation, the spend cap, and the
// agreement of rows, caps and events. Written without the entity's fold.
#pragma once

#include <map>
#include <string>

#include <onceward/billing/billing_events.hpp>
#include <onceward/billing/billing_policy.hpp>
#include <onceward/harness/oracles.hpp>

namespace onceward::harness {

/// I4: attempts grow only by a decline, a new key needs an outcome or a proof, one completion ends
/// an obligation, no send without an event of its own.
class ObligationModel final : public CopyableOracle<ObligationModel> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I4"; }
  [[nodiscard]] std::string_view says() const override {
    return "An attempt grows only by a recorded decline, a new key needs an outcome or a proof, "
           "and an obligation is completed once.";
  }
  void committed(const CommitSeen& seen, const Truth& truth) override;
  void sending(const SendSeen& seen, const Truth& truth) override;
  [[nodiscard]] std::uint64_t memory_hash() const override;

 private:
  struct Obligation {
    std::uint32_t declines = 0;
    std::uint32_t generation = 0;
    bool completed = false;
    std::string key;  // of the newest request
    bool moves_money = false;
    bool may_renew = true;  // why another key may follow: an outcome, or what a look-up proved
  };
  struct Key {
    std::string of;
    billing::RequestStarted started;
    int starts = 0;
    int sends = 0;
  };
  void take(const std::string& customer, const billing::BillingEvent& event);
  void started(const std::string& of, Obligation& ob, const billing::RequestStarted& event);

  std::map<std::string, Obligation> obligations_;
  std::map<std::string, Key> keys_;
};

/// I10: what is reserved and settled never exceeds a limit, unless a completion raised an alarm.
class CapIsKept final : public CopyableOracle<CapIsKept> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I10"; }
  [[nodiscard]] std::string_view says() const override {
    return "Reserved plus settled never exceeds a spend cap; an unknown outcome stays reserved.";
  }
  void committed(const CommitSeen& seen, const Truth& truth) override;
  void at_rest(const Truth& truth) override;

 private:
  std::map<std::string, BillingPeriod> periods_;
};

/// I11: rows and cap ledger equal the fold of the events.
class RowsMatchEvents final : public CopyableOracle<RowsMatchEvents> {
 public:
  [[nodiscard]] std::string_view name() const override { return "I11"; }
  [[nodiscard]] std::string_view says() const override {
    return "Every row and every reservation is what the events of its entity imply.";
  }
  void at_rest(const Truth& truth) override;
};

/// With two steps an unknown is settled by reading its intent: nothing may be left unknown, and no
/// key may be used after the provider forgot it.
class UnknownIsResolved final : public CopyableOracle<UnknownIsResolved> {
 public:
  explicit UnknownIsResolved(billing::Flow flow) : flow_(flow) {}
  [[nodiscard]] std::string_view name() const override { return "unknown"; }
  [[nodiscard]] std::string_view says() const override {
    return "An unknown outcome is resolved by positive evidence only; no key is used after the "
           "provider forgot it.";
  }
  void at_rest(const Truth& truth) override;

 private:
  billing::Flow flow_;
};

/// The standard oracles and all of these; `one_writer`: nothing is taken over in these worlds.
[[nodiscard]] Oracles billing_oracles(billing::Flow flow, bool one_writer);

/// What a reply of the billing entity claims.
[[nodiscard]] ReplyFacts read_billing_reply(const std::any& reply);

}  // namespace onceward::harness
