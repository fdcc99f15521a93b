// The exhaustive engine: an odometer over all answers. Where no process holds anything in memory it
// keeps an image to go on from, and remembers what was fully run to cut what would only repeat it.
#include <onceward/harness/explore.hpp>

#include <algorithm>
#include <ctime>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

namespace onceward::harness {
namespace {

using SteadyClock = std::chrono::steady_clock;

double cpu_now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Digit {
  const char* label = nullptr;
  int value = 0;
  int options = 0;
};

class Odometer final : public Chooser {
 public:
  explicit Odometer(bool prunes) : prunes_(prunes) {}

  int choose(const char* label, int options) override {
    if (at_ == digits_.size()) digits_.push_back({label, 0, options});
    ONCEWARD_CHECK(digits_[at_].options == options, "a schedule is replayed without divergence");
    return digits_[at_++].value;
  }

  bool was_here(std::uint64_t state, const World& world) override {
    const bool open = std::any_of(frames_.begin(), frames_.end(),
                                  [this](const Frame& frame) { return frame.depth == at_; });
    if (open) return false;  // on the way to the schedule's own part
    const auto found = prunes_ ? done_.find(state) : done_.end();
    if (found != done_.end()) {
      schedules += found->second;
      return true;
    }
    Frame frame{at_, state, schedules, nullptr};
    if (world.remembers_nothing()) frame.image = std::make_shared<const Remains>(world.remains());
    frames_.push_back(std::move(frame));
    return false;
  }

  /// Where the next schedule may start: the newest image of its beginning, or null.
  const Remains* begin() {
    at_ = 0;
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (!frame->image) continue;
      at_ = frame->depth;
      return frame->image.get();
    }
    return nullptr;
  }

  /// Moves to the next schedule; false when all were run.
  bool next() {
    digits_.resize(at_);
    while (!digits_.empty() && digits_.back().value + 1 == digits_.back().options) {
      digits_.pop_back();
    }
    const bool more = !digits_.empty();
    if (more) ++digits_.back().value;
    while (!frames_.empty() && (!more || frames_.back().depth >= digits_.size())) {
      if (prunes_) done_[frames_.back().state] = schedules - frames_.back().schedules_before;
      ++states;
      frames_.pop_back();
    }
    return more;
  }

  [[nodiscard]] Choices choices() const {
    Choices choices;
    for (std::size_t i = 0; i < at_; ++i) choices.push_back(digits_[i].value);
    return choices;
  }

  std::uint64_t schedules = 0;
  std::uint64_t states = 0;

 private:
  struct Frame {
    std::size_t depth = 0;  // questions asked before it
    std::uint64_t state = 0;
    std::uint64_t schedules_before = 0;
    std::shared_ptr<const Remains> image;
  };

  bool prunes_;
  std::vector<Digit> digits_;
  std::size_t at_ = 0;
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, std::uint64_t> done_;  // state: schedules that begin in it
};

class Watch {
 public:
  Watch(Report& report, const ExploreOptions& options)
      : report_(report), options_(options), begin_(SteadyClock::now()) {}

  /// False when the time is over.
  bool tick() {
    if (++ticks_ % 64 != 0) return true;
    const auto now = SteadyClock::now();
    report_.seconds = std::chrono::duration<double>(now - begin_).count();
    if (options_.progress && now - told_ > std::chrono::milliseconds{100}) {
      told_ = now;
      options_.progress(report_);
    }
    return options_.time_max.count() == 0 || now - begin_ < options_.time_max;
  }
  void end() {
    report_.seconds = std::chrono::duration<double>(SteadyClock::now() - begin_).count();
    report_.cpu_seconds = cpu_now() - cpu_begin_;
  }

 private:
  Report& report_;
  const ExploreOptions& options_;
  SteadyClock::time_point begin_;
  double cpu_begin_ = cpu_now();
  SteadyClock::time_point told_ = begin_;
  std::uint64_t ticks_ = 0;
};

Report begin_report(const Scenario& scenario, std::string engine) {
  Report report;
  report.scenario = scenario.name;
  report.engine = std::move(engine);
  report.bound = scenario.faults;
  report.problem = problem_of(scenario);
  return report;
}

void take_end(const Scenario& scenario, const std::set<std::string, std::less<>>& marks,
              Report& report) {
  if (report.failure || !report.complete) return;
  for (const auto& mark : scenario.sometimes) {
    if (marks.count(mark.label) == 0) report.unreached.push_back(mark.label);
  }
}

// An entity that reads a clock or an address gives itself away when it is run again later.
std::string difference_of_two_runs(const Scenario& scenario) {
  const Replay first = replay(scenario, {});
  const auto until = SteadyClock::now() + std::chrono::milliseconds{3};
  while (SteadyClock::now() < until) {
  }
  const Replay second = replay(scenario, {});
  if (first.digest == second.digest) return {};
  for (std::size_t i = 0; i < std::min(first.trace.size(), second.trace.size()); ++i) {
    if (first.trace[i].text != second.trace[i].text) {
      return "the same schedule ran twice and differs at step " + std::to_string(i) + ": `" +
             first.trace[i].text + "` / `" + second.trace[i].text + "`";
    }
  }
  return "the same schedule ran twice and stored different bytes: the entity depends on something "
         "besides state, input and context";
}

}  // namespace

Report explore(const Scenario& scenario, const ExploreOptions& options) {
  Report report = begin_report(scenario, "exhaustive");
  if (!report.problem.empty()) return report;
  report.non_deterministic = difference_of_two_runs(scenario);
  if (!report.non_deterministic.empty()) return report;
  Odometer chooser(options.prunes);
  Watch watch(report, options);
  std::set<std::string, std::less<>> marks;
  bool more = true;
  while (more) {
    const Remains* from = chooser.begin();
    const Counts before = from == nullptr ? Counts{} : from->counts;
    auto world = from == nullptr ? std::make_unique<World>(scenario, chooser)
                                 : std::make_unique<World>(scenario, chooser, *from);
    world->run();
    Counts counts = world->remains().counts;
    counts.steps -= before.steps;
    report.counts.add(counts);
    if (world->violation()) {
      report.failure = Failure{*world->violation(), chooser.choices(), std::nullopt};
      break;
    }
    if (world->was_cut()) {
      ++report.cut;
    } else {
      ++report.executed;
      ++chooser.schedules;
    }
    marks.insert(world->remains().marks.begin(), world->remains().marks.end());
    more = chooser.next();
    report.schedules = chooser.schedules;
    report.states = chooser.states;
    if (more && !watch.tick()) break;
  }
  report.complete = !more;
  watch.end();
  take_end(scenario, marks, report);
  return report;
}

Report run_seeds(const Scenario& scenario, const SeedRange& seeds, const ExploreOptions& options) {
  Report report = begin_report(scenario, "random");
  if (!report.problem.empty()) return report;
  Watch watch(report, options);
  std::set<std::string, std::less<>> marks;
  report.complete = true;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    DiceChooser chooser(seed);
    World world(scenario, chooser);
    world.run();
    report.counts.add(world.remains().counts);
    ++report.schedules;
    ++report.executed;
    if (world.violation()) {
      report.failure = Failure{*world.violation(), chooser.choices(), seed};
      break;
    }
    marks.insert(world.remains().marks.begin(), world.remains().marks.end());
    if (seeds.twice) {
      DiceChooser chooser_again(seed);
      World again(scenario, chooser_again);
      again.run();
      if (again.digest() != world.digest()) {
        report.non_deterministic = "seed " + std::to_string(seed) + " ran twice and differs";
        break;
      }
    }
    if (!watch.tick()) {
      report.complete = false;
      break;
    }
  }
  watch.end();
  take_end(scenario, marks, report);
  return report;
}

Replay replay(const Scenario& scenario, const Choices& choices) {
  RecordedChooser chooser(choices);
  World world(scenario, chooser);
  world.keeps_trace = true;
  world.run();
  return {world.violation(), world.trace(), world.digest(), world.remains().counts};
}

Choices choices_of(const Scenario& scenario, std::uint64_t seed) {
  DiceChooser chooser(seed);
  World world(scenario, chooser);
  world.run();
  return chooser.choices();
}

}  // namespace onceward::harness
