// The proleptic Gregorian calendar as integer arithmetic over days since 1970-01-01. Private to
// core; no zones, no clock, no locale.
#pragma once

#include <array>
#include <cstdint>

#include <onceward/core/check.hpp>

namespace onceward::civil {

struct Date {
  std::int64_t year = 1970;
  int month = 1;
  int day = 1;

  friend bool operator==(const Date&, const Date&) = default;
};

/// Quotient rounded down, for a positive divisor.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  ONCEWARD_CHECK(b > 0, "the divisor is positive");
  const std::int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

[[nodiscard]] constexpr bool is_leap(std::int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/// Days of the year that lie before the first of `month`; month 13 gives the length of the year.
[[nodiscard]] constexpr int days_before_month(std::int64_t year, int month) noexcept {
  constexpr std::array<int, 13> before = {0,   31,  59,  90,  120, 151, 181,
                                          212, 243, 273, 304, 334, 365};
  ONCEWARD_CHECK(month >= 1 && month <= 13, "a month is 1 to 12");
  return before[static_cast<std::size_t>(month - 1)] + (month > 2 && is_leap(year) ? 1 : 0);
}

[[nodiscard]] constexpr int days_in_month(std::int64_t year, int month) noexcept {
  return days_before_month(year, month + 1) - days_before_month(year, month);
}

/// Day number of the first of January.
[[nodiscard]] constexpr std::int64_t first_day_of_year(std::int64_t year) noexcept {
  constexpr std::int64_t days_from_year_1_to_1970 = 719'162;
  const std::int64_t past = year - 1;
  return 365 * past + floor_div(past, 4) - floor_div(past, 100) + floor_div(past, 400) -
         days_from_year_1_to_1970;
}

[[nodiscard]] constexpr std::int64_t day_number(const Date& date) noexcept {
  ONCEWARD_CHECK(date.day >= 1 && date.day <= days_in_month(date.year, date.month),
                 "the day exists in its month");
  return first_day_of_year(date.year) + days_before_month(date.year, date.month) + date.day - 1;
}

[[nodiscard]] constexpr Date date_of(std::int64_t day) noexcept {
  // The mean year gives the right year or a neighbour of it; the loops settle which.
  std::int64_t year = 1970 + floor_div(day * 400, 146'097);
  while (first_day_of_year(year) > day) --year;
  while (first_day_of_year(year + 1) <= day) ++year;
  const auto day_of_year = static_cast<int>(day - first_day_of_year(year));
  ONCEWARD_CHECK(day_of_year >= 0 && day_of_year < days_before_month(year, 13),
                 "the year found holds the day");
  int month = 1;
  while (days_before_month(year, month + 1) <= day_of_year) ++month;
  return {year, month, day_of_year - days_before_month(year, month) + 1};
}

/// Monday = 1 .. Sunday = 7, as ISO 8601 counts.
[[nodiscard]] constexpr int weekday(std::int64_t day) noexcept {
  // Day 0 was a Thursday.
  const auto weekday = static_cast<int>(day + 3 - 7 * floor_div(day + 3, 7)) + 1;
  ONCEWARD_CHECK(weekday >= 1 && weekday <= 7, "a week has seven days");
  return weekday;
}

/// Monday of ISO week 1: the week that holds 4 January.
[[nodiscard]] constexpr std::int64_t first_day_of_iso_year(std::int64_t year) noexcept {
  const std::int64_t fourth = first_day_of_year(year) + 3;
  return fourth - (weekday(fourth) - 1);
}

[[nodiscard]] constexpr int weeks_in_iso_year(std::int64_t year) noexcept {
  const std::int64_t days = first_day_of_iso_year(year + 1) - first_day_of_iso_year(year);
  ONCEWARD_CHECK(days == 52 * 7 || days == 53 * 7, "an ISO year has 52 or 53 whole weeks");
  return static_cast<int>(days / 7);
}

// Fixed points of the calendar; the tests compare the rest with the C library.
static_assert(first_day_of_year(1970) == 0);
static_assert(first_day_of_year(2370) - first_day_of_year(1970) == 146'097);
static_assert(day_number({2000, 3, 1}) == day_number({2000, 2, 29}) + 1);
static_assert(date_of(-1) == Date{1969, 12, 31});
static_assert(date_of(0) == Date{1970, 1, 1});
static_assert(!is_leap(1900) && is_leap(2000) && is_leap(2024) && !is_leap(2026));
static_assert(weekday(0) == 4, "1970-01-01 was a Thursday");
static_assert(first_day_of_iso_year(1970) == -3);
static_assert(weeks_in_iso_year(2020) == 53 && weeks_in_iso_year(2021) == 52);

}  // namespace onceward::civil
