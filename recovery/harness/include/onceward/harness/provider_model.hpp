// ProviderModel: the outside world as a world of the harness needs it: what happens to one request
// on its way, a memory of keys that ends, and a ledger of its own, which is the truth.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/external_call.hpp>

namespace onceward::harness {

/// What happens to one request on its way. Look-ups know ok, lost_before, not_sent, failed_500 and
/// limited; any other fate is ok for them.
enum class Fate : std::uint8_t {
  ok,
  lost_before,      ///< never arrives; the caller sees a broken connection
  lost_after,       ///< executed and saved; the caller sees a broken connection
  saved_500,        ///< executed, but the saved answer is a 500
  failed_500,       ///< nothing happened, the saved answer is a 500
  declined,         ///< refused by the payer's side, saved
  limited,          ///< 429 before anything
  not_sent,         ///< no connection
  late,             ///< the caller sees a broken connection; it arrives after late_by()
  gateway_before,   ///< 502 of a hop, nothing happened, nothing is saved
  gateway_after,    ///< executed and saved, but a hop answers 502
  in_use,           ///< 409, nothing happened
  unauthorized,     ///< 401, nothing happened
  invalid,          ///< 400 of the validation, nothing happened
  resent,           ///< a transport sends it twice without telling; the second answer is seen
  bad_body,         ///< executed and saved; the answer is cut
  wrong_amount,     ///< executed and saved; the answer names another amount
  processing,       ///< accepted; its money is decided by heal()
  requires_action,  ///< the customer must act
};
[[nodiscard]] std::string_view to_text(Fate fate) noexcept;

/// One effect that cannot be taken back. At most one per subject may ever be in a ledger.
struct LedgerRow {
  std::string subject;  ///< what it was for, e.g. `cust_1/2026-08/subscription`
  std::string charge;   ///< its id at the provider
  std::string key;
  std::int64_t amount_minor = 0;
  friend bool operator==(const LedgerRow&, const LedgerRow&) = default;
};

/// A value behind an interface: clone() is an independent provider in the same state.
class ProviderModel {
 public:
  virtual ~ProviderModel() = default;
  [[nodiscard]] virtual std::unique_ptr<ProviderModel> clone() const = 0;

  /// Takes one request and answers it; `now` is the true time.
  virtual ExternalAnswer handle(const ExternalRequest& request, Fate fate, Timestamp now) = 0;
  /// Requests under way that have arrived by now take effect.
  virtual void pass(Timestamp now) = 0;
  /// Faults have ended: what was pending at the provider is decided, in favour of the money.
  virtual void heal() = 0;

  [[nodiscard]] virtual const std::vector<LedgerRow>& ledger() const = 0;
  /// Keys that were executed, forgotten and came again: each could have been a second effect.
  [[nodiscard]] virtual int forgotten_keys_used() const = 0;
  /// Of everything that may change an answer to come.
  [[nodiscard]] virtual std::uint64_t state_hash() const = 0;
};

}  // namespace onceward::harness
