// SystemClock: the clocks of this machine. The only place that reads them for billing.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <onceward/core/clock.hpp>

namespace onceward::platform {

/// CLOCK_BOOTTIME in milliseconds: monotonic, goes on while the machine is suspended. Thread-safe,
/// does not block.
[[nodiscard]] std::int64_t boottime_ms() noexcept;

class SystemClock final : public Clock {
 public:
  /// Provider time now, if it is known: usually Provider::provider_now(). Thread-safe.
  using ProviderTime = std::function<std::optional<Timestamp>()>;

  /// Reads the identity of this boot once. io if the machine does not tell it: without it, two
  /// boots could be taken for one and an old request for a young one. `provider_time` may be empty;
  /// what it refers to must outlive the clock.
  [[nodiscard]] static Result<std::unique_ptr<SystemClock>> open(ProviderTime provider_time);

  [[nodiscard]] Now now() const override;

 private:
  SystemClock(std::uint64_t boot, ProviderTime provider_time);

  const std::uint64_t boot_;
  const ProviderTime provider_time_;
};

}  // namespace onceward::platform
