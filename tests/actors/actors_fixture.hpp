// ActorsTest: a runtime with counter entities on the memory journal and the held provider. After
// each test all commands are answered and every permit is back, or the test fails.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <onceward/actors/runtime.hpp>

#include "tests/actors/counter_entity.hpp"
#include "tests/actors/held_provider.hpp"
#include "tests/actors/locked_journal.hpp"

namespace onceward::actors::testing {

/// Wall time stands still until a test moves it.
class StillClock final : public Clock {
 public:
  [[nodiscard]] Now now() const override {
    Now now;
    now.wall = Timestamp{wall_ms.load()};
    now.boottime_ms = now.wall.ms;
    return now;
  }
  std::atomic<std::int64_t> wall_ms{1'786'060'800'000};
};

/// Replies of one command, in order. Thread-safe.
class Replies {
 public:
  void add(std::any reply);
  /// Blocks for at most ten seconds; "nothing" if reply number `nr` (from 0) does not come.
  [[nodiscard]] std::string at(std::size_t nr) const;
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<std::string> texts_;
};
using Asked = std::shared_ptr<Replies>;

class ActorsTest : public ::testing::Test {
 protected:
  void TearDown() override;

  /// Small and quick: ticks every 20 ms.
  [[nodiscard]] static RuntimeOptions quick();
  void start(RuntimeOptions options = quick());
  /// Stops the runtime without grace, as a destructor does.
  void stop() { runtime.reset(); }

  Asked ask(const PersistenceId& id, CounterCommand command);
  [[nodiscard]] Asked settle(const std::string& name, const std::string& period = "2026-08") {
    return ask(counter_id(name), Settle{period});
  }
  /// Asks and waits for the first reply.
  [[nodiscard]] std::string reply(const std::string& name, CounterCommand command);

  /// Stores a unit by hand, as an earlier process would have: an initiated, maybe sent period.
  void store_open(const std::string& name, const std::string& period, Timestamp next, bool sent);
  /// Decides the fate of the next commits, in order; normal afterwards.
  void next_fates(std::vector<journal::CommitFate> fates);
  [[nodiscard]] std::vector<journal::Quarantined> quarantined();

  journal::MemoryJournal memory;
  LockedJournal journal{memory};
  StillClock clock;
  std::shared_ptr<CounterSwitches> switches = std::make_shared<CounterSwitches>();
  HeldProvider provider{64};
  std::function<std::any(const std::any&)> load = [](const std::any& query) {
    return std::any(CounterCommand{Loaded{"<" + std::any_cast<std::string>(query) + ">"}});
  };
  std::unique_ptr<Runtime> runtime;

 private:
  std::vector<Asked> asked_;
};

/// Polls for at most ten seconds.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

}  // namespace onceward::actors::testing
