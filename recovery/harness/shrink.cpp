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

// A world with larger bounds asks more questions. What the smaller one was asked is answered as
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

constexpr int FaultBounds::*kinds[] = {&FaultBounds::crashes,         &FaultBounds::ambiguities,
                                       &FaultBounds::duplicates,      &FaultBounds::lost_replies,
                                       &FaultBounds::provider_faults, &FaultBounds::takeovers,
                                       &FaultBounds::switches,        &FaultBounds::permit_waits};

int total_of(const FaultBounds& bound) {
  int total = 0;
  for (const auto kind : kinds) total += bound.*kind;
  return total;
}

// All bounds below `most` in every kind, smallest total first.
std::vector<FaultBounds> smaller_bounds(const FaultBounds& most) {
  constexpr std::size_t bounds_max = 512;
  FaultBounds none = most;
  for (const auto kind : kinds) none.*kind = 0;
  std::vector<FaultBounds> bounds = {none};
  for (const auto kind : kinds) {
    const std::size_t before = bounds.size();
    for (int n = 1; n <= most.*kind && bounds.size() < bounds_max; ++n) {
      for (std::size_t i = 0; i < before; ++i) {
        FaultBounds more = bounds[i];
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

FaultBounds used_by(const Scenario& scenario, const Choices& choices) {
  const Counts used = replay(scenario, choices).counts;
  FaultBounds bound = scenario.faults;
  bound.crashes = static_cast<int>(used.crashes);
  bound.ambiguities = static_cast<int>(used.ambiguities);
  bound.duplicates = static_cast<int>(used.duplicates);
  bound.lost_replies = static_cast<int>(used.lost_replies);
  bound.provider_faults = static_cast<int>(used.provider_faults);
  bound.takeovers = static_cast<int>(used.takeovers);
  bound.switches = static_cast<int>(used.switches);
  bound.permit_waits = static_cast<int>(used.permit_waits);
  return bound;
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
  for (const FaultBounds& bound : smaller_bounds(used_by(scenario, failure.choices))) {
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
