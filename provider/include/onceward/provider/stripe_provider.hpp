// StripeProvider: the provider port over Stripe's HTTP API (v1), or anything that speaks it, such
// as the simulator. One thread sends, receives and answers. It repeats nothing on its own: whether
// a request is sent again is the entity's decision, and libcurl's silent re-sends are counted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <onceward/platform/secret.hpp>
#include <onceward/provider/provider.hpp>

namespace onceward::provider {

struct StripeProviderOptions {
  /// Scheme, host and port, nothing behind them. Plain http is refused for live keys.
  std::string base_url = "https://api.stripe.com";
  /// `sk_...` or `rk_...`; needs write on PaymentIntents, Charges and Refunds, and no more.
  platform::Secret secret_key;
  /// Pinned: answers are read by the rules of this version of the API.
  std::string stripe_version = "2024-06-20";
  /// PEM file of the authorities to trust; empty: those of the system.
  std::string ca_file;
  /// From the start of the connection to the end of the answer.
  std::chrono::milliseconds timeout{80'000};
  std::chrono::milliseconds connect_timeout{30'000};
  /// Calls between permit and answer; also the number of connections.
  std::size_t max_in_flight = 64;
  /// Wire requests per second on average, at most a tenth of it at once; 0: unlimited.
  std::uint32_t rate_per_second = 20;
  /// How often one call is let through while the provider refuses our credentials.
  std::chrono::milliseconds probe_interval{30'000};
  /// CLOCK_BOOTTIME in milliseconds, the clock of ExternalRequest::not_after_boottime_ms. Empty:
  /// the machine's. Thread-safe, does not block.
  std::function<std::int64_t()> boottime_ms;
};

/// Beyond the contract of Provider:
/// - An answer is `object` only if the whole body was read, parses, and says it is the kind of
/// object
///   that was asked for, answering our key. Whether it is *our* object (amount, currency, metadata)
///   is for the entity to compare.
/// - 402: `objects` holds the intent that the error carries, with failure_charge; for a charge that
///   was declined, an object of kind "charge" with its id and codes and without status.
/// - A request that cannot be put on the wire (no target, a key that no header can carry) is
/// answered
///   `invalid_request` with code "unsendable" and leaves nothing on the wire.
/// - A list ends after 100 pages: more is `bad_body`, "too_many_pages".
/// - 401 and 403 pause the granting of permits (stats().paused_reason says why) until one probe has
///   an answer that our credentials are good for.
/// - After stop() a call is answered `not_sent`, "stopped", inside call().
class StripeProvider final : public Provider {
 public:
  /// Starts the thread; sends nothing. invalid_config for options that make no sense or would give
  /// the secret away; the message says what to change.
  [[nodiscard]] static Result<std::unique_ptr<StripeProvider>> create(
      StripeProviderOptions options);

  StripeProvider(const StripeProvider&) = delete;
  StripeProvider& operator=(const StripeProvider&) = delete;
  /// stop(0).
  ~StripeProvider() override;

  /// Asks the provider for nothing but its time, by one GET without a permit; does not wait. A
  /// failure is no error: the first answer to a call brings the time too.
  void start();

  [[nodiscard]] bool try_acquire() override;
  void acquire(PermitSink granted) override;
  void release() override;
  void call(ExternalRequest request, AnswerSink answer) override;
  [[nodiscard]] std::optional<Timestamp> provider_now() const override;
  [[nodiscard]] ProviderStats stats() const override;
  void stop(std::int64_t grace_ms) override;

 private:
  class Impl;
  explicit StripeProvider(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace onceward::provider
