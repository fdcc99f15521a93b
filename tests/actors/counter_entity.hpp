// CounterEntity: the smallest entity that uses all of the machine: it settles periods, each by one
// provider call, tells, loads, waits, and throws when told to. Shows that the runtime knows no
// billing.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <onceward/actors/runtime.hpp>
#include <onceward/core/decider.hpp>

namespace onceward::actors::testing {

/// Settle a period; `wait`: reply when it is settled, `twice`: also when it is accepted.
struct Settle {
  std::string period;
  bool wait = true;
  bool twice = false;
};
/// Tell another entity to settle the period; the answer is kept for Look.
struct TellOther {
  PersistenceId to;
  std::string period;
};
/// Ask the loader; the answer is kept for Look.
struct LoadText {
  std::string query;
};
/// Reply with all that was told and loaded, and the number of settled periods.
struct Look {};
/// Throw `times` times in all (counted over all entities), then reply "fine".
struct Throw {
  int times = 1;
};
/// Store an event that evolve() cannot take without throwing.
struct Poison {};
/// Neither reply nor wait.
struct Ignore {};
struct Told {
  std::string text;
};
struct Loaded {
  std::string text;
};
using CounterCommand =
    std::variant<Settle, TellOther, LoadText, Look, Throw, Poison, Ignore, Told, Loaded>;

struct CounterReply {
  std::string text;
  friend bool operator==(const CounterReply&, const CounterReply&) = default;
};

struct CounterEvent {
  enum class Kind : std::uint8_t { initiated, sent, doubtful, settled, told, loaded, poisoned };
  Kind kind{};
  std::string text;  // the period, or what was told or loaded
};

struct CounterState {
  struct Period {
    bool sent = false;
    bool doubtful = false;
    bool settled = false;
  };
  PersistenceId id;
  std::map<std::string, Period> periods;
  std::vector<std::string> heard;
};

/// Switches of one test; shared by its deciders. Thread-safe.
struct CounterSwitches {
  std::atomic<int> thrown{0};
  std::atomic<bool> throw_in_resume{false};
};

class CounterDecider {
 public:
  using State = CounterState;
  using Event = CounterEvent;
  using Command = CounterCommand;
  using Reply = CounterReply;
  using Decided = Decision<Event, Reply>;

  explicit CounterDecider(std::shared_ptr<CounterSwitches> switches)
      : switches_(std::move(switches)) {}

  [[nodiscard]] State initial(const PersistenceId& id) const { return State{id, {}, {}}; }
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const;
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const;
  [[nodiscard]] Decided resume(const State& state, const Context& context) const;
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const;
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const;
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const;

 private:
  std::shared_ptr<CounterSwitches> switches_;
};

/// `customer/<name>`.
[[nodiscard]] PersistenceId counter_id(const std::string& name);
/// The provider's key for a period of an entity.
[[nodiscard]] IdempotencyKey counter_key(const PersistenceId& id, const std::string& period);
/// The row as an entity writes it when it begins; for filling a journal by hand.
[[nodiscard]] ObligationRow counter_row(const PersistenceId& id, const std::string& period,
                                        ObligationStatus status, std::optional<Timestamp> next);
[[nodiscard]] EncodedEvent encode_counter_event(const CounterEvent& event);
[[nodiscard]] EntityType counter_type(std::shared_ptr<CounterSwitches> switches);

}  // namespace onceward::actors::testing
