// FakeProvider: a provider in memory for schedules in virtual time: keys with retention, saved
// answers, intents, charges and a ledger of its own. Judges nothing; the ledger is the truth.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <onceward/core/external_call.hpp>

namespace onceward::testing {

/// What happens to one request on its way.
enum class Fate : std::uint8_t {
  ok,
  lost_before,  // never arrives; the caller sees a broken connection
  lost_after,   // executed and saved; the caller sees a broken connection
  saved_500,    // executed and money moved, but the saved answer is a 500
  failed_500,   // nothing happened, the saved answer is a 500
  declined,     // card_error, saved
  limited,      // 429 before anything
};

class FakeProvider {
 public:
  struct LedgerRow {
    std::string customer, period, purpose, charge, key;
    std::int64_t amount_minor = 0;
    friend bool operator==(const LedgerRow&, const LedgerRow&) = default;
  };
  struct WireRow {
    Operation operation{};
    std::string key, target;
    Params params;
  };

  explicit FakeProvider(std::chrono::milliseconds retention = std::chrono::hours{24})
      : retention_(retention) {}

  ExternalAnswer handle(const ExternalRequest& request, Fate fate, Timestamp now);

  [[nodiscard]] const std::vector<LedgerRow>& ledger() const { return ledger_; }
  [[nodiscard]] const std::vector<WireRow>& wire() const { return wire_; }
  [[nodiscard]] int open_intents() const;

 private:
  struct Saved {
    std::string digest;
    ExternalAnswer answer;
    Timestamp at;
  };
  ExternalAnswer execute(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer charge(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer create(const ExternalRequest& request, Timestamp now);
  ExternalAnswer confirm(const ExternalRequest& request, Fate fate);
  ExternalAnswer look_up(const ExternalRequest& request) const;
  void book(const ProviderObject& object, const std::string& charge, const std::string& key);

  std::chrono::milliseconds retention_;
  std::map<std::string, Saved> keys_;
  std::map<std::string, ProviderObject> objects_;
  std::vector<LedgerRow> ledger_;
  std::vector<WireRow> wire_;
  int next_id_ = 1;
};

/// The value of one parameter or metadata member; empty if absent.
[[nodiscard]] std::string value_of(const Params& params, const std::string& name);

}  // namespace onceward::testing
