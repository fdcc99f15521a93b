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

/// What happens to one request on its way. Look-ups know ok, lost_before, not_sent, failed_500 and
/// limited; any other fate is ok for them.
enum class Fate : std::uint8_t {
  ok,
  lost_before,      // never arrives; the caller sees a broken connection
  lost_after,       // executed and saved; the caller sees a broken connection
  saved_500,        // executed and money moved, but the saved answer is a 500
  failed_500,       // nothing happened, the saved answer is a 500
  declined,         // card_error, saved
  limited,          // 429 before anything
  not_sent,         // no connection
  late,             // the caller sees a broken connection; it arrives after FakeProvider::late_by
  gateway_before,   // 502 of a hop, nothing happened, nothing is saved
  gateway_after,    // executed and saved, but a hop answers 502
  in_use,           // 409, nothing happened
  unauthorized,     // 401, nothing happened
  invalid,          // 400 of the validation, nothing happened
  resent,           // a transport sends it twice without telling; the second answer is seen
  bad_body,         // executed and saved; the answer is cut
  wrong_amount,     // executed and saved; the answer names another amount
  processing,       // accepted, its money is decided by FakeProvider::finish_processing
  requires_action,  // the customer must act (intents)
};
inline constexpr Fate all_fates[] = {
    Fate::ok,           Fate::lost_before,    Fate::lost_after,     Fate::saved_500,
    Fate::failed_500,   Fate::declined,       Fate::limited,        Fate::not_sent,
    Fate::late,         Fate::gateway_before, Fate::gateway_after,  Fate::in_use,
    Fate::unauthorized, Fate::invalid,        Fate::resent,         Fate::bad_body,
    Fate::wrong_amount, Fate::processing,     Fate::requires_action};

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

  /// A late request arrives this long after it was sent. To be set below the bound that the policy
  /// states for requests still running after their not_after.
  std::chrono::milliseconds late_by = std::chrono::minutes{10};
  /// Executes the late requests that have arrived by now; handle() does it, too.
  void deliver_late(Timestamp now);
  [[nodiscard]] bool has_late() const { return !late_.empty(); }
  /// What a refusal says; every use of `refused_method` is refused, if it is not empty.
  std::string decline_code = "insufficient_funds";
  std::string refused_method;
  /// Somebody else pays every open intent of ours, e.g. through a hosted page.
  void pay_open_intents();
  /// Everything that is processing or waits for its customer is paid, or refused.
  void finish_processing(bool paid);
  [[nodiscard]] bool has_processing() const;
  /// Somebody else cancels every intent that is payable.
  void cancel_open_intents();

  /// Somebody else takes money for the obligation with this metadata; the succeeded intent.
  ProviderObject pay_elsewhere(const Params& metadata, std::int64_t amount_minor, Timestamp now);
  /// Somebody else gives money of this charge back; the refund.
  ProviderObject refund_elsewhere(const std::string& charge, std::int64_t amount_minor,
                                  Timestamp now);
  /// Every refund that is pending ends like this.
  void finish_refunds(const std::string& status);
  /// All refunds, oldest first.
  [[nodiscard]] std::vector<ProviderObject> refunds() const;
  /// Minor units given back of this charge, pending ones included.
  [[nodiscard]] std::int64_t refunded(const std::string& charge) const;

  [[nodiscard]] const std::vector<LedgerRow>& ledger() const { return ledger_; }
  [[nodiscard]] const std::vector<WireRow>& wire() const { return wire_; }
  [[nodiscard]] int open_intents() const;
  /// Keys that were executed, forgotten and then came again: each would be a second execution.
  [[nodiscard]] int expired_keys_used() const { return expired_keys_used_; }

 private:
  struct Saved {
    std::string digest;
    ExternalAnswer answer;
    Timestamp at;
  };
  struct Late {
    ExternalRequest request;
    Timestamp at;
  };
  ExternalAnswer arrive(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer execute(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer charge(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer create(const ExternalRequest& request, Timestamp now);
  ExternalAnswer confirm(const ExternalRequest& request, const std::string& intent, Fate fate);
  ExternalAnswer refund(const ExternalRequest& request, Fate fate, Timestamp now);
  ExternalAnswer list_refunds(const ExternalRequest& request) const;
  ExternalAnswer cancel(const ExternalRequest& request);
  [[nodiscard]] bool refuses(const ExternalRequest& request, Fate fate) const;
  void refuse(ProviderObject& object);
  ExternalAnswer look_up(const ExternalRequest& request) const;
  void book(const ProviderObject& object, const std::string& charge, const std::string& key);

  std::chrono::milliseconds retention_;
  std::map<std::string, Saved> keys_;
  std::map<std::string, ProviderObject> objects_;
  std::vector<LedgerRow> ledger_;
  std::vector<WireRow> wire_;
  std::vector<Late> late_;
  int next_id_ = 1;
  int expired_keys_used_ = 0;
};

/// The value of one parameter or metadata member; empty if absent.
[[nodiscard]] std::string value_of(const Params& params, const std::string& name);

}  // namespace onceward::testing
