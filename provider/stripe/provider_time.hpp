// ProviderTime: the provider's clock as its answers tell it, carried on by our monotonic clock.
// Pure; used by StripeProvider under its lock.
#pragma once

#include <onceward/core/clock.hpp>

#include <optional>
#include <string_view>

namespace onceward::provider::stripe {

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110) and no other form; absent if it is not a time.
[[nodiscard]] std::optional<Timestamp> parse_http_date(std::string_view text);

class ProviderTime {
 public:
  /// An answer with this `Date` came in at `boottime_ms`. Dates are whole seconds and come through
  /// different machines: one that is a little behind what we extrapolate changes nothing, one that
  /// is far behind is a clock that was corrected and is taken.
  void saw(Timestamp date, std::int64_t boottime_ms) noexcept;

  /// Absent before the first date.
  [[nodiscard]] std::optional<Timestamp> now(std::int64_t boottime_ms) const noexcept;

 private:
  std::optional<Timestamp> date_;
  std::int64_t seen_at_ms_ = 0;
};

}  // namespace onceward::provider::stripe
