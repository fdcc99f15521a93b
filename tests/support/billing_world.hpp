// BillingWorld: one customer's machine, a memory journal and a fake provider in virtual time, with
// a chooser that asks at every point whether the process dies there. Used to enumerate schedules.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/journal/memory_journal.hpp>

#include "tests/support/fake_provider.hpp"

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
  int duplicates = 0;   ///< extra bill commands, sent at any quiet moment
  int ambiguities = 0;  ///< commits whose answer is unknown, stored or not
  /// Downtime after each crash (key expiry is reached with more than 24 h).
  std::chrono::milliseconds downtime{0};
  std::int64_t amount_minor = 4990;
};

class BillingWorld {
 public:
  BillingWorld(const WorldOptions& options, Odometer& chooser);

  /// Runs one schedule to its end: quiet and closed, or nothing left to wake.
  void run();
  /// Empty if all invariants hold; else what is broken.
  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] const FakeProvider& provider() const { return provider_; }
  [[nodiscard]] std::optional<ObligationRow> row() const;
  [[nodiscard]] int crash_points() const { return crash_points_; }
  [[nodiscard]] const std::vector<billing::BillingReply>& replies() const { return replies_; }

 private:
  bool crashes_here(const char* label);
  void start();
  void stop();
  void step(Input input);
  void perform(Output output);
  void commit(output::Commit commit);
  void call(output::Call call);
  bool wake_if_due();
  void send_command();
  [[nodiscard]] StepContext context() const;
  void check_reply(const billing::BillingReply& reply);

  WorldOptions options_;
  Odometer& chooser_;
  EntityType type_;
  ObligationKey key_;
  journal::MemoryJournal journal_;
  FakeProvider provider_;
  Timestamp now_;
  std::int64_t boottime_ms_ = 1'000'000;
  std::uint64_t boot_ = 1;
  std::uint64_t incarnation_ = 0;
  std::unique_ptr<Machine> machine_;
  std::deque<Input> inputs_;
  std::deque<Output> outputs_;
  std::vector<ExternalAnswer> answers_in_hand_;
  std::vector<input::Command> commands_in_hand_;
  int crashes_left_, faults_left_, duplicates_left_, ambiguities_left_;
  int crash_points_ = 0;
  int permits_out_ = 0;
  std::vector<billing::BillingReply> replies_;
  std::string broken_;
};

}  // namespace onceward::testing
