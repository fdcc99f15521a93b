// SchedulerEntity: the runs of one billing cycle as a Decider. It asks the customers of an approved
// plan to bill, a window at a time, and moves a durable cursor over those with an outcome. It calls
// no provider: each customer's own entity is the guard against billing twice.
#pragma once

#include <any>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

#include <onceward/billing/billing_policy.hpp>
#include <onceward/billing/cap_factor.hpp>
#include <onceward/billing/scheduler_commands.hpp>
#include <onceward/billing/scheduler_state.hpp>
#include <onceward/core/entity_type.hpp>

namespace onceward::billing {

/// Configured values; immutable for the life of a process.
struct SchedulerPolicy {
  /// Rows of one run that are asked and still in progress at once.
  std::size_t window = 256;
  /// Limits are set from approved plans unless the cap is off.
  CapMode cap_mode = CapMode::enforce;
  CapFactor cap_factor;
  /// As in BillingPolicy: bill a period before it begins.
  bool allow_future = false;
  /// A row without an answer, and one in progress, is asked again after this.
  std::chrono::milliseconds ask_again_after{30'000};
};

/// Rows covered before the cursor is stored: 1/256 of the plan within these bounds, so that neither
/// a crash repeats many asks nor the history grows with the number of customers.
inline constexpr std::uint64_t cursor_step_min = 64;
inline constexpr std::uint64_t cursor_step_max = 2048;
[[nodiscard]] std::uint64_t cursor_step(std::uint64_t customers) noexcept;

/// Exceptional rows in one CursorMoved; more are split over several.
inline constexpr std::size_t exceptional_rows_max = 512;

/// Thread-safe and immutable. Persistence ids are `scheduler/<cycle>`.
class SchedulerEntity {
 public:
  using State = SchedulerState;
  using Event = SchedulerEvent;
  using Note = SchedulerNote;
  using Command = SchedulerCommand;
  using Reply = SchedulerReply;
  using Decided = Decision<Event, Reply, Note>;

  explicit SchedulerEntity(SchedulerPolicy policy);

  [[nodiscard]] State initial(const PersistenceId& id) const;
  /// Learns and answers; who is asked next is resume()'s to say.
  [[nodiscard]] Decided decide(const State& state, const Command& command,
                               const Context& context) const;
  /// Nothing: a scheduler makes no provider calls.
  [[nodiscard]] Decided decide_answer(const State& state, const ExternalAnswer& answer,
                                      const Context& context) const;
  /// For each active run, oldest first: ask, read, store the cursor, complete.
  [[nodiscard]] Decided resume(const State& state, const Context& context) const;
  [[nodiscard]] Result<Unit> evolve(State& state, const Event& event) const;
  void take_note(State& state, const Note& note) const;
  /// No command waits.
  [[nodiscard]] std::optional<Reply> answer_waiter(const State& state,
                                                   const Command& command) const;
  [[nodiscard]] Reply turn_down(const Command& command, Turndown why) const;

 private:
  [[nodiscard]] Decided owed_by(const State& state, const Run& run, const Context& context) const;
  [[nodiscard]] Decided start(const State& state, const StartRun& command,
                              const Context& context) const;
  void ask(const State& state, const Run& run, const Context& context, Decided& decided) const;

  SchedulerPolicy policy_;
};

/// The entity type "scheduler" with its JSON codec.
[[nodiscard]] EntityType scheduler_entity_type(const SchedulerPolicy& policy);

/// The command that carries a customer's reply back to the scheduler that asked; `reply` holds a
/// BillingReply, `from` is a `customer/<id>`.
[[nodiscard]] SchedulerCommand customer_told(const PersistenceId& from, std::uint64_t correlation,
                                             const std::any& reply);

/// What the scheduler looks like to a reader. Pure.
[[nodiscard]] RunView view_of(const Run& run);

}  // namespace onceward::billing
