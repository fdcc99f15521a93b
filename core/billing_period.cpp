// Spellings, bounds and order of billing periods. Every period is made by its spelling: parse is
// the only way in, and period_at writes the spelling of a day and parses it.
#include <onceward/core/billing_period.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/civil.hpp"
#include "core/text.hpp"

namespace onceward {
namespace {

constexpr std::int64_t ms_per_day = 86'400'000;
constexpr std::int64_t year_min = 1970;
constexpr std::int64_t year_max = 9999;

static_assert(civil::first_day_of_year(year_max + 1) < std::numeric_limits<std::int32_t>::max(),
              "every day number fits the members");

/// Days [first, end) since 1970-01-01.
struct Interval {
  PeriodGranularity granularity;
  std::int64_t first = 0;
  std::int64_t end = 0;
};

std::optional<int> parse_within(std::string_view digits, int min, int max) {
  const auto value = text::parse_digits(digits);
  if (!value || *value < min || *value > max) return std::nullopt;
  return static_cast<int>(*value);
}

Interval months_interval(PeriodGranularity granularity, int year, int first_month, int months) {
  const std::int64_t january = civil::first_day_of_year(year);
  return {granularity, january + civil::days_before_month(year, first_month),
          january + civil::days_before_month(year, first_month + months)};
}

/// `rest` is the spelling after `YYYY-`.
std::optional<Interval> parse_within_year(int year, std::string_view rest) {
  if (rest.size() == 2 && rest[0] == 'Q') {
    const auto quarter = parse_within(rest.substr(1), 1, 4);
    if (!quarter) return std::nullopt;
    return months_interval(PeriodGranularity::quarter, year, *quarter * 3 - 2, 3);
  }
  if (rest.size() == 3 && rest[0] == 'W') {
    const auto week = parse_within(rest.substr(1), 1, civil::weeks_in_iso_year(year));
    if (!week) return std::nullopt;
    const std::int64_t monday = civil::first_day_of_iso_year(year) + (*week - 1) * 7;
    return Interval{PeriodGranularity::week, monday, monday + 7};
  }
  const auto month = parse_within(rest.substr(0, 2), 1, 12);
  if (!month) return std::nullopt;
  if (rest.size() == 2) return months_interval(PeriodGranularity::month, year, *month, 1);
  if (rest.size() != 5 || rest[2] != '-') return std::nullopt;
  const auto day = parse_within(rest.substr(3), 1, civil::days_in_month(year, *month));
  if (!day) return std::nullopt;
  const std::int64_t number = civil::day_number({year, *month, *day});
  return Interval{PeriodGranularity::day, number, number + 1};
}

std::optional<Interval> parse_interval(std::string_view text) {
  const auto year = parse_within(text.substr(0, 4), year_min, year_max);
  if (!year) return std::nullopt;
  if (text.size() == 4) return months_interval(PeriodGranularity::year, *year, 1, 12);
  if (text[4] != '-') return std::nullopt;
  return parse_within_year(*year, text.substr(5));
}

/// The spelling of the period that holds the day.
std::string spelling_of(PeriodGranularity granularity, std::int64_t day) {
  // The ISO year of a week is the calendar year of its Thursday.
  const bool is_week = granularity == PeriodGranularity::week;
  const std::int64_t deciding_day = is_week ? day + 4 - civil::weekday(day) : day;
  const civil::Date date = civil::date_of(deciding_day);
  std::string out;
  text::append_padded(out, static_cast<std::uint64_t>(date.year), 4);
  const auto add = [&out](std::string_view mark, std::int64_t value, std::size_t width) {
    out += mark;
    text::append_padded(out, static_cast<std::uint64_t>(value), width);
  };
  switch (granularity) {
    case PeriodGranularity::year:
      break;
    case PeriodGranularity::quarter:
      add("-Q", (date.month + 2) / 3, 1);
      break;
    case PeriodGranularity::month:
      add("-", date.month, 2);
      break;
    case PeriodGranularity::week:
      add("-W", (deciding_day - civil::first_day_of_iso_year(date.year)) / 7 + 1, 2);
      break;
    case PeriodGranularity::day:
      add("-", date.month, 2);
      add("-", date.day, 2);
      break;
  }
  return out;
}

}  // namespace

std::string_view to_text(PeriodGranularity granularity) noexcept {
  switch (granularity) {
    case PeriodGranularity::year:
      return "year";
    case PeriodGranularity::quarter:
      return "quarter";
    case PeriodGranularity::month:
      return "month";
    case PeriodGranularity::week:
      return "week";
    case PeriodGranularity::day:
      return "day";
  }
  check_failed("granularity", __FILE__, __LINE__, "a PeriodGranularity is one of five");
}

Result<BillingPeriod> BillingPeriod::parse(std::string_view text) {
  const auto interval = parse_interval(text);
  if (!interval) {
    return fail(ErrorCode::invalid_argument,
                "period " + text::quoted(text) +
                    ": give an existing one of the years 1970-9999, spelled like 2026, 2026-Q3, "
                    "2026-08, 2026-W33 or 2026-08-14");
  }
  ONCEWARD_CHECK(interval->first < interval->end, "a period is not empty");
  BillingPeriod period;
  period.granularity_ = interval->granularity;
  period.first_day_ = static_cast<std::int32_t>(interval->first);
  period.end_day_ = static_cast<std::int32_t>(interval->end);
  period.text_ = text;
  return period;
}

Timestamp BillingPeriod::start() const noexcept {
  return {first_day_ * ms_per_day};
}

Timestamp BillingPeriod::end() const noexcept {
  return {end_day_ * ms_per_day};
}

BillingPeriod BillingPeriod::successor() const {
  BillingPeriod next = period_at(granularity_, end());
  ONCEWARD_CHECK(next.first_day_ == end_day_ || next == *this, "periods tile the calendar");
  return next;
}

std::strong_ordering operator<=>(const BillingPeriod& a, const BillingPeriod& b) noexcept {
  if (a.granularity_ != b.granularity_) return a.granularity_ <=> b.granularity_;
  return a.first_day_ <=> b.first_day_;
}

BillingPeriod period_at(PeriodGranularity granularity, Timestamp at) {
  const bool is_week = granularity == PeriodGranularity::week;
  const auto year_start = is_week ? civil::first_day_of_iso_year : civil::first_day_of_year;
  const std::int64_t day = std::clamp(civil::floor_div(at.ms, ms_per_day), year_start(year_min),
                                      year_start(year_max + 1) - 1);
  auto period = BillingPeriod::parse(spelling_of(granularity, day));
  ONCEWARD_CHECK(period.has_value(), "the spelling of a day parses");
  ONCEWARD_CHECK(period->granularity() == granularity, "a spelling has one granularity");
  ONCEWARD_CHECK(period->start().ms <= day * ms_per_day && day * ms_per_day < period->end().ms,
                 "the period holds the day");
  return std::move(period).value();
}

}  // namespace onceward
