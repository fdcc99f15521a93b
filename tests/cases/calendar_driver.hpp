// CalendarDriver: plays what a scheduler does at each tick for one customer: the periods that are
// due by his calendar and have no obligation are billed, oldest first.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <onceward/billing/calendar.hpp>

#include "tests/cases/case_run.hpp"

namespace onceward::cases {

class CalendarDriver {
 public:
  /// `anchor` as in customer sources: `2026-01-31@Europe/Paris`. Billing begins with period number
  /// `floor`. Borrows the world.
  CalendarDriver(CaseWorld& world, std::string customer, PeriodGranularity granularity,
                 std::string_view anchor, std::int64_t floor, CatchUpPolicy policy = {})
      : world_(world),
        customer_(std::move(customer)),
        calendar_(granularity, *parse_anchor(anchor, *TimeZone::find("UTC"))),
        floor_(floor),
        policy_(policy) {}

  DuePeriods tick() {
    auto due = due_periods(calendar_, floor_, world_.now(), policy_, [&](const BillingPeriod& p) {
      return world_.row(CaseWorld::key_of(customer_, p.text())).has_value();
    });
    for (const auto& one : due.bill) {
      billed_.push_back(one.period.text());
      (void)world_.bill(customer_, one.period.text());
    }
    world_.run_for(1s);
    return due;
  }
  void tick_at(std::string_view time) {
    world_.run_until(utc(time));
    (void)tick();
  }

  [[nodiscard]] const Calendar& calendar() const { return calendar_; }
  /// Every bill sent, in its order.
  [[nodiscard]] const std::vector<std::string>& billed() const { return billed_; }

 private:
  CaseWorld& world_;
  std::string customer_;
  Calendar calendar_;
  std::int64_t floor_;
  CatchUpPolicy policy_;
  std::vector<std::string> billed_;
};

}  // namespace onceward::cases
