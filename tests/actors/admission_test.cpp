// Bounds: what does not fit is answered busy, and nothing is dropped.
#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

TEST_F(ActorsTest, CommandsBeyondTheAdmissionAreBusy) {
  auto options = quick();
  options.admission_max = 10;
  start(options);
  provider.hold();
  std::vector<Asked> asked;
  for (int i = 0; i < 25; ++i) asked.push_back(settle("c" + std::to_string(i)));
  std::size_t busy = 0;
  for (std::size_t i = 10; i < 25; ++i) {
    if (asked[i]->at(0) == "busy") ++busy;
  }
  EXPECT_EQ(busy, 15u);
  EXPECT_EQ(runtime->stats().commands_in_flight, 10u);
  EXPECT_EQ(runtime->stats().turned_down, 15u);
  provider.let_go();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(asked[i]->at(0), "settled");
  EXPECT_TRUE(eventually([this] { return runtime->stats().commands_in_flight == 0; }));
  EXPECT_EQ(reply("c24", Settle{"2026-08"}), "settled");
  EXPECT_EQ(provider.posts(), 11);
}

TEST_F(ActorsTest, OneEntityHoldsABoundedNumberOfCommandsWhileItRecovers) {
  journal.replays_fail = 3;
  start();
  std::vector<Asked> asked;
  for (std::size_t i = 0; i < stash_max + 20; ++i) asked.push_back(ask(counter_id("a"), Look{}));
  std::size_t busy = 0, looked = 0;
  for (const auto& each : asked) {
    if (each->at(0) == "busy") ++busy;
    if (each->at(0) == "0") ++looked;
  }
  EXPECT_EQ(busy, 20u);
  EXPECT_EQ(looked, stash_max);
}

}  // namespace
}  // namespace onceward::actors::testing
