// BillingFlow: bills customers over a journal, with the real billing machines and a provider in
// memory, one thread, no crash of its own. What waits for a commit at one time is one group.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <onceward/billing/billing_entity.hpp>
#include <onceward/journal/journal.hpp>

#include "tests/support/fake_provider.hpp"

namespace onceward::testing {

class BillingFlow {
 public:
  explicit BillingFlow(journal::Journal& journal);

  /// Around each group; `stored` is told after its units were answered as stored.
  std::function<void()> before_commit;
  std::function<void()> stored;

  /// One charge each, at the same time; every third is declined first. False if a commit was not
  /// stored.
  [[nodiscard]] bool bill(const std::vector<std::string>& customers, const std::string& period);
  [[nodiscard]] const FakeProvider& provider() const { return provider_; }

 private:
  struct Entity {
    std::unique_ptr<Machine> machine;
    std::deque<Output> outputs;
    bool is_to_decline = false;
  };
  void start(Entity& entity, const std::string& customer, const std::string& period);
  void step(Entity& entity, Input input);
  /// Until the entity wants to commit or has nothing to do.
  void run_to_commit(Entity& entity);

  journal::Journal& journal_;
  EntityType type_;
  FakeProvider provider_;
  Timestamp now_;
  std::uint64_t incarnation_ = 0;
};

}  // namespace onceward::testing
