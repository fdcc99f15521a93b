// Hash of the persistence id to a router.
#include "actors/gate.hpp"

#include <functional>
#include <mutex>
#include <utility>

namespace onceward::actors {

void Gate::open(std::vector<caf::actor> routers) {
  ONCEWARD_CHECK(routers.size() == routers_max_, "every router has its range of the hash");
  const std::unique_lock lock(mutex_);
  routers_ = std::move(routers);
}

std::vector<caf::actor> Gate::close() {
  const std::unique_lock lock(mutex_);
  return std::exchange(routers_, {});
}

std::size_t Gate::router_of(const PersistenceId& id) const noexcept {
  return std::hash<PersistenceId>{}(id) % routers_max_;
}

void Gate::deliver(const PersistenceId& id, mail::Delivery what) {
  post_to(router_of(id), RouterMail{mail::Deliver{id, std::move(what)}});
}

void Gate::post_to(std::size_t router, RouterMail mail) {
  caf::actor to;
  {
    const std::shared_lock lock(mutex_);
    if (routers_.empty()) return;
    to = routers_[router];
  }
  // Not under the lock: mail to a finished router is destroyed here, and with it a command whose
  // answer may come through this gate again.
  post(to, std::move(mail));
}

}  // namespace onceward::actors
