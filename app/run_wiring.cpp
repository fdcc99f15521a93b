// One cycle per node: its name follows the configured granularity.
#include "app/run_wiring.hpp"

#include <string>

namespace onceward::app {

namespace {

std::string cycle_name(PeriodGranularity granularity) {
  switch (granularity) {
    case PeriodGranularity::year:
      return "yearly";
    case PeriodGranularity::quarter:
      return "quarterly";
    case PeriodGranularity::month:
      return "monthly";
    case PeriodGranularity::week:
      return "weekly";
    case PeriodGranularity::day:
      return "daily";
  }
  return "monthly";
}

}  // namespace

Result<std::unique_ptr<ingress::RunService>> make_run_service(const Config& config,
                                                              journal::SqliteJournal& journal,
                                                              const Clock& clock) {
  ingress::RunServiceOptions options;
  options.cycle = cycle_name(config.schedule.cycle);
  options.customers_path = config.schedule.customers.string();
  options.scheduler.window = config.schedule.window;
  options.scheduler.cap_mode = config.spend_cap.mode;
  options.scheduler.cap_factor = {config.spend_cap.factor.basis_points, 10'000};
  options.scheduler.allow_future = config.schedule.allow_future;
  return ingress::RunService::create(
      std::move(options),
      ingress::RunServicePorts{journal, [&journal] { return journal.plan_store(); }, clock});
}

}  // namespace onceward::app
