// BillingPeriod: the label of one interval of a billing cycle, an input of every command, never
// computed from a clock inside an entity. Each period has exactly one spelling.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <onceward/core/clock.hpp>
#include <onceward/core/result.hpp>

namespace onceward {

enum class PeriodGranularity : std::uint8_t { year, quarter, month, week, day };
/// `year`, `quarter`, `month`, `week` or `day`.
[[nodiscard]] std::string_view to_text(PeriodGranularity granularity) noexcept;

/// Regular value. Spellings: `2026`, `2026-Q3`, `2026-08`, `2026-W33` (ISO week), `2026-08-14`;
/// years 1970-9999. Ordered by start within one granularity (between them: by granularity).
class BillingPeriod {
 public:
  /// `1970-01`.
  BillingPeriod() = default;
  /// Anything but the one spelling (other case, missing zero, blank, week 53 of a 52-week year,
  /// 30 February) is invalid_argument.
  [[nodiscard]] static Result<BillingPeriod> parse(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] PeriodGranularity granularity() const noexcept { return granularity_; }
  /// Half-open interval [start, end) in UTC, for periods whose anchor is the first of the period.
  [[nodiscard]] Timestamp start() const noexcept;
  [[nodiscard]] Timestamp end() const noexcept;
  /// The next period of the same granularity; its start is this one's end. The last period of the
  /// year 9999 has no successor and gives itself.
  [[nodiscard]] BillingPeriod successor() const;

  friend bool operator==(const BillingPeriod& a, const BillingPeriod& b) noexcept {
    return a.text_ == b.text_;
  }
  friend std::strong_ordering operator<=>(const BillingPeriod& a, const BillingPeriod& b) noexcept;

 private:
  PeriodGranularity granularity_ = PeriodGranularity::month;
  std::int32_t first_day_ = 0;  // days since 1970-01-01
  std::int32_t end_day_ = 31;
  std::string text_ = "1970-01";
};

/// The period of this granularity that holds the instant, in UTC. An instant outside the years
/// 1970-9999 gives the first or the last period.
[[nodiscard]] BillingPeriod period_at(PeriodGranularity granularity, Timestamp at);

}  // namespace onceward
