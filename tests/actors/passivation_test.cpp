// Few entities in memory, many customers: nothing is lost, and no entity lives twice.
#include <thread>

#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

RuntimeOptions room_for(std::size_t entities) {
  RuntimeOptions options;
  options.routers = 2;
  options.tick_ms = 20;
  options.resident_max = entities;
  return options;
}

TEST_F(ActorsTest, AThousandCustomersFitIntoRoomForFour) {
  start(room_for(4));
  std::vector<Asked> first, second, looks;
  for (int i = 0; i < 1'000; ++i) {
    const auto name = "c" + std::to_string(i);
    first.push_back(settle(name, "2026-08"));
    second.push_back(settle(name, "2026-09"));
  }
  for (const auto& asked : first) ASSERT_EQ(asked->at(0), "settled");
  for (const auto& asked : second) ASSERT_EQ(asked->at(0), "settled");
  EXPECT_TRUE(eventually([this] { return runtime->stats().entities <= 4; }));
  for (int i = 0; i < 1'000; ++i) {
    looks.push_back(ask(counter_id("c" + std::to_string(i)), Look{}));
  }
  for (const auto& asked : looks) ASSERT_EQ(asked->at(0), "2");
  EXPECT_EQ(provider.posts(), 2'000);
  EXPECT_EQ(journal.fenced.load(), 0);
  EXPECT_TRUE(eventually([this] { return runtime->stats().entities <= 4; }));
  EXPECT_GE(runtime->stats().passivations, 996u);
  EXPECT_GE(runtime->stats().activations, 1'996u) << "the looks found most entities gone";
}

TEST_F(ActorsTest, AnEntityWithACallInFlightStays) {
  start(room_for(1));
  provider.hold();
  std::vector<Asked> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(settle("c" + std::to_string(i)));
  EXPECT_TRUE(eventually([this] { return provider.held() == 20; }));
  EXPECT_EQ(runtime->stats().entities, 20u);
  EXPECT_EQ(runtime->stats().passivations, 0u);
  provider.let_go();
  for (const auto& one : asked) EXPECT_EQ(one->at(0), "settled");
  EXPECT_TRUE(eventually([this] { return runtime->stats().entities <= 1; }));
  EXPECT_EQ(provider.posts(), 20);
}

TEST_F(ActorsTest, IdleEntitiesStayWhileThereIsRoom) {
  start(room_for(100));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(reply("c" + std::to_string(i), Settle{"2026-08"}), "settled");
  }
  EXPECT_EQ(runtime->stats().entities, 100u);
  EXPECT_EQ(runtime->stats().passivations, 0u);
  EXPECT_EQ(runtime->stats().activations, 100u);
}

TEST_F(ActorsTest, TheLongestUnusedEntityLeavesFirst) {
  auto options = room_for(3);
  options.routers = 1;
  start(options);
  for (const char* name : {"a", "b", "c", "a", "d"}) EXPECT_EQ(reply(name, Look{}), "0");
  EXPECT_TRUE(eventually([this] { return runtime->stats().passivations == 1; }));
  const auto before = runtime->stats().activations;
  for (const char* name : {"a", "c", "d"}) EXPECT_EQ(reply(name, Look{}), "0");
  EXPECT_EQ(runtime->stats().activations, before) << "b was the one to leave";
}

// Two customers push each other out all the time. A second incarnation beside the first would be
// fenced by its sequence number.
TEST_F(ActorsTest, ACustomerWhoReturnsWaitsUntilTheOldIncarnationIsGone) {
  auto options = room_for(1);
  options.routers = 1;
  start(options);
  const auto storm = [this](const std::string& name, std::vector<Asked>& asked, std::mutex& mutex) {
    for (int month = 0; month < 600; ++month) {
      const auto period = std::to_string(2026 + month / 12) + (month % 12 < 9 ? "-0" : "-") +
                          std::to_string(month % 12 + 1);
      const std::lock_guard lock(mutex);
      asked.push_back(settle(name, period));
    }
  };
  std::mutex mutex;
  std::vector<Asked> asked;
  std::thread one([&] { storm("a", asked, mutex); });
  std::thread other([&] { storm("b", asked, mutex); });
  one.join();
  other.join();
  std::size_t settled = 0, busy = 0;
  for (const auto& each : asked) {
    const auto text = each->at(0);
    if (text == "settled") ++settled;
    if (text == "busy") ++busy;
  }
  EXPECT_EQ(settled + busy, 1'200u) << "busy: more waiting commands than an entity holds";
  EXPECT_EQ(provider.posts(), static_cast<int>(settled));
  EXPECT_EQ(journal.fenced.load(), 0);
}

}  // namespace
}  // namespace onceward::actors::testing
