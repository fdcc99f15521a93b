// Reads HTTP dates and extrapolates from the newest.
#include "provider/stripe/provider_time.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace onceward::provider::stripe {

namespace {

constexpr std::int64_t jitter_ms = 5'000;

constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> weekdays = {"Mon", "Tue", "Wed", "Thu",
                                                      "Fri", "Sat", "Sun"};

}  // namespace

std::optional<Timestamp> parse_http_date(std::string_view text) {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  constexpr std::size_t length = 29;
  if (text.size() != length || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' ||
      text[16] != ' ' || text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
  const auto weekday = std::find(weekdays.begin(), weekdays.end(), text.substr(0, 3));
  if (month == months.end() || weekday == weekdays.end()) return std::nullopt;
  const auto month_nr = std::to_string(101 + (month - months.begin()));
  std::string iso(text.substr(12, 4));
  iso.append("-").append(month_nr.substr(1)).append("-").append(text.substr(5, 2));
  iso.append("T").append(text.substr(17, 8)).append("Z");
  const auto parsed = parse_iso(iso);
  return parsed ? std::optional(parsed.value()) : std::nullopt;
}

void ProviderTime::saw(Timestamp date, std::int64_t boottime_ms) noexcept {
  const auto expected = now(boottime_ms);
  if (expected && date <= *expected && expected->ms - date.ms <= jitter_ms) return;
  date_ = date;
  seen_at_ms_ = boottime_ms;
}

std::optional<Timestamp> ProviderTime::now(std::int64_t boottime_ms) const noexcept {
  if (!date_) return std::nullopt;
  return date_->plus(
      std::chrono::milliseconds(std::max<std::int64_t>(0, boottime_ms - seen_at_ms_)));
}

}  // namespace onceward::provider::stripe
