// Timestamps as text, and the age of a request from the clocks that were read when it was sent.
// Reads no clock and no locale.
#include <onceward/core/clock.hpp>

#include <algorithm>
#include <limits>

#include "core/civil.hpp"
#include "core/text.hpp"

namespace onceward {
namespace {

constexpr std::int64_t ms_per_second = 1000;
constexpr std::int64_t ms_per_day = 86'400 * ms_per_second;
constexpr std::int64_t agreement_max_ms = 5 * 60 * ms_per_second;

/// Stored clocks may hold anything: the difference is clamped instead of overflowing.
std::int64_t elapsed_ms(std::int64_t from, std::int64_t to) noexcept {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(to, from, &difference)) return difference;
  return to > from ? std::numeric_limits<std::int64_t>::max()
                   : std::numeric_limits<std::int64_t>::min();
}

void append_year(std::string& out, std::int64_t year) {
  if (year >= 0 && year <= 9999)
    return text::append_padded(out, static_cast<std::uint64_t>(year), 4);
  // The expanded form of ISO 8601: a sign and at least six digits.
  out += year < 0 ? '-' : '+';
  text::append_padded(out, static_cast<std::uint64_t>(year < 0 ? -year : year), 6);
}

void append_two(std::string& out, std::int64_t value) {
  text::append_padded(out, static_cast<std::uint64_t>(value), 2);
}

bool has_separators(std::string_view text) {
  return (text.size() == 20 || (text.size() == 24 && text[19] == '.')) && text[4] == '-' &&
         text[7] == '-' && text[10] == 'T' && text[13] == ':' && text[16] == ':' &&
         text.back() == 'Z';
}

}  // namespace

std::string to_iso(Timestamp at) {
  const std::int64_t day = civil::floor_div(at.ms, ms_per_day);
  // Not at.ms - day * ms_per_day: that product can leave the range for the earliest instants.
  std::int64_t rest = at.ms % ms_per_day;
  if (rest < 0) rest += ms_per_day;
  ONCEWARD_CHECK(rest >= 0 && rest < ms_per_day, "the rest is a time of day");
  const civil::Date date = civil::date_of(day);
  std::string out;
  append_year(out, date.year);
  out += '-';
  append_two(out, date.month);
  out += '-';
  append_two(out, date.day);
  out += 'T';
  append_two(out, rest / (3600 * ms_per_second));
  out += ':';
  append_two(out, rest / (60 * ms_per_second) % 60);
  out += ':';
  append_two(out, rest / ms_per_second % 60);
  out += '.';
  text::append_padded(out, static_cast<std::uint64_t>(rest % ms_per_second), 3);
  out += 'Z';
  return out;
}

Result<Timestamp> parse_iso(std::string_view text) {
  const auto refuse = [text] {
    return fail(ErrorCode::invalid_argument,
                "time " + text::quoted(text) + ": give YYYY-MM-DDTHH:MM:SS[.mmm]Z");
  };
  if (!has_separators(text)) return refuse();
  const auto year = text::parse_digits(text.substr(0, 4));
  const auto month = text::parse_digits(text.substr(5, 2));
  const auto day = text::parse_digits(text.substr(8, 2));
  const auto hour = text::parse_digits(text.substr(11, 2));
  const auto minute = text::parse_digits(text.substr(14, 2));
  const auto second = text::parse_digits(text.substr(17, 2));
  const auto ms = text.size() == 24 ? text::parse_digits(text.substr(20, 3)) : 0;
  if (!year || !month || !day || !hour || !minute || !second || !ms) return refuse();
  if (*month < 1 || *month > 12 || *hour > 23 || *minute > 59 || *second > 59) return refuse();
  civil::Date date{*year, static_cast<int>(*month), static_cast<int>(*day)};
  if (date.day < 1 || date.day > civil::days_in_month(date.year, date.month)) return refuse();
  const std::int64_t seconds = (*hour * 60 + *minute) * 60 + *second;
  return Timestamp{civil::day_number(date) * ms_per_day + seconds * ms_per_second + *ms};
}

SentAt sent_at(const Now& now) noexcept {
  return {now.wall, now.boottime_ms, now.boot, now.provider};
}

RequestAge age_of(const SentAt& sent, const Now& now) noexcept {
  const std::int64_t by_wall = elapsed_ms(sent.wall.ms, now.wall.ms);
  std::int64_t oldest = by_wall;
  std::int64_t youngest = by_wall;
  const auto consider = [&](std::int64_t candidate) {
    oldest = std::max(oldest, candidate);
    youngest = std::min(youngest, candidate);
  };
  if (sent.boot == now.boot) consider(elapsed_ms(sent.boottime_ms, now.boottime_ms));
  const bool is_provider_known = sent.provider.has_value() && now.provider.has_value();
  if (is_provider_known) consider(elapsed_ms(sent.provider->ms, now.provider->ms));
  ONCEWARD_CHECK(youngest <= by_wall && by_wall <= oldest, "no clock makes a request younger");
  const bool is_agreed = elapsed_ms(youngest, oldest) <= agreement_max_ms;
  return {std::chrono::milliseconds(std::max<std::int64_t>(oldest, 0)),
          is_provider_known && is_agreed};
}

}  // namespace onceward
