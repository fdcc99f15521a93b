// MachinePump: the shell of one machine, by hand. It performs what the machine puts out, in order;
// what a commit, a call or a reply means is said by the world that derives from it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <onceward/core/machine.hpp>
#include <onceward/journal/journal.hpp>

namespace onceward::testing {

class MachinePump {
 public:
  virtual ~MachinePump() = default;
  MachinePump(const MachinePump&) = delete;
  MachinePump& operator=(const MachinePump&) = delete;

 protected:
  MachinePump(EntityType type, PersistenceId id, WriterId writer);

  // What the world says.
  /// All clocks as the process reads them.
  [[nodiscard]] virtual Now now() const = 0;
  virtual bool offers_permit() = 0;
  /// Answer with input::PermitGranted.
  virtual void permit_wanted(const output::AcquirePermit& wanted) = 0;
  virtual void permit_returned() {}
  /// Answer with input::CommitAnswered.
  virtual void commit(output::Commit commit) = 0;
  /// Answer with input::CallAnswered; the permit goes with it.
  virtual void call(output::Call call) = 0;
  virtual void replied(output::Reply reply) = 0;
  virtual void tells(output::Tell /*tell*/) {}
  virtual void loads(output::Load /*load*/) {}
  virtual void quarantined(const std::string& why) = 0;

  /// A fresh incarnation recovers from the journal, with what the last one had in hand, and writes
  /// under `epoch`. The caller has resolved an unknown commit.
  void recover(journal::JournalReader& reader, ShardNr shard, Epoch epoch);
  /// The process is gone, with everything in memory.
  void stop();
  void step(Input input);
  void perform(Output output);
  [[nodiscard]] bool is_up() const { return machine_ != nullptr; }

  EntityType type_;
  PersistenceId id_;
  WriterId writer_;
  std::unique_ptr<Machine> machine_;
  std::deque<Input> inputs_;    // answers under way to the machine
  std::deque<Output> outputs_;  // of the last step, not performed yet
  std::vector<ExternalAnswer> answers_in_hand_;
  std::vector<input::Command> commands_in_hand_;
  std::uint64_t incarnation_ = 0;
  int permits_out_ = 0;
  std::string broken_;  // the first invariant that does not hold
};

}  // namespace onceward::testing
