// What actors send each other: one message type per kind of actor, each a sum of plain structs.
// Contents are moved from sender to receiver and never copied.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <onceward/core/machine.hpp>
#include <onceward/journal/journal.hpp>

#include "actors/caf_compat.hpp"
#include "actors/open_command.hpp"
#include "actors/open_lift.hpp"
#include "actors/tokens.hpp"

namespace onceward::actors {

namespace mail {

/// To any actor: finish now. What is unfinished is resumable.
struct Stop {};

// What reaches an entity through its router, which starts the entity if need be.

struct Command {
  std::unique_ptr<OpenCommand> open;
};
struct CallAnswered {
  ExternalAnswer answer;
  WorkToken work;
};
/// Never starts an entity: one that is not there does not need the permit.
struct PermitGranted {
  Incarnation incarnation;
  PermitToken permit;
};
struct Wake {};
/// Another entity replied to a command that this one told it.
struct TellAnswered {
  PersistenceId from;
  std::uint64_t correlation = 0;
  std::any reply;
};
/// The command that carries the result of a Load.
struct Loaded {
  std::any command;
};
struct LoadFailed {
  std::string what;
};
using Delivery =
    std::variant<Command, CallAnswered, PermitGranted, Wake, TellAnswered, Loaded, LoadFailed>;

// To entities only.

struct Recovered {
  Incarnation incarnation;
  std::vector<StoredEvent> events;
  Result<journal::HistoryEnd> end;
};
struct CommitAnswered {
  Incarnation incarnation;
  CommitAnswer answer;
  WorkToken work;
};
/// Leave if idle; answered by Left or Stays.
struct Passivate {};
/// Turn down the commands that have waited too long for recovery.
struct TurnDownLate {};
struct QuarantineRecorded {};

// To routers only.

struct Deliver {
  PersistenceId id;
  Delivery what;
};
/// Answered to the reader with one RecoverWave, so that their recovery is one batch.
struct WakeMany {
  std::vector<PersistenceId> ids;
};
/// The entity's actor has finished. `deaths` outlives it.
struct Left {
  PersistenceId id;
  int deaths = 0;
};
struct Stays {
  PersistenceId id;
};
/// The entity became idle while too many are in memory, or after it had said Stays.
struct MayLeave {
  PersistenceId id;
};
struct Quarantined {
  PersistenceId id;
};
/// The quarantine of an entity is to be lifted, and then: it was lifted in the store.
struct Lift {
  PersistenceId id;
  std::unique_ptr<OpenLift> open;
};
struct Lifted {
  PersistenceId id;
  std::unique_ptr<OpenLift> open;
};
/// Passivate idle entities as long as too many are in memory.
struct Trim {};

// To the journal's writer and reader.

struct CommitRequest {
  caf::actor entity;
  Incarnation incarnation;
  CommitUnit unit;
  WorkToken work;
};
struct QuarantineRequest {
  caf::actor entity;
  PersistenceId id;
  std::string reason;
};
struct LiftRequest {
  caf::actor router;
  PersistenceId id;
  std::unique_ptr<OpenLift> open;
};
struct RetryBarrier {};
/// To itself, behind all that waits already: the group is exactly what was queued.
struct Flush {};

struct Recover {
  PersistenceId id;
  caf::actor entity;
  Incarnation incarnation;
  std::int64_t delay_ms = 0;
};
struct RecoverWave {
  std::vector<Recover> recoveries;
};
struct LoadRequest {
  PersistenceId id;
  std::any query;
};
struct Tick {};
struct StartUp {};
struct RetryRecovery {};
/// Readers work again.
struct BarrierDone {};

}  // namespace mail

/// CAF asks for a copy constructor but never calls it: no message is ever shared.
template <class... Contents>
struct Mail {
  std::variant<mail::Stop, Contents...> content;

  Mail() = default;
  template <class Content>
  requires(!std::is_base_of_v<Mail, std::remove_cvref_t<Content>>) explicit Mail(Content&& c)
      : content(std::forward<Content>(c)) {}
  Mail(Mail&&) noexcept = default;
  Mail& operator=(Mail&&) noexcept = default;
  Mail(const Mail&) { ONCEWARD_CHECK(false, "mail is moved, never copied"); }
  Mail& operator=(const Mail&) = delete;
  ~Mail() = default;
};

struct EntityMail : Mail<mail::Delivery, mail::Recovered, mail::CommitAnswered, mail::Passivate,
                         mail::TurnDownLate, mail::QuarantineRecorded> {
  using Mail::Mail;
};
struct RouterMail : Mail<mail::Deliver, mail::WakeMany, mail::Left, mail::Stays, mail::MayLeave,
                         mail::Quarantined, mail::Lift, mail::Lifted, mail::Trim> {
  using Mail::Mail;
};
struct WriterMail : Mail<mail::CommitRequest, mail::QuarantineRequest, mail::LiftRequest,
                         mail::RetryBarrier, mail::Flush> {
  using Mail::Mail;
};
struct ReaderMail : Mail<mail::Recover, mail::RecoverWave, mail::LoadRequest, mail::Tick,
                         mail::StartUp, mail::RetryRecovery, mail::BarrierDone, mail::Flush> {
  using Mail::Mail;
};

}  // namespace onceward::actors
