// RandomWorld: several obligations of one customer under everything that can go wrong at once,
// drawn from one seed; then the faults end and all must come to rest. Same seed, same run.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "tests/support/customer_pump.hpp"
#include "tests/support/history_judge.hpp"

namespace onceward::testing {

/// The only source of chance: splitmix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// 0 .. sides - 1.
  int roll(int sides);
  bool permille(int chance) { return roll(1000) < chance; }

 private:
  std::uint64_t state_;
};

/// How often what happens in one run, in thousandths; drawn per seed, many of them 0.
struct Weather {
  int crash = 0;
  int commit = 0;     ///< an unknown commit
  int post = 0;       ///< a fault of a POST
  int look_up = 0;    ///< a fault of a look-up
  int no_permit = 0;  ///< no permit is free
  int jump = 0;       ///< time passes, up to 30 h
  int clock = 0;      ///< the wall clock is set
  int actor = 0;      ///< operator, other systems, the provider's own work
  std::vector<Fate> fates;
};

class RandomWorld final : public CustomerPump {
 public:
  explicit RandomWorld(std::uint64_t seed);

  void run();
  /// Empty if every invariant held; else the first that did not.
  [[nodiscard]] std::string verdict() const { return broken_; }
  /// Of everything that left the machine and of what is stored at the end.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] std::map<ObligationStatus, int> statuses() const;
  [[nodiscard]] int crashes() const { return crashes_; }
  /// Lines of what happened, if asked for before run().
  bool keeps_trace = false;
  [[nodiscard]] const std::string& trace() const { return trace_; }

 private:
  struct Owed {
    ObligationKey key;
    Money amount;
    bool asked = false;
  };

  bool dies(const char* place) override;
  Fate fate_of(const ExternalRequest& request) override;
  journal::CommitFate fate_of_commit() override;
  [[nodiscard]] Now now() const override;
  [[nodiscard]] Timestamp true_now() const override { return true_; }
  bool offers_permit() override;
  void told(ReplyTo to, const billing::BillingReply& reply, bool last) override;
  void committed(const CommitUnit& unit) override;
  void called(const ExternalRequest& request, const ExternalAnswer& answer) override;
  void quarantined(const std::string& why) override { broke("quarantined: " + why); }

  static constexpr std::array periods = {"2026-06", "2026-07", "2026-08"};

  static billing::BillingPolicy policy_of(Dice& dice);
  void draw_weather();
  void set_cap();
  void act();
  void come_to_rest();
  bool drain();
  void bill();
  void look_again();
  void call_off();
  void set_method();
  void meddle();
  void pass(std::chrono::milliseconds time);
  void deliver(std::size_t index);
  bool wake_next(Timestamp until);
  [[nodiscard]] std::vector<ObligationRow> rows() const;
  [[nodiscard]] std::vector<FakeProvider::LedgerRow> charges_of(const ObligationKey& key) const;
  void check_told(const billing::Told& told);
  void check_caps();
  void check_end();
  void note(const std::string& line);
  void broke(const std::string& what);

  Dice dice_;
  billing::BillingPolicy policy_;
  Weather weather_;
  bool calm_ = false;
  Timestamp true_;
  std::int64_t wall_skew_ms_ = 0;
  std::int64_t boot_at_ms_ = 0;
  std::uint64_t boot_ = 1;
  bool knows_provider_time_ = false;
  std::vector<Owed> owed_;
  std::map<std::uint64_t, std::size_t> open_;  ///< commands without their last reply: obligation
  std::uint64_t commands_ = 0;
  std::int64_t limit_minor_ = 0;  ///< of each period; 0 = none
  HistoryJudge judge_;
  int crashes_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325ULL;
  std::string trace_;
};

}  // namespace onceward::testing
