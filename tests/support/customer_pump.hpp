// CustomerPump: runs one customer's machine against a memory journal and a fake provider. What may
// go wrong, what time it is and what is expected is said by the world that derives from it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/journal/memory_journal.hpp>

#include "tests/support/fake_provider.hpp"

namespace onceward::testing {

class CustomerPump {
 public:
  virtual ~CustomerPump() = default;
  CustomerPump(const CustomerPump&) = delete;
  CustomerPump& operator=(const CustomerPump&) = delete;

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
  /// All clocks as the process reads them.
  [[nodiscard]] virtual Now now() const = 0;
  /// The provider's time, which is the true one.
  [[nodiscard]] virtual Timestamp true_now() const = 0;
  virtual bool offers_permit() { return true; }
  virtual void told(ReplyTo to, const billing::BillingReply& reply, bool last) = 0;
  /// Called after each commit that was answered otherwise than as unknown.
  virtual void committed(const CommitUnit& /*unit*/) {}
  virtual void called(const ExternalRequest& /*request*/, const ExternalAnswer& /*answer*/) {}
  virtual void quarantined(const std::string& why) = 0;

  /// A fresh incarnation recovers, with what the last one had in hand.
  void start();
  /// The process is gone, with everything in memory.
  void stop();
  void step(Input input);
  void perform(Output output);
  [[nodiscard]] bool is_up() const { return machine_ != nullptr; }
  [[nodiscard]] std::unique_ptr<journal::JournalReader> reader() const;

  EntityType type_;
  CustomerId customer_;
  journal::MemoryJournal journal_;
  FakeProvider provider_;
  std::unique_ptr<Machine> machine_;
  std::deque<Input> inputs_;    // answers under way to the machine
  std::deque<Output> outputs_;  // of the last step, not performed yet
  std::vector<ExternalAnswer> answers_in_hand_;
  std::vector<input::Command> commands_in_hand_;
  std::uint64_t incarnation_ = 0;
  int permits_out_ = 0;
  std::string broken_;  // the first invariant that does not hold

 private:
  void commit(output::Commit commit);
  void call(output::Call call);
};

}  // namespace onceward::testing
