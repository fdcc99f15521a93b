// What a runtime refuses to start with.
#include "tests/actors/actors_fixture.hpp"

namespace onceward::actors::testing {
namespace {

class StartTest : public ActorsTest {
 protected:
  std::string refusal(RuntimeOptions options, std::vector<EntityBinding> bindings) {
    auto started =
        Runtime::start(std::move(options), journal, provider, clock, std::move(bindings));
    if (started) return "started";
    EXPECT_EQ(started.error().code, ErrorCode::invalid_config);
    return started.error().context;
  }
  EntityBinding binding(const std::string& prefix) {
    return {prefix, counter_type(switches), {}, {}};
  }
};

TEST_F(StartTest, OptionsOfZeroAreRefusedByName) {
  auto options = quick();
  options.routers = 0;
  EXPECT_EQ(refusal(options, {binding("customer/")}), "runtime: routers must be at least 1");
  options = quick();
  options.worker_threads = 0;
  EXPECT_EQ(refusal(options, {binding("customer/")}), "runtime: worker_threads must be at least 1");
  options = quick();
  options.tick_ms = 0;
  EXPECT_EQ(refusal(options, {binding("customer/")}), "runtime: tick_ms must be at least 1");
}

TEST_F(StartTest, BindingsThatServeTheSameIdsAreRefused) {
  EXPECT_EQ(refusal(quick(), {binding("customer/"), binding("cust")}),
            "runtime: two bindings serve ids that begin with 'cust'");
  EXPECT_EQ(refusal(quick(), {EntityBinding{}}),
            "runtime: the binding for '' lacks a prefix or a type");
}

TEST_F(StartTest, AnIdWithoutBindingIsABrokenInvariant) {
  start();
  EXPECT_DEATH(runtime->ask(PersistenceId{"nobody/1"}, std::any(), [](std::any) {}),
               "no binding serves this persistence id");
}

TEST_F(StartTest, StartAndStopWithoutWork) {
  for (int i = 0; i < 20; ++i) {
    start();
    stop();
  }
}

}  // namespace
}  // namespace onceward::actors::testing
