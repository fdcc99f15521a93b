// The shortest failing schedule: all smaller bounds that hold only kinds of fault of the failure,
// from the smallest on, run exhaustively; then single faults are dropped.
#include <algorithm>
#include <utility>

#include <onceward/harness/explore.hpp>

namespace onceward::harness {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Answered {
  std::string label;
  int answer = 0;
};

class Recorder final : public Chooser {
 public:
  explicit Recorder(const Choices& choices) : inner_(choices) {}
  int choose(const char* label, int options) override {
    const int answer = inner_.choose(label, options);
    answers.push_back({label, answer});
    return answer;
  }
  std::vector<Answered> answers;

 private:
  RecordedChooser inner_;
};

// A world with larger budgets asks more questions. What the smaller one was asked is answered as
// there, in order; everything else with 0.
class Translator final : public Chooser {
 public:
  explicit Translator(std::vector<Answered> answers) : answers_(std::move(answers)) {}
  int choose(const char* label, int options) override {
    int answer = 0;
    if (at_ < answers_.size() && answers_[at_].label == label) answer = answers_[at_++].answer;
    choices.push_back(answer < options ? answer : 0);
    return choices.back();
  }
  Choices choices;

 private:
  std::vector<Answered> answers_;
  std::size_t at_ = 0;
};

constexpr int FaultBudget::*kinds[] = {&FaultBudget::crashes,         &FaultBudget::ambiguities,
                                       &FaultBudget::duplicates,      &FaultBudget::lost_replies,
                                       &FaultBudget::provider_faults, &FaultBudget::takeovers,
                                       &FaultBudget::switches,        &FaultBudget::permit_waits};

int total_of(const FaultBudget& budget) {
  int total = 0;
  for (const auto kind : kinds) total += budget.*kind;
  return total;
}

// All bounds below `most` in every kind, smallest total first.
std::vector<FaultBudget> smaller_bounds(const FaultBudget& most) {
  constexpr std::size_t bounds_max = 512;
  FaultBudget none = most;
  for (const auto kind : kinds) none.*kind = 0;
  std::vector<FaultBudget> bounds = {none};
  for (const auto kind : kinds) {
    const std::size_t before = bounds.size();
    for (int n = 1; n <= most.*kind && bounds.size() < bounds_max; ++n) {
      for (std::size_t i = 0; i < before; ++i) {
        FaultBudget more = bounds[i];
        more.*kind = n;
        bounds.push_back(more);
      }
    }
  }
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const auto& a, const auto& b) { return total_of(a) < total_of(b); });
  return bounds;
}

bool fails(const Scenario& scenario, const Choices& choices, const Failure& failure) {
  RecordedChooser chooser(choices);
  World world(scenario, chooser);
  world.run();
  return world.violation() && world.violation()->invariant == failure.violation.invariant;
}

FaultBudget used_by(const Scenario& scenario, const Choices& choices) {
  const Counts used = replay(scenario, choices).counts;
  FaultBudget budget = scenario.faults;
  budget.crashes = static_cast<int>(used.crashes);
  budget.ambiguities = static_cast<int>(used.ambiguities);
  budget.duplicates = static_cast<int>(used.duplicates);
  budget.lost_replies = static_cast<int>(used.lost_replies);
  budget.provider_faults = static_cast<int>(used.provider_faults);
  budget.takeovers = static_cast<int>(used.takeovers);
  budget.switches = static_cast<int>(used.switches);
  budget.permit_waits = static_cast<int>(used.permit_waits);
  return budget;
}

Choices translated(const Scenario& from, const Choices& choices, const Scenario& to) {
  Recorder recorder(choices);
  World(from, recorder).run();
  Translator translator(std::move(recorder.answers));
  World(to, translator).run();
  return translator.choices;
}

}  // namespace

Failure shrink(const Scenario& scenario, const Failure& failure,
               std::chrono::milliseconds time_max) {
  const auto end = SteadyClock::now() + time_max;
  Failure best = failure;
  Scenario small = scenario;
  small.sometimes.clear();
  for (const FaultBudget& bound : smaller_bounds(used_by(scenario, failure.choices))) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - SteadyClock::now());
    if (left.count() <= 0) break;
    small.faults = bound;
    ExploreOptions options;
    options.time_max = left;
    const Report report = explore(small, options);
    if (!report.failure || report.failure->violation.invariant != failure.violation.invariant) {
      continue;
    }
    Choices choices = translated(small, report.failure->choices, scenario);
    if (!fails(scenario, choices, failure)) continue;
    best.choices = std::move(choices);
    break;
  }
  for (std::size_t i = best.choices.size(); i-- > 0 && SteadyClock::now() < end;) {
    for (int lower = 0; lower < best.choices[i]; ++lower) {
      Choices tried = best.choices;
      tried[i] = lower;
      if (!fails(scenario, tried, failure)) continue;
      best.choices = std::move(tried);
      break;
    }
  }
  while (!best.choices.empty() && best.choices.back() == 0) best.choices.pop_back();
  const Replay last = replay(scenario, best.choices);
  if (last.violation) best.violation = *last.violation;
  if (best.choices != failure.choices) best.seed.reset();
  return best;
}

}  // namespace onceward::harness
