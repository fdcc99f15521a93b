// Activation and passivation.
#include "actors/router_actor.hpp"

#include <utility>

#include "actors/entity_actor.hpp"

namespace onceward::actors {

RouterActor::RouterActor(caf::actor_config& config, Node& node,
                         std::vector<PersistenceId> quarantined)
    : caf::event_based_actor(config),
      node_(node),
      quarantined_(std::make_move_iterator(quarantined.begin()),
                   std::make_move_iterator(quarantined.end())) {
  node_.routers.add();
}

caf::behavior RouterActor::make_behavior() {
  // noexcept: the only user code reached from here (turn_down, sinks) must not throw.
  return {[this](RouterMail& mail) noexcept {
    std::visit([this](auto&& content) { on(std::forward<decltype(content)>(content)); },
               std::move(mail.content));
  }};
}

void RouterActor::on_exit() {
  entries_.clear();
  lru_.clear();
  node_.routers.subtract();
}

void RouterActor::on(mail::Stop&&) {
  for (const auto& [id, entry] : entries_) post(entry.actor, EntityMail{mail::Stop{}});
  quit();
}

void RouterActor::on(mail::Deliver&& deliver) {
  if (quarantined_.contains(deliver.id)) return refuse(std::move(deliver.what));
  if (const auto found = entries_.find(deliver.id); found != entries_.end()) {
    return forward(found->second, std::move(deliver.what));
  }
  if (std::holds_alternative<mail::PermitGranted>(deliver.what)) return;
  const EntityBinding* binding = node_.binding_of(deliver.id);
  ONCEWARD_CHECK(binding != nullptr, "mail for an entity that no binding serves");
  post(node_.reader, ReaderMail{start(deliver.id, *binding)});
  Entry& entry = entries_.at(deliver.id);
  forward(entry, std::move(deliver.what));
  make_room(&entry);
}

void RouterActor::on(mail::WakeMany&& wake) {
  mail::RecoverWave wave;
  for (const auto& id : wake.ids) {
    const EntityBinding* binding = node_.binding_of(id);
    if (binding == nullptr || quarantined_.contains(id)) continue;
    if (const auto found = entries_.find(id); found != entries_.end()) {
      forward(found->second, mail::Wake{});
    } else {
      wave.recoveries.push_back(start(id, *binding));
    }
  }
  make_room(nullptr);
  post(node_.reader, ReaderMail{std::move(wave)});
}

void RouterActor::on(mail::Left&& left) {
  const auto found = entries_.find(left.id);
  ONCEWARD_CHECK(found != entries_.end(), "an actor leaves once");
  node_.leaving.fetch_sub(1, std::memory_order_relaxed);
  if (left.deaths > 0) deaths_[left.id] = left.deaths;
  auto held = std::move(found->second.held);
  entries_.erase(found);
  for (auto& what : held) on(mail::Deliver{left.id, std::move(what)});
}

void RouterActor::on(mail::Stays&& stays) {
  const auto found = entries_.find(stays.id);
  if (found == entries_.end()) return;  // quarantined since
  Entry& entry = found->second;
  node_.leaving.fetch_sub(1, std::memory_order_relaxed);
  entry.leaving = false;
  // Not back into lru_: it is busy, and asks by itself once it is not.
  for (auto& what : std::exchange(entry.held, {})) forward(entry, std::move(what));
}

void RouterActor::on(mail::MayLeave&& may) {
  const auto found = entries_.find(may.id);
  if (found == entries_.end() || found->second.leaving) return;
  touch(found->second);
  if (node_.is_crowded()) ask_to_leave(found->second);
}

void RouterActor::on(mail::Quarantined&& quarantined) {
  const auto found = entries_.find(quarantined.id);
  ONCEWARD_CHECK(found != entries_.end(), "a quarantined entity is not passivated");
  Entry& entry = found->second;
  if (entry.leaving) node_.leaving.fetch_sub(1, std::memory_order_relaxed);
  if (entry.place != lru_.end()) lru_.erase(entry.place);
  post(entry.actor, EntityMail{mail::Stop{}});
  for (auto& what : entry.held) refuse(std::move(what));
  entries_.erase(found);
  quarantined_.insert(std::move(quarantined.id));
}

void RouterActor::on(mail::Lift&& lift) {
  post(node_.writer, WriterMail{mail::LiftRequest{caf::actor_cast<caf::actor>(this),
                                                  std::move(lift.id), std::move(lift.open)}});
}

void RouterActor::on(mail::Lifted&& lifted) {
  quarantined_.erase(lifted.id);
  deaths_.erase(lifted.id);
  on(mail::Deliver{std::move(lifted.id), mail::Wake{}});
  lifted.open->end(ok());
}

void RouterActor::on(mail::Trim&&) {
  make_room(nullptr);
}

void RouterActor::forward(Entry& entry, mail::Delivery&& what) {
  if (entry.leaving) return entry.held.push_back(std::move(what));
  touch(entry);
  post(entry.actor, EntityMail{std::move(what)});
}

mail::Recover RouterActor::start(const PersistenceId& id, const EntityBinding& binding) {
  const auto died = deaths_.extract(id);
  const int deaths = died.empty() ? 0 : died.mapped();
  const Incarnation incarnation = node_.next_incarnation();
  const auto [place, inserted] = entries_.try_emplace(id);
  ONCEWARD_CHECK(inserted, "an entity has one actor");
  Entry& entry = place->second;
  entry.place = lru_.end();
  entry.actor = spawn<EntityActor, caf::lazy_init>(std::ref(node_), std::cref(binding), id,
                                                   incarnation, deaths);
  touch(entry);
  node_.activations.fetch_add(1, std::memory_order_relaxed);
  return mail::Recover{id, entry.actor, incarnation, 0};
}

void RouterActor::touch(Entry& entry) {
  if (entry.place == lru_.end()) {
    entry.place = lru_.insert(lru_.end(), &entry);
  } else {
    lru_.splice(lru_.end(), lru_, entry.place);
  }
}

void RouterActor::ask_to_leave(Entry& entry) {
  if (entry.place != lru_.end()) lru_.erase(std::exchange(entry.place, lru_.end()));
  entry.leaving = true;
  node_.leaving.fetch_add(1, std::memory_order_relaxed);
  post(entry.actor, EntityMail{mail::Passivate{}});
}

void RouterActor::make_room(const Entry* except) {
  while (node_.is_crowded() && !lru_.empty() && lru_.front() != except) {
    ask_to_leave(*lru_.front());
  }
}

// Mail to a quarantined entity: only who waits for an answer gets one.
void RouterActor::refuse(mail::Delivery&& what) {
  if (auto* command = std::get_if<mail::Command>(&what)) {
    command->open->turn_down(Turndown::quarantined);
  }
}

}  // namespace onceward::actors
