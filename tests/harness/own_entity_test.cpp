// The example entity, and entities that do what no decider may do: each is reported by name.
#include <onceward/harness/gtest.hpp>

#include <stdexcept>

#include "examples/harness/scenario.hpp"

namespace onceward::harness {
namespace {

TEST(OwnEntity, TheMeterHoldsInEverySchedule) {
  ONCEWARD_EXPECT_HOLDS(meter::scenario(false));
}

TEST(OwnEntity, ThePlantedBugIsFoundWithAShortSchedule) {
  const Scenario scenario = meter::scenario(true);
  const Report report = explore(scenario);
  ASSERT_TRUE(report.failure.has_value());
  const Failure shortest = shrink(scenario, *report.failure);
  EXPECT_EQ(shortest.violation.invariant, "I1");
  EXPECT_EQ(fault_count(shortest.choices), 1U);
  const std::string text = to_text(replay(scenario, shortest.choices));
  EXPECT_NE(text.find("took effect twice"), std::string::npos) << text;
}

TEST(OwnEntity, PruningChangesNoVerdictAndNoCount) {
  Scenario scenario = meter::scenario(false);
  ExploreOptions all;
  all.prunes = false;
  const Report pruned = explore(scenario);
  const Report whole = explore(scenario, all);
  EXPECT_EQ(pruned.schedules, whole.schedules);
  EXPECT_EQ(whole.executed, whole.schedules);
  EXPECT_LT(pruned.executed, whole.executed);
  EXPECT_TRUE(pruned.holds());
  EXPECT_TRUE(whole.holds());
}

// A meter that misbehaves in one way.
class BadMeter : public meter::Meter {
 public:
  enum class How { throws, reads_a_clock };
  explicit BadMeter(How how) : meter::Meter(false), how_(how) {}
  [[nodiscard]] Decided decide(const meter::State& state, const meter::Read& read,
                               const Context& context) const {
    if (how_ == How::throws) throw std::runtime_error("no such customer");
    Decided decided = meter::Meter::decide(state, read, context);
    static int clock = 0;
    if (!decided.events.empty()) {
      decided.events.front() = meter::UsageCounted{"at " + std::to_string(++clock), read.units};
    }
    return decided;
  }

 private:
  How how_;
};

Scenario bad(BadMeter::How how) {
  Scenario scenario = meter::scenario(false);
  scenario.type = entity_under_test<BadMeter>("bad meter", std::make_shared<const BadMeter>(how),
                                              meter::codec());
  return scenario;
}

std::string complaint_of(const Scenario& scenario) {
  const Report report = explore(scenario);
  return report.failure ? report.failure->violation.what
                        : report.problem + report.non_deterministic;
}

TEST(BadEntities, ADeciderThatThrowsIsNamed) {
  const std::string complaint = complaint_of(bad(BadMeter::How::throws));
  EXPECT_NE(complaint.find("bad meter: decide threw `no such customer`"), std::string::npos)
      << complaint;
}

TEST(BadEntities, OneThatReadsAClockIsNamed) {
  const std::string complaint = complaint_of(bad(BadMeter::How::reads_a_clock));
  EXPECT_NE(complaint.find("bad meter: decide is not deterministic"), std::string::npos)
      << complaint;
}

TEST(BadEntities, ACodecThatDoesNotRoundTripIsNamed) {
  Scenario scenario = meter::scenario(false);
  EventCodec<meter::Event> codec = meter::codec();
  codec.decode = [](const EncodedEvent& stored) -> Result<meter::Event> {
    auto event = meter::decode(stored);
    if (event) {
      if (auto* counted = std::get_if<meter::UsageCounted>(&*event)) counted->units = 0;
    }
    return event;
  };
  scenario.type =
      entity_under_test<meter::Meter>("meter", std::make_shared<const meter::Meter>(false), codec);
  const std::string complaint = complaint_of(scenario);
  EXPECT_NE(complaint.find("does not round-trip UsageCounted"), std::string::npos) << complaint;
}

TEST(BadScenarios, OneWithoutAnOracleIsRefused) {
  Scenario scenario = meter::scenario(false);
  scenario.oracles = [] { return Oracles{}; };
  EXPECT_NE(complaint_of(scenario).find("no oracle"), std::string::npos);
}

TEST(Choices, AreWrittenAndReadBack) {
  EXPECT_EQ(to_text(Choices{0, 0, 2, 0, 1}), "2:2,4:1");
  EXPECT_EQ(*parse_choices("2:2,4:1"), (Choices{0, 0, 2, 0, 1}));
  EXPECT_EQ(*parse_choices("-"), Choices{});
  for (const char* bad : {"", "2", "2:", "2:0", "4:1,2:2", "2:1,", "x:1", "9999999:1"}) {
    EXPECT_FALSE(parse_choices(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace onceward::harness
