// Which scenarios run under which engine, and what their verdicts mean for the exit code.
#include "app/verbs/harness.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <vector>

#include <onceward/harness/billing_scenarios.hpp>

#include "app/verbs/harness_output.hpp"
#include "app/verbs/report.hpp"

namespace onceward::app {

using harness::Report;
using harness::ReportEntry;
using harness::Scenario;
using ingress::ExitCode;

namespace {

constexpr ExitCode incomplete = ExitCode::incomplete;

Result<harness::SeedRange> parse_seeds(const std::string& text) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    return whole && !digits.empty() ? std::optional(value) : std::nullopt;
  };
  const auto dots = text.find("..");
  const auto first = number(dots == std::string::npos ? "1" : text.substr(0, dots));
  const auto last = number(dots == std::string::npos ? text : text.substr(dots + 2));
  if (!first || !last || *last < *first) {
    return fail(ErrorCode::invalid_argument, "--seeds takes a count or A..B, got `" + text + "`");
  }
  return harness::SeedRange{*first, *last - *first + 1, false};
}

// Exhaustive scenarios first, then the random ones, whose names begin with `random-`.
Result<std::vector<Scenario>> chosen(const HarnessOptions& options) {
  auto all = harness::billing_scenarios(options.deep, options.without);
  if (!all) return all;
  for (const auto flow : {billing::Flow::payment_intents, billing::Flow::charges}) {
    all->push_back(harness::random_billing_scenario(flow, options.without));
  }
  if (options.scenario == "all") return all;
  std::string names;
  for (const auto& scenario : *all) {
    if (scenario.name == options.scenario) return std::vector<Scenario>{scenario};
    names += (names.empty() ? "" : ", ") + scenario.name;
  }
  return fail(ErrorCode::invalid_argument,
              "no scenario `" + options.scenario + "`; there are all, " + names);
}

bool is_random(const Scenario& scenario) {
  return scenario.name.rfind("random-", 0) == 0;
}

std::string extra_of(const HarnessOptions& options) {
  std::string extra = options.without.empty() ? "" : "--without " + options.without;
  if (options.deep) extra += (extra.empty() ? "" : " ") + std::string("--long");
  return extra;
}

// One line on a terminal, else one line per 10 s.
harness::ExploreOptions watched(const Scenario& scenario, std::int64_t seconds) {
  harness::ExploreOptions options;
  options.time_max = std::chrono::seconds{seconds};
  const bool is_terminal = isatty(STDERR_FILENO) == 1;
  options.progress = [name = scenario.name, is_terminal, told = 0.0](const Report& r) mutable {
    if (!is_terminal && r.seconds - told < 10) return;
    told = r.seconds;
    std::fprintf(stderr,
                 is_terminal ? "\r%s: %llu schedules, %.0f s " : "%s: %llu schedules, %.0f s\n",
                 name.c_str(), static_cast<unsigned long long>(r.schedules), r.seconds);
  };
  return options;
}

ReportEntry run_one(const Scenario& scenario, const HarnessOptions& options,
                    const harness::SeedRange& seeds) {
  ReportEntry entry;
  entry.says = scenario.says;
  const auto explore = watched(scenario, options.seconds);
  const bool random = is_random(scenario) || (!options.seeds.empty() && !options.exhaustive);
  entry.report =
      random ? harness::run_seeds(scenario, seeds, explore) : harness::explore(scenario, explore);
  if (isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
  if (entry.report.failure) {
    entry.report.failure = harness::shrink(scenario, *entry.report.failure);
    entry.failed = harness::replay(scenario, entry.report.failure->choices);
    entry.command =
        harness::replay_command(scenario.name, *entry.report.failure, extra_of(options));
  }
  return entry;
}

ExitCode exit_of(const std::vector<ReportEntry>& entries) {
  ExitCode exit = ExitCode::ok;
  for (const auto& entry : entries) {
    const Report& r = entry.report;
    if (!r.non_deterministic.empty()) return ExitCode::non_deterministic;
    if (r.failure) exit = ExitCode::failed;
    if (exit == ExitCode::ok && (!r.complete || !r.holds())) exit = incomplete;
  }
  return exit;
}

ExitCode write_files(const HarnessOptions& options, const std::vector<ReportEntry>& entries,
                     ExitCode exit) {
  const std::pair<const std::string&, std::string> files[] = {
      {options.json_file, to_json(entries)},
      {options.junit_file, to_junit(entries)},
      {options.report_file, harness::to_html(entries, "onceward harness")}};
  for (const auto& [file, text] : files) {
    if (file.empty()) continue;
    const auto written = write_text(file, text);
    if (!written) return report(written.error());
  }
  return exit;
}

// The failure that --choices or --seed names.
Result<harness::Choices> choices_of(const HarnessOptions& options, const Scenario& scenario) {
  if (options.seed >= 0) {
    return harness::choices_of(scenario, static_cast<std::uint64_t>(options.seed));
  }
  if (options.choices.empty()) {
    return fail(ErrorCode::invalid_argument, "name the schedule: --seed N or --choices TEXT");
  }
  return harness::parse_choices(options.choices);
}

}  // namespace

ExitCode harness_run(const HarnessOptions& options) {
  const auto scenarios = chosen(options);
  if (!scenarios) return report(scenarios.error());
  const auto seeds = parse_seeds(options.seeds.empty() ? "2000" : options.seeds);
  if (!seeds) return report(seeds.error());
  std::vector<ReportEntry> entries;
  for (const auto& scenario : *scenarios) {
    const bool skipped = options.scenario == "all" &&
                         ((is_random(scenario) && options.exhaustive) ||
                          (!is_random(scenario) && !options.seeds.empty() && !options.exhaustive));
    if (skipped) continue;
    entries.push_back(run_one(scenario, options, *seeds));
    if (options.json_file != "-") print_entry(entries.back());
    std::fflush(stdout);
  }
  return write_files(options, entries, exit_of(entries));
}

ExitCode harness_replay(const HarnessOptions& options, bool explains) {
  const auto scenarios = chosen(options);
  if (!scenarios) return report(scenarios.error());
  if (scenarios->size() != 1) {
    return report({ErrorCode::invalid_argument, "name one scenario: --scenario NAME"});
  }
  const auto choices = choices_of(options, scenarios->front());
  if (!choices) return report(choices.error());
  const auto replayed = harness::replay(scenarios->front(), *choices);
  if (replayed.violation || explains) {
    std::fputs(harness::to_text(replayed).c_str(), stdout);
  } else {
    std::printf("every invariant holds\n");
  }
  return replayed.violation ? ExitCode::failed : ExitCode::ok;
}

ExitCode harness_shrink(const HarnessOptions& options) {
  const auto scenarios = chosen(options);
  if (!scenarios) return report(scenarios.error());
  if (scenarios->size() != 1) {
    return report({ErrorCode::invalid_argument, "name one scenario: --scenario NAME"});
  }
  const Scenario& scenario = scenarios->front();
  const auto choices = choices_of(options, scenario);
  if (!choices) return report(choices.error());
  const auto replayed = harness::replay(scenario, *choices);
  if (!replayed.violation) {
    std::printf("every invariant holds: nothing to shrink\n");
    return ExitCode::ok;
  }
  const auto small = harness::shrink(scenario, {*replayed.violation, *choices, std::nullopt});
  std::printf("%s\n", harness::replay_command(scenario.name, small, extra_of(options)).c_str());
  return ExitCode::failed;
}

ExitCode harness_mutants(const HarnessOptions& options) {
  int missed = 0;
  for (const auto guard : harness::guard_names) {
    HarnessOptions one = options;
    one.without = std::string(guard);
    const auto scenarios = chosen(one);
    if (!scenarios) return report(scenarios.error());
    std::optional<ReportEntry> caught;
    for (const auto& scenario : *scenarios) {
      auto entry = run_one(scenario, one, harness::SeedRange{1, 2'000, false});
      if (!entry.report.failure) continue;
      const bool shorter = !caught || harness::fault_count(entry.report.failure->choices) <
                                          harness::fault_count(caught->report.failure->choices);
      if (shorter) caught = std::move(entry);
      break;
    }
    if (!caught) ++missed;
    std::printf("without %-16s %s\n", std::string(guard).c_str(),
                caught ? ("caught by " + caught->report.failure->violation.invariant + ", " +
                          std::to_string(harness::fault_count(caught->report.failure->choices)) +
                          " choices\n    " + caught->command)
                             .c_str()
                       : "NOT MISSED: no oracle notices");
    std::fflush(stdout);
  }
  return missed == 0 ? ExitCode::ok : ExitCode::failed;
}

ExitCode harness_bench(const HarnessOptions& options) {
  HarnessOptions bounded = options;
  bounded.seconds = options.seconds == 0 ? 10 : options.seconds;
  const auto scenarios = chosen(bounded);
  if (!scenarios) return report(scenarios.error());
  for (const auto& scenario : *scenarios) {
    const auto entry = run_one(scenario, bounded, harness::SeedRange{1, 1'000'000'000, false});
    print_entry(entry);
  }
  return ExitCode::ok;
}

ExitCode harness_list(const HarnessOptions& options) {
  const auto scenarios = chosen(options);
  if (!scenarios) return report(scenarios.error());
  for (const auto& scenario : *scenarios) {
    std::printf("%-22s %s\n%-22s up to %s\n", scenario.name.c_str(), scenario.says.c_str(), "",
                harness::to_text(scenario.faults).c_str());
  }
  return ExitCode::ok;
}

}  // namespace onceward::app
