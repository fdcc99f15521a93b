// Time as data: wall-clock facts, a monotonic clock that goes on while the machine sleeps, and the
// provider's own time. Clock implementations are the only code that reads a clock.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <onceward/core/result.hpp>

namespace onceward {

/// Wall time, milliseconds since 1970-01-01T00:00:00Z. A fact for people and calendars.
struct Timestamp {
  std::int64_t ms = 0;

  [[nodiscard]] constexpr Timestamp plus(std::chrono::milliseconds d) const noexcept {
    return {ms + d.count()};
  }
  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;
};

/// `2026-08-01T00:00:00.000Z`. Years outside 0-9999 get a sign and at least six digits, so that
/// every Timestamp has a text; parse_iso refuses those.
[[nodiscard]] std::string to_iso(Timestamp at);
/// Accepts `YYYY-MM-DDTHH:MM:SS[.mmm]Z` only, years 0000-9999, an existing day, no leap second;
/// anything else is invalid_argument.
[[nodiscard]] Result<Timestamp> parse_iso(std::string_view text);

/// One reading of all clocks, taken by the shell and handed to the machine with each input.
struct Now {
  Timestamp wall;
  /// CLOCK_BOOTTIME in ms: grows also while the machine is suspended; comparable only within
  /// `boot`.
  std::int64_t boottime_ms = 0;
  /// Identity of this boot of the machine.
  std::uint64_t boot = 0;
  /// Provider time, extrapolated from the newest `Date` header this process saw; absent before it.
  std::optional<Timestamp> provider;

  friend bool operator==(const Now&, const Now&) = default;
};

/// When a request was first sent, on every clock we had; stored in RequestStarted.
struct SentAt {
  Timestamp wall;
  std::int64_t boottime_ms = 0;
  std::uint64_t boot = 0;
  /// Provider time at the send, as in Now: absent if no `Date` header was seen before it.
  std::optional<Timestamp> provider;

  friend bool operator==(const SentAt&, const SentAt&) = default;
};

/// The reading to store with a request that is sent now.
[[nodiscard]] SentAt sent_at(const Now& now) noexcept;

/// Age of a request. `age` is the largest that any clock supports, so that a clock set back never
/// makes a request look young. `trusted` is false when no provider time is known on either side or
/// when the clocks disagree by more than five minutes: then a look-up comes first.
///
/// The clocks asked are: the wall clock, always; CLOCK_BOOTTIME, if the machine has not rebooted
/// since the send; provider time, if both sides know it. `age` is never negative: a request "from
/// the future" on every clock has age 0. Differences that do not fit are clamped.
struct RequestAge {
  std::chrono::milliseconds age{0};
  bool trusted = false;

  friend bool operator==(const RequestAge&, const RequestAge&) = default;
};
[[nodiscard]] RequestAge age_of(const SentAt& sent, const Now& now) noexcept;

/// Source of Now. Implementations are thread-safe and do not block.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Now now() const = 0;
};

}  // namespace onceward
