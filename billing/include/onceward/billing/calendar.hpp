// Calendar of one customer: when the periods of a billing cycle begin, counted from an anchor day
// in a time zone, and which of them are due. Pure but for the system's time zone database, which
// is read on first use and then kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/billing_period.hpp>
#include <onceward/core/clock.hpp>

namespace date {
class time_zone;
}

namespace onceward::billing {

/// A zone of the system's IANA database. Regular value; the database outlives it. Thread-safe.
class TimeZone {
 public:
  /// `Area/City`, `UTC`, or an alias of the database. invalid_argument, naming the zone, if it is
  /// not there.
  [[nodiscard]] static Result<TimeZone> find(std::string_view name);
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  friend bool operator==(const TimeZone& a, const TimeZone& b) noexcept {
    return a.name_ == b.name_;
  }

 private:
  friend class Calendar;
  std::string name_;
  const date::time_zone* zone_ = nullptr;
};

/// The day on which a customer's first period begins, at midnight of the zone.
struct Anchor {
  BillingPeriod day;  ///< granularity day
  TimeZone zone;

  friend bool operator==(const Anchor&, const Anchor&) = default;
};
/// `YYYY-MM-DD` or `YYYY-MM-DD@Area/City`; without a zone, `fallback`. invalid_argument says what
/// is wrong: 30 February, an unknown zone.
[[nodiscard]] Result<Anchor> parse_anchor(std::string_view text, const TimeZone& fallback);

/// Half-open interval of wall time.
struct Interval {
  Timestamp start;
  Timestamp end;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The periods of one granularity from an anchor on, without gap or overlap. Period n begins n
/// years, quarters, months, weeks or days after the anchor *day*, at the first instant of that day
/// in the zone; a month that has no such day uses its last one, and the next month has the day
/// again. Its label is the period that holds its first day. Nothing before the anchor.
class Calendar {
 public:
  Calendar(PeriodGranularity granularity, Anchor anchor);

  [[nodiscard]] PeriodGranularity granularity() const noexcept { return granularity_; }
  /// n >= 0; the year of the start is at most 9998.
  [[nodiscard]] BillingPeriod label(std::int64_t n) const;
  [[nodiscard]] Interval interval(std::int64_t n) const;
  /// Number of the period that holds the instant; absent before the anchor.
  [[nodiscard]] std::optional<std::int64_t> number_at(Timestamp at) const;
  /// Number of the period with this label; absent for another granularity or before the anchor.
  [[nodiscard]] std::optional<std::int64_t> number_of(const BillingPeriod& label) const;
  /// Number of the first period that begins at or after the instant: a customer's default floor.
  [[nodiscard]] std::int64_t first_from(Timestamp at) const;

 private:
  [[nodiscard]] std::int64_t first_day(std::int64_t n) const;
  [[nodiscard]] Timestamp midnight(std::int64_t day) const;

  PeriodGranularity granularity_;
  Anchor anchor_;
  std::int64_t anchor_day_ = 0;  // days since 1970-01-01
};

/// What happens to a period that ended before it was billed.
enum class CatchUp : std::uint8_t { bill, hold, skip };

struct CatchUpPolicy {
  CatchUp missed = CatchUp::bill;
  /// More missed periods than this, of one customer, wait for an operator, all of them.
  std::uint32_t max = 3;
};

/// A period that has begun and was not issued.
struct DuePeriod {
  BillingPeriod period;
  Interval interval;
  bool missed = false;  ///< it has ended
};

/// Oldest first in each list; together every period from the floor to now that was not issued.
struct DuePeriods {
  std::vector<DuePeriod> bill;
  std::vector<DuePeriod> held;     ///< an operator decides
  std::vector<DuePeriod> skipped;  ///< to be recorded as not billed
  bool too_many = false;           ///< held because more than `max` were missed
};

/// What is due at `now` from period number `floor` on. Depends on nothing else: evaluated again,
/// at another time, after any clock step, it asks for nothing that `is_issued` knows and forgets
/// nothing. At most `list_max` periods are looked at, oldest first, so that a wrong anchor ends;
/// then `too_many` is set.
inline constexpr std::int64_t list_max = 4'000;
[[nodiscard]] DuePeriods due_periods(const Calendar& calendar, std::int64_t floor, Timestamp now,
                                     const CatchUpPolicy& policy,
                                     const std::function<bool(const BillingPeriod&)>& is_issued);

}  // namespace onceward::billing
