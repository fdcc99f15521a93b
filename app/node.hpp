// Node: one running daemon: store, provider, runtime, runs and HTTP wired together in the order in
// which they may start and stop. The only place that names the backends.
#pragma once

#include <memory>
#include <string>

#include <onceward/core/result.hpp>
#include <onceward/platform/log.hpp>

#include "app/config/config.hpp"

namespace onceward::app {

/// Start order: lock, epoch, pragmas, anchor and recorded values (all in the store's open), then
/// provider, runtime, runs, HTTP. A failure stops what had started and says what to do.
class Node {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Node>> start(const Config& config,
                                                           platform::Log& log);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// drain() with no patience.
  virtual ~Node() = default;

  [[nodiscard]] virtual std::string api_url() const = 0;
  [[nodiscard]] virtual std::string admin_url() const = 0;
  /// Of the provider simulator in this process; empty with any other provider.
  [[nodiscard]] virtual std::string simulator_url() const = 0;

  /// Takes no new work, lets provider calls in flight be answered and stored for at most the
  /// configured drain_timeout, then stops everything. What is unfinished stays resumable. Blocks;
  /// idempotent.
  virtual void drain() = 0;

 protected:
  Node() = default;
};

}  // namespace onceward::app
