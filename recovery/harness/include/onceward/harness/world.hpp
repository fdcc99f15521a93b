// World: one schedule of one scenario, in one thread and virtual time. It pumps the production
// machine against a memory journal and a provider model; the chooser says what goes wrong where.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <onceward/harness/chooser.hpp>
#include <onceward/harness/scenario.hpp>
#include <onceward/journal/memory_journal.hpp>

namespace onceward::harness {

/// Who takes part in a schedule; the lanes of its diagram.
enum class Lane : std::uint8_t { caller, node_a, node_b, journal, provider };
[[nodiscard]] std::string_view to_text(Lane lane) noexcept;

/// One step of a schedule as people read it.
struct TraceLine {
  Timestamp at;
  Lane from = Lane::caller;
  Lane to = Lane::caller;  ///< same as `from`: something that happens in one place
  bool is_fault = false;
  std::string text;
  std::string durable;  ///< what is in journal and ledger after the step
};

/// Everything that survives when no process runs. A value: a copy is a fork of the schedule.
struct Remains {
  Remains(const Scenario& scenario);
  Remains(const Remains& other);
  Remains& operator=(const Remains&) = delete;
  ~Remains() = default;

  journal::MemoryJournal journal;
  std::vector<std::uint64_t> histories;  ///< hash of what each entity stored
  std::unique_ptr<ProviderModel> provider;
  Oracles oracles;
  FaultBounds left;
  Timestamp now;
  Timestamp last_fault_at;
  std::vector<char> answered;  ///< by ask: its caller got an answer
  std::size_t asked = 0;       ///< asks sent at least once
  int owner = 0;               ///< node that owns all shards
  std::uint64_t incarnations = 0;
  Counts counts;
  std::set<std::string, std::less<>> marks;  ///< labels of `sometimes` that were reached
  std::uint64_t digest = 0;                  ///< of everything that happened
};

/// Not thread-safe. The scenario and the chooser outlive it.
class World {
 public:
  World(const Scenario& scenario, Chooser& chooser);
  /// Goes on where nothing was in memory.
  World(const Scenario& scenario, Chooser& chooser, const Remains& from);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Runs to the end of the schedule: violated, at rest and audited, or cut by the chooser.
  void run();

  [[nodiscard]] const std::optional<Violation>& violation() const noexcept { return violation_; }
  [[nodiscard]] bool was_cut() const noexcept { return cut_; }
  [[nodiscard]] const Remains& remains() const noexcept { return r_; }
  /// True if no node holds anything in memory: a world made from remains() goes on just like this.
  [[nodiscard]] bool remembers_nothing() const;
  /// Same schedule, same digest: of every output and of what is stored.
  [[nodiscard]] std::uint64_t digest() const noexcept { return r_.digest; }

  /// To be set before run().
  bool keeps_trace = false;
  [[nodiscard]] const std::vector<TraceLine>& trace() const noexcept { return trace_; }

 private:
  struct Slot;
  struct Node;

  static constexpr const char* rest_says =
      "Once faults have ended, every accepted command comes to an end in bounded time.";

  [[nodiscard]] std::uint64_t state_hash() const;
  int choose(const char* label, int options);
  void step_once();
  bool zombie_acts();
  bool takeover();
  bool act(Node& node);
  [[nodiscard]] Slot* pick(Node& node);
  bool ask_next(Node& node);
  bool duplicate(Node& node);
  void ask(Node& node, std::size_t index, bool again);
  bool wake(Node& node);
  bool wake_by_row(Node& node);
  void finish();

  void start(Node& node, Slot& slot);
  void feed(Node& node, Slot& slot, Input input);
  void perform(Node& node, Slot& slot, Output output);
  void commit(Node& node, Slot& slot, output::Commit commit);
  void call(Node& node, Slot& slot, output::Call call);
  void tell(Node& node, Slot& slot, const output::Reply& reply);
  void tell_entity(Node& node, const Slot& from, output::Tell told);
  void stop(Node& node, Slot& slot, output::Stop stop);
  bool dies(Node& node, const char* place);
  [[nodiscard]] Fate fate_of(const ExternalRequest& request);
  void pass_to(Timestamp at);

  [[nodiscard]] Now now_of(const Node& node) const;
  [[nodiscard]] Truth truth();
  void check();
  void broke(std::string invariant, std::string says, std::string what);
  void note(Lane from, Lane to, const std::string& text, bool is_fault = false);
  [[nodiscard]] std::string durable() const;
  void mix(std::uint64_t value) noexcept;

  const Scenario& scenario_;
  Chooser& chooser_;
  Remains r_;
  std::unique_ptr<journal::JournalReader> reader_;
  std::vector<std::unique_ptr<Node>> nodes_;
  int zombie_ = -1;  ///< node that was taken over and still has something in memory
  std::size_t turn_ = 0;
  journal::CommitFate next_fate_ = journal::CommitFate::normal;
  bool has_branched_ = false;
  bool healed_ = false;
  bool restarted_ = false;
  bool done_ = false;
  bool cut_ = false;
  std::optional<Violation> violation_;
  std::vector<TraceLine> trace_;
};

}  // namespace onceward::harness
