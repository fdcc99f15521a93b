// CaseMachine: one entity on one node of a CaseWorld. What it puts out goes to the world's journal,
// provider and callers; the named crash points lie between these.
#pragma once

#include <any>
#include <cstdint>
#include <string>

#include "tests/support/machine_pump.hpp"

namespace onceward::testing {

class CaseWorld;
struct CaseNode;

/// Where a process may die.
enum class CrashPoint : std::uint8_t {
  none,
  before_claim,   ///< CP1: nothing of the obligation is stored
  inside_claim,   ///< in the middle of the transaction that claims, or that takes a mark
  after_claim,    ///< CP2: claim and BillingInitiated are stored
  after_started,  ///< CP3: a request that moves money is recorded, no byte has left
  on_the_wire,    ///< CP4: its bytes have left
  answer_read,    ///< CP5: its answer is read, nothing of it is stored
  result_stored,  ///< CP6: the outcome is stored, nobody was told
  after_reply,    ///< CP7: the caller was told
};

class CaseMachine final : public MachinePump {
 public:
  CaseMachine(CaseWorld& world, CaseNode& node, EntityType type, PersistenceId id);

  void start();
  void deliver(Input input) { inputs_.push_back(std::move(input)); }
  /// Performs outputs and takes inputs until there are none; false if the process died on the way.
  bool work();
  [[nodiscard]] bool is_running() const { return is_up(); }
  [[nodiscard]] bool has_work() const { return !inputs_.empty() || !outputs_.empty(); }
  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] const PersistenceId& id() const { return id_; }
  /// Nothing is outstanding: it may be dropped.
  [[nodiscard]] bool is_idle() const { return is_up() && !has_work() && machine_->is_idle(); }

 private:
  [[nodiscard]] Now now() const override;
  bool offers_permit() override;
  void permit_wanted(const output::AcquirePermit& wanted) override;
  void permit_returned() override;
  void commit(output::Commit commit) override;
  void call(output::Call call) override;
  void replied(output::Reply reply) override;
  void tells(output::Tell tell) override;
  void loads(output::Load load) override;
  void quarantined(const std::string& why) override;
  bool dies(CrashPoint point);

  CaseWorld& world_;
  CaseNode& node_;
  bool died_ = false;
};

}  // namespace onceward::testing
