// EntityActor: runs one entity while it is in memory: feeds its machine and performs the outputs.
// Knows recovery, passivation, quarantine and deaths; nothing of what the entity is about.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "actors/mail.hpp"
#include "actors/node.hpp"

namespace onceward::actors {

/// Started by its router, which also asks the reader for its history. Every command it holds is
/// answered when it finishes, whatever the reason; every permit goes back.
class EntityActor final : public caf::event_based_actor {
 public:
  /// `node` and `binding` outlive the actor. `incarnation` is the one whose history was asked for;
  /// `deaths` is what Left told about an earlier actor of the same entity.
  EntityActor(caf::actor_config& config, Node& node, const EntityBinding& binding, PersistenceId id,
              Incarnation incarnation, int deaths);

  caf::behavior make_behavior() override;
  void on_exit() override;

 private:
  enum class Phase : std::uint8_t { recovering, running, quarantined };
  /// A command that waits for recovery. `in_hand`: an earlier incarnation had taken it.
  struct Held {
    input::Command command;
    bool in_hand = false;
    std::int64_t since_ms = 0;
  };
  struct Open {
    ReplyTo reply_to;
    std::unique_ptr<OpenCommand> command;
  };

  // Mail.
  void receive(EntityMail& mail);
  void on(mail::Stop&&);
  void on(mail::Delivery&& delivery);
  void on(mail::Recovered&& recovered);
  void on(mail::CommitAnswered&& answered);
  void on(mail::Passivate&&);
  void on(mail::TurnDownLate&&);
  void on(mail::QuarantineRecorded&&);
  void on(mail::Command&& command);
  void on(mail::CallAnswered&& answered);
  void on(mail::PermitGranted&& granted);
  void on(mail::Wake&&);
  void on(mail::TellAnswered&& answered);
  void on(mail::Loaded&& loaded);
  void on(mail::LoadFailed&& failed);

  // Life of the machine.
  void take(input::Command command);
  void feed(Input input, bool offer_permit = false);
  void start_machine(mail::Recovered&& recovered);
  void feed_held();
  void feed_command(input::Command command);
  void recover_later();
  void die(const std::string& what);
  void quarantine(std::string reason);
  void settle();
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] bool is_at_work() const;

  // Outputs.
  void perform(std::vector<Output>& outputs);
  void perform(output::Commit&& commit);
  void perform(output::AcquirePermit&& acquire);
  void perform(output::ReleasePermit&&);
  void perform(output::Call&& call);
  void perform(output::Reply&& reply);
  void perform(output::Tell&& tell);
  void perform(output::Load&& load);
  void perform(output::Stop&& stop);

  // Waiting callers.
  [[nodiscard]] ReplyTo open(std::unique_ptr<OpenCommand> command);
  [[nodiscard]] Open* find(ReplyTo to);
  void close(const Open& open);
  void turn_down(ReplyTo to, Turndown why);
  void turn_down_all(Turndown why);
  void release_permits();

  Node& node_;
  const EntityBinding& binding_;
  const PersistenceId id_;
  const ShardNr shard_;
  const std::size_t router_;

  Phase phase_ = Phase::recovering;
  Incarnation incarnation_;
  std::unique_ptr<Machine> machine_;  // exactly while running
  int deaths_;                        // by exceptions
  int setbacks_ = 0;                  // recoveries since the last stored commit
  int permits_ = 0;                   // that the machine holds
  int permits_asked_ = 0;             // not granted yet
  int calls_ = 0;                     // without answer yet
  int commits_ = 0;                   // without answer yet
  int loads_ = 0;                     // without result yet
  bool was_idle_ = false;
  bool said_stays_ = false;         // and has not told since that it may leave
  bool counted_at_work_ = true;     // in node_.at_work
  bool counted_recovering_ = true;  // in node_.recovering

  std::uint64_t last_reply_to_ = 0;
  std::vector<Open> open_;                   // every waiting caller of this entity
  std::list<Held> held_;                     // empty while running
  std::vector<mail::CallAnswered> answers_;  // not yet fed; empty while running
};

}  // namespace onceward::actors
