// Spellings, bounds and succession of billing periods, with the C library as an independent
// calendar.
#include <onceward/core/billing_period.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace onceward {
namespace {

constexpr std::int64_t ms_per_day = 86'400'000;
constexpr std::array<PeriodGranularity, 5> granularities = {
    PeriodGranularity::year, PeriodGranularity::quarter, PeriodGranularity::month,
    PeriodGranularity::week, PeriodGranularity::day};

BillingPeriod period_of(std::string_view text) {
  return BillingPeriod::parse(text).value();
}
std::string start_of(std::string_view text) {
  return to_iso(period_of(text).start());
}
std::string end_of(std::string_view text) {
  return to_iso(period_of(text).end());
}

std::string format_by_libc(const char* format, std::int64_t day) {
  const std::time_t second = day * 86'400;
  std::tm parts{};
  gmtime_r(&second, &parts);
  std::array<char, 40> text{};
  (void)std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

/// The spelling of the period that holds the day, by the C library.
std::string spelling_by_libc(PeriodGranularity granularity, std::int64_t day) {
  switch (granularity) {
    case PeriodGranularity::year:
      return format_by_libc("%Y", day);
    case PeriodGranularity::quarter: {
      const int month = std::stoi(format_by_libc("%m", day));
      return format_by_libc("%Y-Q", day) + std::to_string((month - 1) / 3 + 1);
    }
    case PeriodGranularity::month:
      return format_by_libc("%Y-%m", day);
    case PeriodGranularity::week:
      return format_by_libc("%G-W%V", day);
    case PeriodGranularity::day:
      return format_by_libc("%Y-%m-%d", day);
  }
  return "";
}

TEST(BillingPeriod, BoundsEachKindInUtc) {
  EXPECT_EQ(start_of("2026"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(end_of("2026"), "2027-01-01T00:00:00.000Z");
  EXPECT_EQ(start_of("2026-Q3"), "2026-07-01T00:00:00.000Z");
  EXPECT_EQ(end_of("2026-Q3"), "2026-10-01T00:00:00.000Z");
  EXPECT_EQ(end_of("2026-Q4"), "2027-01-01T00:00:00.000Z");
  EXPECT_EQ(start_of("2026-08"), "2026-08-01T00:00:00.000Z");
  EXPECT_EQ(end_of("2026-08"), "2026-09-01T00:00:00.000Z");
  EXPECT_EQ(end_of("2024-02"), "2024-03-01T00:00:00.000Z");
  EXPECT_EQ(end_of("2026-12"), "2027-01-01T00:00:00.000Z");
  EXPECT_EQ(start_of("2026-W33"), "2026-08-10T00:00:00.000Z");
  EXPECT_EQ(end_of("2026-W33"), "2026-08-17T00:00:00.000Z");
  EXPECT_EQ(start_of("2026-08-14"), "2026-08-14T00:00:00.000Z");
  EXPECT_EQ(end_of("2026-08-14"), "2026-08-15T00:00:00.000Z");
}

TEST(BillingPeriod, KnowsItsGranularity) {
  const std::vector<std::string> texts = {"2026", "2026-Q3", "2026-08", "2026-W33", "2026-08-14"};
  const std::vector<std::string> names = {"year", "quarter", "month", "week", "day"};
  for (std::size_t at = 0; at < texts.size(); ++at) {
    EXPECT_EQ(period_of(texts[at]).granularity(), granularities[at]);
    EXPECT_EQ(to_text(granularities[at]), names[at]);
  }
}

TEST(BillingPeriod, CountsIsoWeeks) {
  EXPECT_EQ(start_of("2026-W01"), "2025-12-29T00:00:00.000Z");
  EXPECT_EQ(start_of("2020-W53"), "2020-12-28T00:00:00.000Z");
  EXPECT_EQ(end_of("2020-W53"), "2021-01-04T00:00:00.000Z");
  EXPECT_EQ(start_of("2021-W01"), "2021-01-04T00:00:00.000Z");
  EXPECT_EQ(start_of("1970-W01"), "1969-12-29T00:00:00.000Z");
}

TEST(BillingPeriod, HasWeek53InLongYearsOnly) {
  for (const char* text : {"2020-W53", "2026-W53", "2032-W53", "1976-W53"}) {
    EXPECT_TRUE(BillingPeriod::parse(text).has_value()) << text;
  }
  for (const char* text : {"2021-W53", "2025-W53", "2027-W53", "2024-W53", "2026-W54"}) {
    EXPECT_FALSE(BillingPeriod::parse(text).has_value()) << text;
  }
}

TEST(BillingPeriod, TakesTheFirstAndTheLastYear) {
  for (const char* text : {"1970", "1970-Q1", "1970-01", "1970-W01", "1970-01-01", "9999",
                           "9999-Q4", "9999-12", "9999-W52", "9999-12-31"}) {
    EXPECT_EQ(period_of(text).text(), text);
  }
  for (const char* text : {"1969", "1969-Q4", "1969-12", "1969-W52", "1969-12-31", "0000", "0001",
                           "10000", "10000-01", "9999-W53"}) {
    EXPECT_FALSE(BillingPeriod::parse(text).has_value()) << text;
  }
}

TEST(BillingPeriod, RefusesEveryOtherSpelling) {
  for (const char* text : {"",
                           " ",
                           "26",
                           "026",
                           "2026-",
                           "-2026",
                           "+2026",
                           "2026-8",
                           "2026-008",
                           "2026-00",
                           "2026-13",
                           "2026-8-1",
                           "2026-08-",
                           "2026-08-1",
                           "2026-08-00",
                           "2026-08-32",
                           "2026-02-30",
                           "2026-02-29",
                           "2100-02-29",
                           "2026-13-01",
                           "2026-00-01",
                           "2026-q3",
                           "2026-Q0",
                           "2026-Q5",
                           "2026-Q03",
                           "2026Q3",
                           "2026-3Q",
                           "2026-w33",
                           "2026-W0",
                           "2026-W00",
                           "2026-W1",
                           "2026-W001",
                           "2026W33",
                           "2026-W33-1",
                           "2026/08",
                           "2026-08 ",
                           " 2026-08",
                           "2026-08\n",
                           "202608",
                           "2026-+8",
                           "2026--8",
                           "2026-0x",
                           "2026-Aug",
                           "2026-08-1x",
                           "2026-08/14",
                           "2026-08-14T00:00:00Z",
                           "2026-QQ",
                           "2026-WW3",
                           "2026_08",
                           "2O26-08",
                           "\xd9\xa2"
                           "026-08",
                           "null"}) {
    const auto parsed = BillingPeriod::parse(text);
    ASSERT_FALSE(parsed.has_value()) << "accepted '" << text << "'";
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_FALSE(BillingPeriod::parse(std::string_view("2026-08\0", 8)).has_value());
  EXPECT_TRUE(BillingPeriod::parse("2000-02-29").has_value());
}

TEST(BillingPeriod, SaysHowToSpellAPeriod) {
  EXPECT_EQ(BillingPeriod::parse("2026-8").error().context,
            "period \"2026-8\": give an existing one of the years 1970-9999, spelled like 2026, "
            "2026-Q3, 2026-08, 2026-W33 or 2026-08-14");
}

TEST(BillingPeriod, DefaultsToAConsistentValue) {
  const BillingPeriod fresh;
  const BillingPeriod parsed = period_of("1970-01");
  EXPECT_EQ(fresh, parsed);
  EXPECT_EQ(fresh.start(), parsed.start());
  EXPECT_EQ(fresh.end(), parsed.end());
  EXPECT_EQ(fresh.granularity(), parsed.granularity());
}

TEST(BillingPeriod, OrdersByStartWithinAGranularityAndByGranularityBetween) {
  EXPECT_LT(period_of("2026-08"), period_of("2026-09"));
  EXPECT_LT(period_of("2025-12"), period_of("2026-01"));
  EXPECT_LT(period_of("2020-W53"), period_of("2021-W01"));
  EXPECT_GT(period_of("2026-08"), period_of("2027"));
  EXPECT_LT(period_of("2026-12"), period_of("2026-W01"));
  EXPECT_EQ(period_of("2026-08") <=> period_of("2026-08"), std::strong_ordering::equal);
  EXPECT_NE(period_of("2026-Q1"), period_of("2026-01"));
}

class EachGranularity : public testing::TestWithParam<PeriodGranularity> {};

INSTANTIATE_TEST_SUITE_P(BillingPeriod, EachGranularity, testing::ValuesIn(granularities),
                         [](const auto& tested) { return std::string(to_text(tested.param)); });

// 400 years are one whole cycle of the calendar.
TEST_P(EachGranularity, SuccessorsTileFourHundredYearsWithoutGapOrOverlap) {
  BillingPeriod period = period_at(GetParam(), parse_iso("1970-01-01T00:00:00Z").value());
  const Timestamp last = parse_iso("2370-01-01T00:00:00Z").value();
  while (period.end() <= last) {
    const std::int64_t first_day = period.start().ms / ms_per_day;
    const std::int64_t last_day = period.end().ms / ms_per_day - 1;
    ASSERT_EQ(period.text(), spelling_by_libc(GetParam(), first_day));
    ASSERT_EQ(period.text(), spelling_by_libc(GetParam(), last_day));
    ASSERT_EQ(BillingPeriod::parse(period.text()).value(), period);
    const BillingPeriod next = period.successor();
    ASSERT_EQ(next.start(), period.end()) << period.text();
    ASSERT_LT(next.start(), next.end()) << next.text();
    ASSERT_EQ(next.granularity(), GetParam());
    ASSERT_LT(period, next);
    period = next;
  }
}

TEST_P(EachGranularity, LastPeriodIsItsOwnSuccessor) {
  const BillingPeriod last = period_at(GetParam(), {std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(last.text(), spelling_by_libc(GetParam(), 2'932'896));  // 9999-12-31
  EXPECT_EQ(last.successor(), last);
}

TEST_P(EachGranularity, InstantsBeforeTheFirstPeriodGiveTheFirst) {
  const BillingPeriod first = period_at(GetParam(), {std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(first, period_at(GetParam(), {0}));
}

RC_GTEST_PROP(PeriodAt, HoldsTheInstant, ()) {
  const auto granularity = *rc::gen::elementOf(granularities);
  const auto ms = *rc::gen::inRange<std::int64_t>(0, 253'402'300'800'000);  // to the year 10000
  const BillingPeriod period = period_at(granularity, {ms});
  RC_ASSERT(period.granularity() == granularity);
  RC_ASSERT(period.start().ms <= ms);
  RC_ASSERT(ms < period.end().ms);
  RC_ASSERT(period.text() == spelling_by_libc(granularity, ms / ms_per_day));
  RC_ASSERT(BillingPeriod::parse(period.text()).value() == period);
}

RC_GTEST_PROP(BillingPeriod, AcceptsOnlyTextThatItWouldWriteItself, ()) {
  const auto letters = rc::gen::element('0', '1', '2', '3', '5', '9', '-', 'Q', 'W', ' ');
  const auto text = *rc::gen::container<std::string>(letters);
  const auto parsed = BillingPeriod::parse(text);
  if (parsed.has_value()) {
    RC_ASSERT(period_at(parsed->granularity(), parsed->start()).text() == text);
  }
}

}  // namespace
}  // namespace onceward
