// Section E, the rows about periods that went by while nobody billed.
#include "tests/cases/bodies.hpp"
#include "tests/cases/calendar_driver.hpp"

namespace onceward::cases {

namespace {

using Periods = std::vector<std::string>;

}  // namespace

// The runtime was down over two due dates. A period is due when it begins, so October is, too.
void r35_down_over_two_periods(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2026-07-31T12:00:00Z"));
  CalendarDriver driver(world, "cus_e1", PeriodGranularity::month, "2026-07-01", 0);
  (void)driver.tick();
  world.kill();
  world.run_until(utc("2026-10-02T00:00:00Z"));
  world.start();
  (void)driver.tick();
  EXPECT_EQ(driver.billed(), (Periods{"2026-07", "2026-08", "2026-09", "2026-10"}));
  for (const auto& period : driver.billed()) EXPECT_EQ(world.L("cus_e1", period), 1) << period;
  EXPECT_TRUE(driver.tick().bill.empty());
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R35_DownOverTwoPeriods) {
  in_both_flows(r35_down_over_two_periods);
}

// Off for five days: what was due is billed on return, or an operator sees it; it is not skipped.
void r39_off_for_days(const CaseSetup& setup) {
  for (const CatchUp missed : {CatchUp::bill, CatchUp::hold}) {
    CaseWorld world(setup.options_from("2026-08-29T12:00:00Z"));
    CalendarDriver monthly(world, "cus_e4", PeriodGranularity::month, "2026-08-01", 0);
    CalendarDriver daily(world, "cus_e4d", PeriodGranularity::day, "2026-08-29", 0,
                         CatchUpPolicy{missed, 10});
    (void)monthly.tick();
    (void)daily.tick();
    world.kill();
    world.run_until(utc("2026-09-03T12:00:00Z"));
    world.start();
    (void)monthly.tick();
    const auto due = daily.tick();
    EXPECT_EQ(monthly.billed(), (Periods{"2026-08", "2026-09"}));
    EXPECT_EQ(world.L("cus_e4", "2026-09"), 1);
    const Periods gap{"2026-08-30", "2026-08-31", "2026-09-01", "2026-09-02"};
    const bool bills = missed == CatchUp::bill;
    EXPECT_EQ(due.bill.size(), bills ? 5U : 1U);
    EXPECT_EQ(due.held.size(), bills ? 0U : 4U);
    EXPECT_TRUE(due.skipped.empty());
    for (const auto& day : gap) EXPECT_EQ(world.L("cus_e4d", day), bills ? 1 : 0) << day;
    EXPECT_EQ(world.L("cus_e4d", "2026-09-03"), 1);
    EXPECT_EQ(world.audit(), "");
  }
}
TEST(Cases, R39_OffForDays) {
  in_both_flows(r39_off_for_days);
}

// A start date that is ten years off by a typing error.
void r43_wrong_start_date(const CaseSetup& setup) {
  CaseWorld world(setup.options_from("2026-08-20T00:00:00Z"));
  world.set_limit("2026-08", 20'000);
  CalendarDriver driver(world, "cus_e9", PeriodGranularity::month, "2016-08-01", 0);
  for (int day = 0; day < 5; ++day) {
    const auto due = driver.tick();
    EXPECT_TRUE(due.too_many) << "an operator must see it";
    EXPECT_EQ(due.held.size(), 120U);
    world.run_for(24h);
  }
  EXPECT_EQ(driver.billed(), (Periods{"2026-08"})) << "the present period only";
  EXPECT_EQ(world.port().provider().ledger().rows().size(), 1U);
  EXPECT_EQ(world.status("cus_e9", "2026-08"), Status::completed) << "the cap was not hit";
  // And what is before a customer was first seen is nobody's to bill without approval.
  EXPECT_EQ(driver.calendar().first_from(utc("2026-08-20T00:00:00Z")), 121);
  EXPECT_EQ(world.audit(), "");
}
TEST(Cases, R43_WrongStartDate) {
  in_both_flows(r43_wrong_start_date);
}

}  // namespace onceward::cases
