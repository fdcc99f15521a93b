// JournalWriterActor: the only user of the journal's writer, on a detached thread. Gathers commits
// into groups, resolves unknown commits by a barrier, records quarantine.
#pragma once

#include <vector>

#include <onceward/journal/journal.hpp>

#include "actors/mail.hpp"
#include "actors/node.hpp"

namespace onceward::actors {

/// Units in one commit() call.
inline constexpr std::size_t group_units_max = 512;

class JournalWriterActor final : public caf::event_based_actor {
 public:
  /// `node` and its journal outlive the actor.
  JournalWriterActor(caf::actor_config& config, Node& node);

  caf::behavior make_behavior() override;
  void on_exit() override;

 private:
  struct Waiting {
    caf::actor entity;
    Incarnation incarnation;
    WorkToken work;
  };

  void on(mail::Stop&&);
  void on(mail::CommitRequest&& request);
  void on(mail::QuarantineRequest&& request);
  void on(mail::LiftRequest&& request);
  void on(mail::RetryBarrier&&);
  void on(mail::Flush&&);

  void commit_group();
  void answer(std::size_t nr, CommitAnswer&& answer);
  void resolve();
  void record_quarantines();
  void try_again_later();

  Node& node_;
  std::vector<CommitUnit> units_;
  std::vector<Waiting> waiting_;  // waiting_[i] sent units_[i]
  std::vector<mail::QuarantineRequest> quarantines_;
  bool flush_sent_ = false;
  std::int64_t retry_ms_ = 0;
};

}  // namespace onceward::actors
