// RouterActor: owns the entities of one range of the hash: starts them on demand, passes mail on,
// lets idle ones leave when too many are in memory, refuses commands to quarantined ones.
#pragma once

#include <list>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "actors/mail.hpp"
#include "actors/node.hpp"

namespace onceward::actors {

class RouterActor final : public caf::event_based_actor {
 public:
  /// `node` outlives the actor; `quarantined` are the ids of its range.
  RouterActor(caf::actor_config& config, Node& node, std::vector<PersistenceId> quarantined);

  caf::behavior make_behavior() override;
  void on_exit() override;

 private:
  struct Entry;
  using Lru = std::list<Entry*>;
  /// An entity in memory. While it is asked to leave, mail for it is held here: it goes to the old
  /// actor if that stays, to a new one once the old one is gone, never to both.
  struct Entry {
    caf::actor actor;
    bool leaving = false;
    std::vector<mail::Delivery> held;
    Lru::iterator place;  // in lru_, or its end if the entity said that it is busy
  };
  using Entries = std::unordered_map<PersistenceId, Entry>;

  void on(mail::Stop&&);
  void on(mail::Deliver&& deliver);
  void on(mail::WakeMany&& wake);
  void on(mail::Left&& left);
  void on(mail::Stays&& stays);
  void on(mail::MayLeave&& may);
  void on(mail::Quarantined&& quarantined);
  void on(mail::Lift&& lift);
  void on(mail::Lifted&& lifted);
  void on(mail::Trim&&);

  void forward(Entry& entry, mail::Delivery&& what);
  [[nodiscard]] mail::Recover start(const PersistenceId& id, const EntityBinding& binding);
  void touch(Entry& entry);
  void ask_to_leave(Entry& entry);
  void make_room(const Entry* except);
  void refuse(mail::Delivery&& what);

  Node& node_;
  Entries entries_;
  Lru lru_;  // idle as far as known, the longest unused first
  std::unordered_set<PersistenceId> quarantined_;
  std::unordered_map<PersistenceId, int> deaths_;  // of entities that left, if any
};

}  // namespace onceward::actors
