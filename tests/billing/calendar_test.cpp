// The calendar against cases from the field and against rules of its own: periods tile, anchors
// survive short months, clocks that are set change nothing.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <onceward/billing/calendar.hpp>

namespace onceward::billing {
namespace {

Timestamp at(const char* iso) {
  return *parse_iso(iso);
}

Calendar calendar(PeriodGranularity granularity, const char* anchor) {
  return Calendar{granularity, *parse_anchor(anchor, *TimeZone::find("UTC"))};
}

/// Bills what is due at each of these times and remembers it.
struct Biller {
  const Calendar& of;
  CatchUpPolicy policy;
  std::int64_t floor = 0;
  std::set<std::string> issued;
  std::vector<std::string> order;

  DuePeriods look(Timestamp now) const {
    return due_periods(of, floor, now, policy,
                       [this](const BillingPeriod& p) { return issued.count(p.text()) > 0; });
  }
  std::size_t bill(const char* now) {
    const DuePeriods due = look(at(now));
    for (const auto& one : due.bill) {
      EXPECT_TRUE(issued.insert(one.period.text()).second) << one.period.text() << " twice";
      order.push_back(one.period.text());
    }
    return due.bill.size();
  }
};

TEST(Calendar, KeepsAnAnchorOfThe31stThroughShortMonths) {
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-01-31");
  const std::vector<std::string> starts = {"2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30",
                                           "2026-05-31", "2026-06-30", "2026-07-31", "2026-08-31",
                                           "2026-09-30", "2026-10-31", "2026-11-30", "2026-12-31",
                                           "2027-01-31", "2027-02-28", "2027-03-31"};
  for (std::size_t n = 0; n < starts.size(); ++n) {
    EXPECT_EQ(to_iso(monthly.interval(static_cast<std::int64_t>(n)).start),
              starts[n] + "T00:00:00.000Z");
    EXPECT_EQ(monthly.label(static_cast<std::int64_t>(n)).text(), starts[n].substr(0, 7));
  }
}

TEST(Calendar, BillsFourteenMonthsOfAnAnchorOfThe31stOnceEach) {
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-01-31");
  Biller biller{monthly, {}, 0, {}, {}};
  for (Timestamp now = at("2026-01-31T00:00:00Z"); now < at("2027-03-31T00:00:00Z");
       now = now.plus(std::chrono::hours{7})) {
    biller.bill(to_iso(now).c_str());
  }
  EXPECT_EQ(biller.order.size(), 14U);
  EXPECT_EQ(biller.order.front(), "2026-01");
  EXPECT_EQ(biller.order.back(), "2027-02");
}

TEST(Calendar, UsesTheLeapDay) {
  const Calendar yearly = calendar(PeriodGranularity::year, "2024-02-29");
  EXPECT_EQ(to_iso(yearly.interval(1).start), "2025-02-28T00:00:00.000Z");
  EXPECT_EQ(to_iso(yearly.interval(4).start), "2028-02-29T00:00:00.000Z");
}

TEST(Calendar, BillsOneWeekOnceThoughItsTicksFallOnTwoLocalDays) {
  const Calendar weekly = calendar(PeriodGranularity::week, "2026-05-23@Europe/Paris");
  Biller biller{weekly, {}, 1, {}, {}};
  EXPECT_EQ(biller.bill("2026-05-29T21:59:59Z"), 0U);
  EXPECT_EQ(biller.bill("2026-05-30T20:00:00Z"), 1U);
  EXPECT_EQ(biller.bill("2026-05-30T23:00:00Z"), 0U);
  EXPECT_EQ(biller.bill("2026-05-31T01:00:00Z"), 0U);
}

TEST(Calendar, EndsWhereDaylightSavingTimeMovesTheBorder) {
  // Created at 00:09 local time, monthly, in a zone that leaves summer time on 1 November.
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-10-01@America/Juneau");
  Biller biller{monthly, {}, 0, {}, {}};
  for (Timestamp now = at("2026-10-01T08:09:02Z"); now <= at("2026-12-01T08:09:02Z");
       now = now.plus(std::chrono::hours{1})) {
    biller.bill(to_iso(now).c_str());
  }
  EXPECT_EQ(biller.order, (std::vector<std::string>{"2026-10", "2026-11"}));
  EXPECT_EQ(biller.bill("2026-12-01T08:59:59Z"), 0U);
  EXPECT_EQ(biller.bill("2026-12-01T09:00:00Z"), 1U);
}

TEST(Calendar, GoesOnThroughTheHourThatComesTwice) {
  const Calendar daily = calendar(PeriodGranularity::day, "2026-10-24@Europe/Paris");
  Biller biller{daily, {}, 0, {}, {}};
  for (Timestamp now = at("2026-10-23T22:00:00Z"); now <= at("2026-10-26T23:00:00Z");
       now = now.plus(std::chrono::minutes{1})) {
    biller.bill(to_iso(now).c_str());
  }
  EXPECT_EQ(biller.order,
            (std::vector<std::string>{"2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27"}));
  EXPECT_EQ(daily.interval(1).end.ms - daily.interval(1).start.ms, 25 * 3'600'000);
}

TEST(Calendar, BeginsADayWithoutMidnightWhenItsClocksHaveGoneForward) {
  // Santiago goes from 24:00 on 5 September 2026 to 01:00 on the 6th.
  const Calendar daily = calendar(PeriodGranularity::day, "2026-09-05@America/Santiago");
  EXPECT_EQ(to_iso(daily.interval(0).end), "2026-09-06T04:00:00.000Z");
  EXPECT_EQ(to_iso(daily.interval(1).start), "2026-09-06T04:00:00.000Z");
  EXPECT_EQ(to_iso(daily.interval(1).end), "2026-09-07T03:00:00.000Z");
}

TEST(Calendar, CatchesUpOldestFirstAfterMonthsOfDowntime) {
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-01-01");
  Biller biller{monthly, {}, monthly.first_from(at("2026-08-01T00:00:00Z")), {}, {}};
  biller.bill("2026-08-31T00:00:00Z");
  biller.bill("2026-11-02T00:00:00Z");
  EXPECT_EQ(biller.order, (std::vector<std::string>{"2026-08", "2026-09", "2026-10", "2026-11"}));
}

TEST(Calendar, HoldsAllMissedPeriodsBeyondTheMost) {
  // A start ten years back, by a slip of the pen, is not billed for ten years.
  const Calendar monthly = calendar(PeriodGranularity::month, "2016-08-01");
  const Biller biller{monthly, {CatchUp::bill, 3}, 0, {}, {}};
  const DuePeriods due = biller.look(at("2026-08-20T00:00:00Z"));
  EXPECT_TRUE(due.too_many);
  EXPECT_EQ(due.held.size(), 120U);
  ASSERT_EQ(due.bill.size(), 1U);
  EXPECT_EQ(due.bill[0].period.text(), "2026-08");
  EXPECT_FALSE(due.bill[0].missed);
}

TEST(Calendar, HoldsOrSkipsMissedPeriodsWhereThePolicySaysSo) {
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-01-01");
  const Biller holds{monthly, {CatchUp::hold, 3}, 0, {}, {}};
  EXPECT_EQ(holds.look(at("2026-03-05T00:00:00Z")).held.size(), 2U);
  EXPECT_EQ(holds.look(at("2026-03-05T00:00:00Z")).bill.size(), 1U);
  const Biller skips{monthly, {CatchUp::skip, 3}, 0, {}, {}};
  const DuePeriods due = skips.look(at("2027-03-05T00:00:00Z"));
  EXPECT_EQ(due.skipped.size(), 14U);
  EXPECT_EQ(due.bill.size(), 1U);
  EXPECT_FALSE(due.too_many);
}

TEST(Calendar, AsksForNothingTwiceWhenTheClockIsSetBackAndForth) {
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-01-31@Pacific/Auckland");
  Biller biller{monthly, {CatchUp::bill, 12}, 0, {}, {}};
  for (const char* now : {"2026-03-15T00:00:00Z", "2026-02-01T00:00:00Z", "2026-05-02T00:00:00Z",
                          "2026-04-01T00:00:00Z", "2026-05-31T00:00:00Z"}) {
    biller.bill(now);
  }
  EXPECT_EQ(biller.order,
            (std::vector<std::string>{"2026-01", "2026-02", "2026-03", "2026-04", "2026-05"}));
}

TEST(Calendar, BillsNothingBeforeItsAnchorOrItsFloor) {
  const Calendar monthly = calendar(PeriodGranularity::month, "2026-09-15");
  const Biller early{monthly, {}, 0, {}, {}};
  EXPECT_TRUE(early.look(at("2026-09-14T23:59:59.999Z")).bill.empty());
  EXPECT_EQ(early.look(at("2026-09-15T00:00:00Z")).bill.size(), 1U);
  const Biller later{monthly, {}, 2, {}, {}};
  EXPECT_TRUE(later.look(at("2026-11-14T00:00:00Z")).bill.empty());
}

TEST(Calendar, RefusesAnchorsThatDoNotExist) {
  const TimeZone utc = *TimeZone::find("UTC");
  for (const char* text : {"2026-02-30", "2026-8-01", "2026-08", "", "0", "32", "2026-08-01@",
                           "2026-08-01@Mars/Base", "2026-08-01@../../etc/passwd"}) {
    const auto anchor = parse_anchor(text, utc);
    ASSERT_FALSE(anchor.has_value()) << text;
    EXPECT_EQ(anchor.error().code, ErrorCode::invalid_argument) << text;
  }
  EXPECT_EQ(parse_anchor("2026-08-01", utc)->zone, utc);
}

/// Every granularity, awkward anchors, zones with folds and gaps at midnight and dates of their
/// own.
TEST(Calendar, TilesTimeWithoutGapOrOverlapInEveryZone) {
  const std::vector<const char*> zones = {
      "UTC",          "Europe/Paris", "America/Juneau",     "America/Santiago", "Asia/Kathmandu",
      "Pacific/Apia", "Africa/Cairo", "Australia/Lord_Howe"};
  for (const char* zone : zones) {
    for (const char* day : {"2023-01-29", "2023-01-30", "2023-01-31", "2024-02-29", "2026-12-31"}) {
      for (const auto granularity :
           {PeriodGranularity::year, PeriodGranularity::quarter, PeriodGranularity::month,
            PeriodGranularity::week, PeriodGranularity::day}) {
        const Calendar of = calendar(granularity, (std::string{day} + "@" + zone).c_str());
        std::set<std::string> labels;
        Timestamp end = of.interval(0).start;
        EXPECT_FALSE(of.number_at(end.plus(std::chrono::milliseconds{-1})).has_value());
        for (std::int64_t n = 0; n < 40; ++n) {
          const Interval interval = of.interval(n);
          ASSERT_EQ(interval.start, end) << zone << ' ' << day << ' ' << n;
          ASSERT_LT(interval.start, interval.end);
          ASSERT_EQ(of.number_at(interval.start), n);
          ASSERT_EQ(of.number_at(interval.end.plus(std::chrono::milliseconds{-1})), n);
          ASSERT_EQ(of.first_from(interval.start), n);
          ASSERT_EQ(of.first_from(interval.start.plus(std::chrono::milliseconds{1})), n + 1);
          const BillingPeriod label = of.label(n);
          ASSERT_TRUE(labels.insert(label.text()).second) << label.text();
          ASSERT_EQ(of.number_of(label), n);
          end = interval.end;
        }
      }
    }
  }
}

}  // namespace
}  // namespace onceward::billing
