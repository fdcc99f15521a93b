// BillingPolicy: the configured values a billing decision may depend on. Immutable for the life of
// a process; identity values are recorded in the store and may never change.
#pragma once

#include <chrono>
#include <cstdint>

#include <onceward/billing/weakening.hpp>
#include <onceward/core/ids.hpp>

namespace onceward::billing {

enum class Flow : std::uint8_t {
  payment_intents,           ///< create unconfirmed, then confirm (default)
  payment_intents_one_step,  ///< create and confirm in one request
  charges,                   ///< POST charges
};
enum class KeyScheme : std::uint8_t { v1, colon };
enum class CapMode : std::uint8_t { enforce, observe, off };
/// Whether an operator may have a charge made again whose outcome nobody could tell.
enum class RebillAfterUnknown : std::uint8_t { never, ask };
enum class BelowMinimum : std::uint8_t { waive, hold };

struct BillingPolicy {
  // Identity: enters every key.
  Namespace ns;
  AccountLabel account;
  Mode mode = Mode::test;
  KeyScheme scheme = KeyScheme::v1;

  Flow flow = Flow::payment_intents;
  CapMode cap_mode = CapMode::enforce;
  BelowMinimum below_minimum = BelowMinimum::waive;
  /// `ask`: Resolution::not_charged is accepted. The one named exception to "at most one charge":
  /// it is as good as the operator's word.
  RebillAfterUnknown rebill_after_unknown = RebillAfterUnknown::never;
  bool allow_future = false;

  /// Total time of one provider call; a request is never put on the wire after it.
  std::chrono::milliseconds call_timeout{80'000};
  /// After this long without any answer the watchdog decides.
  std::chrono::milliseconds attempt_deadline{600'000};
  /// Longest a request may still run at the provider after its not_after.
  std::chrono::milliseconds provider_bound{900'000};
  /// Same key may be sent while the request is younger; the provider forgets after 24 h.
  std::chrono::milliseconds same_key_max{std::chrono::hours{23}};
  /// Same-key sends in a row before a look-up is put between.
  int same_key_burst = 3;

  /// Tries per obligation in all, the first one included, spread over the time from the first
  /// decline on.
  int dunning_attempts = 8;
  std::chrono::milliseconds dunning_spread{std::chrono::hours{24 * 14}};

  /// None in a node: see weakened_billing_entity_type().
  Weakening weakening;
};

/// Scheme `colon` exists for keys in flight of an older system: only with flow charges.
[[nodiscard]] constexpr bool scheme_allowed(KeyScheme scheme, Flow flow) noexcept {
  return scheme == KeyScheme::v1 || flow == Flow::charges;
}

}  // namespace onceward::billing
