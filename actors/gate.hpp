// Gate: the way from foreign threads (callers, provider) to the routers. Shared with every callback
// that a provider may hold longer than the runtime lives; once closed it lets nothing through.
#pragma once

#include <cstddef>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "actors/mail.hpp"

namespace onceward::actors {

/// Thread-safe.
class Gate {
 public:
  explicit Gate(std::size_t routers) : routers_max_(routers) {}

  void open(std::vector<caf::actor> routers);
  /// Gives up the routers: whoever holds a Gate keeps no actor alive from here on.
  [[nodiscard]] std::vector<caf::actor> close();

  [[nodiscard]] std::size_t router_of(const PersistenceId& id) const noexcept;
  /// Through the router of the entity. Closed: the delivery is destroyed.
  void deliver(const PersistenceId& id, mail::Delivery what);
  void post_to(std::size_t router, RouterMail mail);

  /// Commits and provider calls that are still going on.
  [[nodiscard]] const std::shared_ptr<Tally>& work() const noexcept { return work_; }

 private:
  const std::size_t routers_max_;
  const std::shared_ptr<Tally> work_ = std::make_shared<Tally>();
  std::shared_mutex mutex_;
  std::vector<caf::actor> routers_;  // guarded by mutex_; empty = closed
};

}  // namespace onceward::actors
