// CustomerPump: runs one customer's machine against a memory journal and a fake provider. What may
// go wrong, what time it is and what is expected is said by the world that derives from it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/journal/memory_journal.hpp>

#include "tests/support/fake_provider.hpp"
#include "tests/support/machine_pump.hpp"

namespace onceward::testing {

class CustomerPump : public MachinePump {
 public:
  [[nodiscard]] const FakeProvider& provider() const { return provider_; }
  /// The stored row; absent if there is none, or if a barrier is pending.
  [[nodiscard]] std::optional<ObligationRow> row(const ObligationKey& key) const;

 protected:
  CustomerPump(const billing::BillingPolicy& policy, CustomerId customer);

  // What the world says.
  /// Whether the process dies at this place; the world has then called stop().
  virtual bool dies(const char* place) = 0;
  virtual Fate fate_of(const ExternalRequest& request) = 0;
  virtual journal::CommitFate fate_of_commit() = 0;
  /// The provider's time, which is the true one.
  [[nodiscard]] virtual Timestamp true_now() const = 0;
  bool offers_permit() override { return true; }
  virtual void told(ReplyTo to, const billing::BillingReply& reply, bool last) = 0;
  /// Called after each commit that was answered otherwise than as unknown.
  virtual void committed(const CommitUnit& /*unit*/) {}
  virtual void called(const ExternalRequest& /*request*/, const ExternalAnswer& /*answer*/) {}

  /// A fresh process: raises the epoch, then recovers.
  void start();
  [[nodiscard]] std::unique_ptr<journal::JournalReader> reader() const;

  CustomerId customer_;
  journal::MemoryJournal journal_;
  FakeProvider provider_;

 private:
  void permit_wanted(const output::AcquirePermit& wanted) override;
  void commit(output::Commit commit) override;
  void call(output::Call call) override;
  void replied(output::Reply reply) override;
};

}  // namespace onceward::testing
