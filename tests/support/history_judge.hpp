// HistoryJudge: reads a customer's events as they are stored and judges them by rules of its own,
// written without the entity's fold: attempts, generations, keys, one completion. The first rule
// that is broken is kept.
#pragma once

#include <map>
#include <set>
#include <string>

#include <onceward/billing/billing_events.hpp>
#include <onceward/journal/journal.hpp>

#include "tests/support/fake_provider.hpp"

namespace onceward::testing {

class HistoryJudge {
 public:
  /// Reads what was stored since the last call.
  void read(journal::JournalReader& reader);
  /// A POST on the wire: its key must have been started, and every send of a key is the same.
  void on_wire(const ExternalRequest& request);

  [[nodiscard]] const std::string& broken() const { return broken_; }
  /// Whether a completion raised an alarm (only then a cap may be passed).
  [[nodiscard]] bool has_alarm() const { return has_alarm_; }
  [[nodiscard]] std::uint64_t events() const { return position_; }

 private:
  struct Obligation {
    std::uint32_t declines = 0;
    std::uint32_t generation = 0;
    bool completed = false;
    std::string key;  ///< of the newest request
    std::uint32_t attempt = 0;
    bool moves_money = false;
    /// Why another key may follow the newest one: its outcome, or what a look-up proved.
    bool may_cancel = false;
    bool may_renew = true;
  };
  struct Key {
    billing::PeriodPurpose of;
    billing::RequestStarted started;
    int starts = 0;
    int sends = 0;
    std::string wire;
  };
  void take(const billing::BillingEvent& event);
  void started(Obligation& ob, const billing::RequestStarted& event);
  void broke(const billing::PeriodPurpose& of, const std::string& rule);

  std::uint64_t position_ = 0;
  std::map<billing::PeriodPurpose, Obligation> obligations_;
  std::map<std::string, Key> keys_;
  bool has_alarm_ = false;
  std::string broken_;
};

}  // namespace onceward::testing
