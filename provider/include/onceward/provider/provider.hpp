// Provider: the port to the payment provider. Takes frozen requests, owns permits (rate and
// in-flight slots), answers each call exactly once. Implementations: StripeProvider
// (provider_curl), SimulatedProviderPort (in process), fakes of the harness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <onceward/core/external_call.hpp>

namespace onceward::provider {

/// Called exactly once per call, from the provider's own thread; must not block.
using AnswerSink = std::function<void(ExternalAnswer&&)>;
/// Called once when a permit is granted, from any thread (possibly inside acquire()); must not
/// block. The permit then belongs to the callee: it must call() or release().
using PermitSink = std::function<void()>;

struct ProviderStats {
  std::uint64_t calls = 0;
  std::uint64_t wire_requests = 0;
  std::size_t in_flight = 0;
  std::size_t waiting_for_permit = 0;
  /// Set while the provider refuses our credentials: sending is paused, one probe at a time.
  std::string paused_reason;
  /// Why the last call got no answer of the provider, e.g. a refused connection or certificate.
  /// Empty while answers come.
  std::string unreachable_reason;
};

/// All members are thread-safe and do not block on the network.
class Provider {
 public:
  virtual ~Provider() = default;

  /// Takes a permit if one is free now (rate token and in-flight slot), without queueing.
  [[nodiscard]] virtual bool try_acquire() = 0;
  /// Queues for a permit; grants are first come, first served. After stop() nothing is granted.
  virtual void acquire(PermitSink granted) = 0;
  /// Returns a permit that was not used for a call.
  virtual void release() = 0;

  /// Performs the request under a held permit, which returns to the port when the answer is
  /// delivered, whatever it is. A POST without key is a broken invariant and aborts. A request
  /// whose not_after has passed is answered `not_sent` without touching the wire.
  virtual void call(ExternalRequest request, AnswerSink answer) = 0;

  /// Provider time now, extrapolated from the newest `Date` header seen by this process on the
  /// monotonic clock; absent until the first answer (start() asks once).
  [[nodiscard]] virtual std::optional<Timestamp> provider_now() const = 0;

  [[nodiscard]] virtual ProviderStats stats() const = 0;

  /// Refuses new permits and calls; calls in flight are answered (at the latest by their own
  /// timeout) or, after `grace_ms`, answered `broken`. Blocks until then.
  virtual void stop(std::int64_t grace_ms) = 0;
};

}  // namespace onceward::provider
