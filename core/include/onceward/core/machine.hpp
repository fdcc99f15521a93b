// Machine: one incarnation of any entity as a sans-I/O state machine. It owns the order: decide,
// commit, evolve, then effects and replies. CAF actors, the harness and the CLI pump the same one.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <onceward/core/decider.hpp>

namespace onceward {

/// Names who waits for a reply; chosen by the shell, opaque here. 0 = nobody.
struct ReplyTo {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(const ReplyTo&, const ReplyTo&) = default;
};

/// Counts the lives of one entity in one process; answers of an earlier life are told by it.
struct Incarnation {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(const Incarnation&, const Incarnation&) = default;
};

/// Commands held while recovering or committing; one more is turned down as busy. Results of the
/// entity's own Tell and Load effects are bounded by what it asked and do not count.
inline constexpr std::size_t stash_max = 128;
/// Commands waiting for a settled state; one more is turned down as busy.
inline constexpr std::size_t waiters_max = 256;

namespace input {
/// A batch of the history, in order. Any number of batches, before RecoveryDone.
struct Replayed {
  std::vector<StoredEvent> events;
};
/// The history is complete. `epoch` is the one this incarnation writes under.
struct RecoveryDone {
  SequenceNr last;
  Digest head;
  Epoch epoch;
};
/// The history could not be read as valid: quarantine.
struct RecoveryFailed {
  Error error;
};
/// A command with the place of its reply. `command` holds exactly the entity type's Command.
/// `accepted`: an earlier incarnation stored it and only its waiting is to be taken up again.
/// `result`: it carries the result of a Tell or Load of this entity, so it is never turned down as
/// busy: nobody would send it again.
struct Command {
  std::any command;
  ReplyTo reply_to;
  bool accepted = false;
  bool result = false;
};
struct CommitAnswered {
  Incarnation incarnation;
  CommitAnswer answer;
};
struct PermitGranted {
  Incarnation incarnation;
};
/// Also accepted from calls of an earlier incarnation: an answer in hand is never lost.
struct CallAnswered {
  ExternalAnswer answer;
};
/// The row's next_action_at has come, or an operator wants the entity to look again.
struct Wake {};
}  // namespace input

using Input =
    std::variant<input::Replayed, input::RecoveryDone, input::RecoveryFailed, input::Command,
                 input::CommitAnswered, input::PermitGranted, input::CallAnswered, input::Wake>;

namespace output {
/// Hand to the journal; answer with CommitAnswered. At most one is outstanding.
struct Commit {
  Incarnation incarnation;
  CommitUnit unit;
};
/// Queue for a permit; answer with PermitGranted. At most one is outstanding.
struct AcquirePermit {
  Incarnation incarnation;
};
/// A permit that was offered or granted is not needed after all.
struct ReleasePermit {};
/// Perform now; the permit goes with it and is returned by the provider port.
struct Call {
  ExternalRequest request;
};
struct Reply {
  ReplyTo to;
  std::any reply;    ///< exactly the entity type's Reply
  bool last = true;  ///< false: the command goes on waiting and is replied to once more
};
struct Tell {
  PersistenceId to;
  std::any command;
  std::uint64_t correlation = 0;
};
struct Load {
  std::any query;
};
/// This incarnation is over; feed it nothing more. `recover`: build a new one from the journal
/// (after the barrier, if one is pending) and feed it what was in hand: provider answers that are
/// not stored yet and commands that were certainly not stored. `quarantine`: record it; every
/// command was turned down.
struct Stop {
  enum class Why : std::uint8_t { recover, quarantine };
  Why why = Why::recover;
  Error error;
  std::vector<ExternalAnswer> answers_in_hand;
  std::vector<input::Command> commands_in_hand;
};
}  // namespace output

using Output = std::variant<output::Commit, output::AcquirePermit, output::ReleasePermit,
                            output::Call, output::Reply, output::Tell, output::Load, output::Stop>;

/// Per-step facts from the shell. An offered permit (like a granted one) belongs to the machine
/// from then on: it leaves with a Call, or comes back as a ReleasePermit, at the latest with Stop.
struct StepContext {
  Now now;
  bool permit_offered = false;
};

/// Identity and place of the entity; fixed for one incarnation.
struct MachineOptions {
  PersistenceId persistence_id;
  ShardNr shard;
  Incarnation incarnation;
  WriterId writer;
};

/// Not thread-safe; calls no port; never throws, never blocks. Aborts only on misuse by the shell.
class Machine {
 public:
  virtual ~Machine() = default;
  /// Appends the outputs in the order in which they must be performed.
  virtual void step(Input input, const StepContext& context, std::vector<Output>& outputs) = 0;
  /// True if nothing is outstanding, stashed or waiting: the incarnation may be dropped.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
  [[nodiscard]] virtual bool is_stopped() const noexcept = 0;
  /// Recovered and not stopped.
  [[nodiscard]] virtual bool is_running() const noexcept = 0;
  [[nodiscard]] virtual SequenceNr last_sequence_nr() const noexcept = 0;
};

/// A kind of entity without its template parameters. Copyable; create() is thread-safe.
struct EntityType {
  std::string name;
  std::function<std::unique_ptr<Machine>(const MachineOptions&)> create;
  /// The reply for a command that never reached a machine (e.g. the mailbox was full).
  std::function<std::any(const std::any& command, Turndown why)> turn_down;
};

}  // namespace onceward
