// migrate plan, up: the schema of a stopped store.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include <boost/json.hpp>

#include <onceward/journal/sqlite_migration.hpp>

#include "app/verbs/client_verbs.hpp"
#include "app/verbs/report.hpp"
#include "app/verbs/store_verbs.hpp"

namespace onceward::app {

namespace {

namespace json = boost::json;

void print(const Source& source, const journal::MigrationPlan& plan, bool is_done) {
  if (source.json) {
    json::array steps;
    for (const auto& step : plan.steps) {
      steps.push_back(json::object{{"to", step.to}, {"what", step.what}});
    }
    std::printf("%s\n", json::serialize(json::object{{"version", plan.version},
                                                     {"newest", plan.newest},
                                                     {"steps", std::move(steps)},
                                                     {"done", is_done}})
                            .c_str());
    return;
  }
  std::printf("schema version %lld, newest %lld\n", static_cast<long long>(plan.version),
              static_cast<long long>(plan.newest));
  if (plan.steps.empty()) std::printf("nothing to do\n");
  for (const auto& step : plan.steps) {
    std::printf("%s to %lld: %s\n", is_done ? "done" : "step", static_cast<long long>(step.to),
                step.what.c_str());
  }
}

/// Only a person at a terminal is asked; a script has decided already.
bool is_agreed(const MigrateOptions& options, const journal::MigrationPlan& plan) {
  if (options.is_confirmed || plan.steps.empty() || isatty(STDIN_FILENO) == 0) return true;
  std::fprintf(stderr, "%zu steps; there is no way back but a backup. Go on? [y/N] ",
               plan.steps.size());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

}  // namespace

ExitCode migrate_plan(const Source& source) {
  const auto path = store_path_of(source);
  if (!path) return report(path.error());
  const auto plan = journal::plan_migration(path->string());
  if (!plan) return report(plan.error());
  print(source, *plan, false);
  if (!source.json && !plan->steps.empty()) {
    std::fputs("next: stop the node, make a backup, run `onceward migrate up`\n", stderr);
  }
  return ExitCode::ok;
}

ExitCode migrate_up(const Source& source, const MigrateOptions& options) {
  const auto path = store_path_of(source);
  if (!path) return report(path.error());
  const auto plan = journal::plan_migration(path->string());
  if (!plan) return report(plan.error());
  if (!options.is_dry_run && !is_agreed(options, *plan)) {
    std::fputs("nothing was changed\n", stderr);
    return ExitCode::failed;
  }
  const auto done = journal::migrate_store(path->string(), options.is_dry_run);
  if (!done) return report(done.error());
  print(source, *done, !options.is_dry_run && !done->steps.empty());
  if (options.is_dry_run) {
    std::fputs("dry run: all steps succeeded and were rolled back\n", stderr);
  } else if (!done->steps.empty()) {
    std::fputs("next: `onceward journal verify`, then start the node\n", stderr);
  }
  return ExitCode::ok;
}

}  // namespace onceward::app
