// Entities that tell each other and load: results come back as commands.
#include <stdexcept>

#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

TEST_F(ActorsTest, WhatAToldEntityRepliesComesBack) {
  start();
  EXPECT_EQ(reply("a", TellOther{counter_id("b"), "2026-08"}), "telling");
  EXPECT_TRUE(eventually([this] { return reply("a", Look{}) == "0 customer/b#7:settled"; }));
  EXPECT_EQ(reply("b", Look{}), "1");
  EXPECT_EQ(provider.posts(), 1);
}

TEST_F(ActorsTest, AnEntityMayTellItself) {
  start();
  EXPECT_EQ(reply("a", TellOther{counter_id("a"), "2026-08"}), "telling");
  EXPECT_TRUE(eventually([this] { return reply("a", Look{}) == "1 customer/a#7:settled"; }));
}

TEST_F(ActorsTest, ATurnDownComesBackToTheTellerToo) {
  ASSERT_TRUE(journal.quarantine(counter_id("b"), "by hand", clock.now().wall));
  start();
  EXPECT_EQ(reply("a", TellOther{counter_id("b"), "2026-08"}), "telling");
  EXPECT_TRUE(eventually([this] { return reply("a", Look{}) == "0 customer/b#7:quarantined"; }));
}

TEST_F(ActorsTest, TheResultOfATellReachesATellerThatWasPassivated) {
  auto options = quick();
  options.resident_max = 1;
  options.routers = 1;
  start(options);
  provider.hold();
  EXPECT_EQ(reply("a", TellOther{counter_id("b"), "2026-08"}), "telling");
  EXPECT_TRUE(eventually([this] { return provider.held() == 1; }));
  EXPECT_TRUE(eventually([this] { return runtime->stats().passivations >= 1; })) << "a has left";
  provider.let_go();
  EXPECT_TRUE(eventually([this] { return reply("a", Look{}) == "0 customer/b#7:settled"; }));
}

TEST_F(ActorsTest, WhatIsLoadedComesBack) {
  start();
  EXPECT_EQ(reply("a", LoadText{"page 1"}), "loading");
  EXPECT_TRUE(eventually([this] { return reply("a", Look{}) == "0 <page 1>"; }));
}

TEST_F(ActorsTest, ALoaderThatThrowsCostsItsEntityALife) {
  load = [](const std::any&) -> std::any { throw std::runtime_error("no such page"); };
  auto options = quick();
  options.deaths_max = 1;
  start(options);
  EXPECT_EQ(reply("a", LoadText{"page 1"}), "loading");
  EXPECT_TRUE(eventually([this] { return quarantined().size() == 1; }));
  EXPECT_NE(quarantined().front().reason.find("no such page"), std::string::npos);
  EXPECT_EQ(reply("b", Look{}), "0");
}

}  // namespace
}  // namespace onceward::actors::testing
