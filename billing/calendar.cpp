// Periods by calendar arithmetic: months are added to the anchor day, never to the last clamped
// one, and days become instants only at the very end.
#include <onceward/billing/calendar.hpp>

#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace onceward::billing {

namespace {

using Days = date::sys_days::duration;

date::sys_days day_at(std::int64_t days) {
  return date::sys_days{Days{static_cast<Days::rep>(days)}};
}

std::int64_t days_since_epoch(date::sys_days day) {
  return day.time_since_epoch().count();
}

/// Months between two periods; 0 where periods are counted in days.
int months_of(PeriodGranularity granularity) {
  switch (granularity) {
    case PeriodGranularity::year:
      return 12;
    case PeriodGranularity::quarter:
      return 3;
    case PeriodGranularity::month:
      return 1;
    case PeriodGranularity::week:
    case PeriodGranularity::day:
      return 0;
  }
  check_failed("granularity", __FILE__, __LINE__, "a PeriodGranularity is one of five");
}

int days_of(PeriodGranularity granularity) {
  return granularity == PeriodGranularity::week ? 7 : 1;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

constexpr std::int64_t ms_per_day = 86'400'000;

}  // namespace

Result<TimeZone> TimeZone::find(std::string_view name) {
  // The library throws for unknown names and for an unreadable database alike.
  try {
    TimeZone zone;
    zone.zone_ = date::locate_zone(std::string{name});
    zone.name_ = name;
    return zone;
  } catch (const std::exception&) {
    return fail(ErrorCode::invalid_argument,
                "time zone " + std::string{name.substr(0, 64)} +
                    " is not in this system's database: give a name like Europe/Berlin or UTC, "
                    "or install the package tzdata");
  }
}

Result<Anchor> parse_anchor(std::string_view text, const TimeZone& fallback) {
  const auto at = text.find('@');
  auto day = BillingPeriod::parse(text.substr(0, at));
  if (!day || day->granularity() != PeriodGranularity::day) {
    return fail(ErrorCode::invalid_argument,
                "anchor " + std::string{text.substr(0, 64)} +
                    ": give an existing day as YYYY-MM-DD or YYYY-MM-DD@Area/City");
  }
  if (at == std::string_view::npos) return Anchor{*std::move(day), fallback};
  auto zone = TimeZone::find(text.substr(at + 1));
  if (!zone) return Unexpected{std::move(zone).error()};
  return Anchor{*std::move(day), *std::move(zone)};
}

Calendar::Calendar(PeriodGranularity granularity, Anchor anchor)
    : granularity_(granularity),
      anchor_(std::move(anchor)),
      anchor_day_(anchor_.day.start().ms / ms_per_day) {
  ONCEWARD_CHECK(anchor_.day.granularity() == PeriodGranularity::day, "an anchor is a day");
  ONCEWARD_CHECK(anchor_.zone.zone_ != nullptr, "a zone comes from TimeZone::find");
}

std::int64_t Calendar::first_day(std::int64_t n) const {
  ONCEWARD_CHECK(n >= 0, "no period lies before the anchor");
  const int months = months_of(granularity_);
  if (months == 0) return anchor_day_ + n * days_of(granularity_);
  const date::year_month_day anchor{day_at(anchor_day_)};
  const auto month =
      date::year_month{anchor.year(), anchor.month()} + date::months{static_cast<int>(n * months)};
  const date::year_month_day_last last{month.year(), date::month_day_last{month.month()}};
  const date::day day = std::min(anchor.day(), last.day());
  return days_since_epoch(date::sys_days{month / day});
}

// Where clocks go forward over midnight the day begins when they have; where they go back over it
// the day begins the first time.
Timestamp Calendar::midnight(std::int64_t day) const {
  const date::local_days local{Days{static_cast<Days::rep>(day)}};
  const date::local_info info = anchor_.zone.zone_->get_info(local);
  const auto instant = info.result == date::local_info::nonexistent
                           ? info.second.begin
                           : date::sys_seconds{local.time_since_epoch()} - info.first.offset;
  return {
      std::chrono::duration_cast<std::chrono::milliseconds>(instant.time_since_epoch()).count()};
}

BillingPeriod Calendar::label(std::int64_t n) const {
  return period_at(granularity_, Timestamp{first_day(n) * ms_per_day});
}

Interval Calendar::interval(std::int64_t n) const {
  return {midnight(first_day(n)), midnight(first_day(n + 1))};
}

std::optional<std::int64_t> Calendar::number_at(Timestamp at) const {
  if (at < midnight(first_day(0))) return std::nullopt;
  const std::int64_t day = floor_div(at.ms, ms_per_day);
  const int months = months_of(granularity_);
  std::int64_t n = 0;
  if (months == 0) {
    n = (day - anchor_day_) / days_of(granularity_);
  } else {
    const date::year_month_day now{day_at(day)};
    const date::year_month_day anchor{day_at(anchor_day_)};
    const int apart = (date::year_month{now.year(), now.month()} -
                       date::year_month{anchor.year(), anchor.month()})
                          .count();
    n = apart / months;
  }
  // The zone moves the border by up to a day either way.
  n = std::max<std::int64_t>(n, 0);
  while (n > 0 && at < interval(n).start) --n;
  while (at >= interval(n).end) ++n;
  return n;
}

std::optional<std::int64_t> Calendar::number_of(const BillingPeriod& period) const {
  if (period.granularity() != granularity_) return std::nullopt;
  // Exactly one period begins on a day within the label, near the number of its first instant.
  const auto near = number_at(period.start()).value_or(0);
  for (std::int64_t n = std::max<std::int64_t>(near - 1, 0); n <= near + 2; ++n) {
    if (label(n) == period) return n;
  }
  return std::nullopt;
}

std::int64_t Calendar::first_from(Timestamp at) const {
  const auto n = number_at(at);
  if (!n) return 0;
  return interval(*n).start == at ? *n : *n + 1;
}

DuePeriods due_periods(const Calendar& calendar, std::int64_t floor, Timestamp now,
                       const CatchUpPolicy& policy,
                       const std::function<bool(const BillingPeriod&)>& is_issued) {
  DuePeriods due;
  const auto current = calendar.number_at(now);
  if (!current) return due;
  std::vector<DuePeriod> missed;
  std::int64_t n = std::max<std::int64_t>(floor, 0);
  const std::int64_t end = std::min(*current, n + list_max);
  due.too_many = end < *current;
  for (; n < end; ++n) {
    BillingPeriod label = calendar.label(n);
    if (!is_issued(label)) missed.push_back({std::move(label), calendar.interval(n), true});
  }
  due.too_many = due.too_many || missed.size() > policy.max;
  switch (policy.missed) {
    case CatchUp::bill:
      (due.too_many ? due.held : due.bill) = std::move(missed);
      break;
    case CatchUp::hold:
      due.held = std::move(missed);
      break;
    case CatchUp::skip:
      due.skipped = std::move(missed);
      due.too_many = false;
      break;
  }
  if (*current < floor) return due;
  BillingPeriod label = calendar.label(*current);
  if (!is_issued(label)) {
    due.bill.push_back({std::move(label), calendar.interval(*current), false});
  }
  return due;
}

}  // namespace onceward::billing
