// BillingWorld: one obligation in virtual time, with a chooser that asks at every point whether the
// process dies there. Used to enumerate schedules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/customer_pump.hpp"

namespace onceward::testing {

/// The only source of choice: answers each question from a list, 0 beyond its end, and steps
/// through all lists like an odometer.
class Odometer {
 public:
  int choose(const char* label, int options);
  /// Moves to the next schedule; false when all were run.
  bool next();
  [[nodiscard]] std::string schedule() const;

 private:
  struct Digit {
    const char* label;
    int value;
    int options;
  };
  std::vector<Digit> digits_;
  std::size_t at_ = 0;
};

struct WorldOptions {
  billing::BillingPolicy policy;
  int crashes = 2;  ///< at most this many per schedule
  int faults = 0;   ///< provider faults per schedule, chosen among `fates`
  std::vector<Fate> fates;
  int duplicates = 0;          ///< extra bill commands, sent at any quiet moment
  int ambiguities = 0;         ///< commits whose answer is unknown, stored or not
  int cancels = 0;             ///< sent at any moment, also while a call is under way
  int methods = 0;             ///< "pm_2" is set at any moment
  std::string refused_method;  ///< see FakeProvider
  std::string decline_code = "insufficient_funds";
  /// Downtime after each crash (key expiry is reached with more than 24 h).
  std::chrono::milliseconds downtime{0};
  std::int64_t amount_minor = 4990;
};

class BillingWorld final : public CustomerPump {
 public:
  BillingWorld(const WorldOptions& options, Odometer& chooser);

  /// Runs one schedule to its end: quiet and closed, or nothing left to wake.
  void run();
  /// Empty if all invariants hold; else what is broken.
  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] std::optional<ObligationRow> row() const { return CustomerPump::row(key_); }
  [[nodiscard]] int crash_points() const { return crash_points_; }
  [[nodiscard]] const std::vector<billing::BillingReply>& replies() const { return replies_; }

 private:
  bool dies(const char* place) override;
  Fate fate_of(const ExternalRequest& request) override;
  journal::CommitFate fate_of_commit() override;
  [[nodiscard]] Now now() const override { return {now_, boottime_ms_, 1, now_}; }
  [[nodiscard]] Timestamp true_now() const override { return now_; }
  void told(ReplyTo to, const billing::BillingReply& reply, bool last) override;
  void quarantined(const std::string& why) override { broken_ = "quarantined: " + why; }

  bool wake_if_due();
  void send_command();
  /// A person acts before the next input, if the schedule says so.
  bool person_acts();
  void check_told(const ObligationRow& row);

  WorldOptions options_;
  Odometer& chooser_;
  ObligationKey key_;
  Timestamp now_;
  std::int64_t boottime_ms_ = 1'000'000;
  int crashes_left_, faults_left_, duplicates_left_, ambiguities_left_, cancels_left_,
      methods_left_;
  int crash_points_ = 0;
  std::vector<billing::BillingReply> replies_;
};

}  // namespace onceward::testing
