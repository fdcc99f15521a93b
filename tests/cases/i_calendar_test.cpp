// Section I: time and calendar. One flow each: no request differs by the flow.
#include "tests/cases/bodies.hpp"
#include "tests/cases/calendar_driver.hpp"

namespace onceward::cases {

namespace {

using Periods = std::vector<std::string>;

int charges(CaseWorld& world) {
  return static_cast<int>(world.port().provider().ledger().rows().size());
}

}  // namespace

// Two ticks of one UTC day fall on two days of Paris.
void r79_two_days_of_paris(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2026-05-30T19:00:00Z"));
  CalendarDriver driver(world, "cus_i1", PeriodGranularity::week, "2026-05-23@Europe/Paris", 1);
  driver.tick_at("2026-05-30T20:00:00Z");
  driver.tick_at("2026-05-30T23:00:00Z");
  driver.tick_at("2026-05-31T01:00:00Z");
  EXPECT_EQ(driver.billed().size(), 1U);
  EXPECT_EQ(charges(world), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R79_TwoDaysOfParis) {
  in_two_steps(r79_two_days_of_paris);
}

// Anchored on the 31st: the clamped day of a short month is not the anchor of the next.
void r81_anchor_on_the_31st(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2026-01-31T00:00:00Z"));
  CalendarDriver driver(world, "cus_i3", PeriodGranularity::month, "2026-01-31", 0);
  Periods begins;
  for (int day = 0; day < 14 * 31 && driver.billed().size() < 14; ++day) {
    const auto due = driver.tick();
    for (const auto& one : due.bill) begins.push_back(to_iso(one.interval.start).substr(0, 10));
    world.run_until(Timestamp{utc("2026-01-31T00:00:00Z").ms + (day + 1) * 86'400'000LL});
  }
  EXPECT_EQ(begins, (Periods{"2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31",
                             "2026-06-30", "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31",
                             "2026-11-30", "2026-12-31", "2027-01-31", "2027-02-28"}));
  for (const auto& period : driver.billed()) EXPECT_EQ(world.L("cus_i3", period), 1) << period;
  EXPECT_EQ(charges(world), 14);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R81_AnchorOnThe31st) {
  in_two_steps(r81_anchor_on_the_31st);
}

// Periods tile: neither 28 February nor 28 March meets the other's bounds.
void r83_periods_tile(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2027-01-31T06:00:00Z"));
  CalendarDriver driver(world, "cus_i5", PeriodGranularity::month, "2026-01-31", 12);
  for (std::int64_t n = 0; n < 36; ++n) {
    EXPECT_EQ(driver.calendar().interval(n).end, driver.calendar().interval(n + 1).start) << n;
  }
  EXPECT_EQ(driver.calendar().interval(12).start, utc("2027-01-31T00:00:00Z"));
  EXPECT_EQ(driver.calendar().interval(12).end, utc("2027-02-28T00:00:00Z"));
  EXPECT_EQ(driver.calendar().interval(13).end, utc("2027-03-31T00:00:00Z"));
  (void)driver.tick();
  driver.tick_at("2027-02-28T00:00:00Z");
  driver.tick_at("2027-03-28T00:00:00Z");
  EXPECT_EQ(driver.billed(), (Periods{"2027-01", "2027-02"}));
  driver.tick_at("2027-03-31T00:00:00Z");
  EXPECT_EQ(driver.billed(), (Periods{"2027-01", "2027-02", "2027-03"}));
  EXPECT_EQ(charges(world), 3);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R83_PeriodsTile) {
  in_two_steps(r83_periods_tile);
}

// A tick each minute over the hour that comes twice.
void r85_hour_that_comes_twice(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2026-10-25T00:30:00Z"));
  CalendarDriver driver(world, "cus_i7", PeriodGranularity::day, "2026-10-25@Europe/Paris", 0);
  world.faults({R"("kind":"drop_before","match":{"money":true},"count":2)"});
  for (int minute = 0; minute <= 120; ++minute) {
    world.run_until(Timestamp{utc("2026-10-25T00:30:00Z").ms + minute * 60'000LL});
    (void)driver.tick();
  }
  EXPECT_EQ(driver.billed(), (Periods{"2026-10-25"}));
  EXPECT_EQ(world.status("cus_i7", "2026-10-25"), Status::completed) << "the clock stood still";
  const auto day = driver.calendar().interval(0);
  EXPECT_EQ(day.end.ms - day.start.ms, 25 * 3'600'000);
  EXPECT_EQ(charges(world), 1);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R85_HourThatComesTwice) {
  in_two_steps(r85_hour_that_comes_twice);
}

// The offset at creation is not the offset after the change of the clocks.
void r87_offset_of_creation(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2026-10-01T08:09:02Z"));
  CalendarDriver driver(world, "cus_i9", PeriodGranularity::month, "2026-10-01@America/Juneau", 0);
  for (int hour = 0; world.now() < utc("2026-12-01T08:00:00Z"); ++hour) {
    (void)driver.tick();
    world.run_until(Timestamp{utc("2026-10-01T08:09:02Z").ms + (hour + 1) * 3'600'000LL});
  }
  driver.tick_at("2026-12-01T08:09:02Z");
  EXPECT_EQ(driver.billed(), (Periods{"2026-10", "2026-11"}));
  driver.tick_at("2026-12-01T08:59:58Z");
  EXPECT_EQ(driver.billed().size(), 2U);
  driver.tick_at("2026-12-01T09:00:00Z");
  EXPECT_EQ(driver.billed(), (Periods{"2026-10", "2026-11", "2026-12"}));
  EXPECT_EQ(charges(world), 3);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R87_OffsetOfCreation) {
  in_two_steps(r87_offset_of_creation);
}

}  // namespace onceward::cases
