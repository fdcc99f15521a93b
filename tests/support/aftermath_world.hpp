// AftermathWorld: one charged obligation and what happens to it afterwards: refunds that are asked
// for, another payment that a webhook tells of. A chooser asks at every point whether the process
// dies there; the charge itself is made in peace.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/billing_world.hpp"

namespace onceward::testing {

struct AftermathOptions {
  billing::BillingPolicy policy;
  /// Stands in for the billing entity, to show that a broken one is caught.
  std::optional<EntityType> type;
  std::vector<std::int64_t> refunds;  ///< amounts, asked for one after the other
  bool paid_elsewhere = false;        ///< a second payment, told by a webhook that comes twice
  bool twin = true;                   ///< and by another one under an id of its own
  int crashes = 2;                    ///< at most this many per schedule
  int faults = 0;                     ///< provider faults per schedule, chosen among `fates`
  std::vector<Fate> fates;
  int ambiguities = 0;  ///< commits whose answer is unknown, stored or not
  std::chrono::milliseconds downtime{0};
};

class AftermathWorld final : public CustomerPump {
 public:
  AftermathWorld(const AftermathOptions& options, Odometer& chooser);

  /// Runs one schedule: each command is repeated until it has an answer, then all comes to rest.
  void run();
  /// Empty if all invariants hold; else what is broken.
  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] std::vector<RefundRow> refunds() const;

 private:
  bool dies(const char* place) override;
  Fate fate_of(const ExternalRequest& request) override;
  journal::CommitFate fate_of_commit() override;
  [[nodiscard]] Now now() const override { return {now_, boottime_ms_, 1, now_}; }
  [[nodiscard]] Timestamp true_now() const override { return now_; }
  void told(ReplyTo to, const billing::BillingReply& reply, bool last) override;
  void quarantined(const std::string& why) override { broken_ = "quarantined: " + why; }

  [[nodiscard]] billing::BillCustomer bill() const;
  [[nodiscard]] billing::RefundObligation refund(std::size_t number) const;
  [[nodiscard]] billing::ProviderHint hint(const std::string& event) const;
  void ask(const billing::BillingCommand& command);
  /// Performs one output or input; false if there is none.
  bool turn();
  bool wake_if_due();
  void rest();
  [[nodiscard]] std::string refund_verdict() const;
  [[nodiscard]] std::string hint_verdict() const;

  AftermathOptions options_;
  Odometer& chooser_;
  ObligationKey key_;
  Timestamp now_;
  std::int64_t boottime_ms_ = 1'000'000;
  int crashes_left_ = 0, faults_left_ = 0, ambiguities_left_ = 0;
  bool answered_ = false;
  int steps_ = 0;
  ProviderObject other_;
};

}  // namespace onceward::testing
