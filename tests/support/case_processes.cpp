// The processes of a CaseWorld: how they start, die, stand still and lose the store.
#include <onceward/core/check.hpp>

#include "tests/support/case_world.hpp"

namespace onceward::testing {

CaseNode& CaseWorld::add_node(const std::string& name) {
  nodes_.push_back(std::make_unique<CaseNode>());
  CaseNode& node = *nodes_.back();
  node.name = name;
  node.boot_at_ms = now_.ms - 1'000'000;
  node.is_owner = false;
  return node;
}

void CaseWorld::start(std::size_t index) {
  CaseNode& node = *nodes_[index];
  node.process = ++last_process_;
  node.start_at.reset();
  node.is_up = true;
  node.is_owner = true;
  node.is_paused = false;
  // As the client does: it asks for the time before anything else.
  port_.provider().advance(now_);
  node.provider_time = {};
  const Timestamp second{port_.provider().provider_time().ms / 1'000 * 1'000};
  if (!port_.is_cut_off) node.provider_time.saw(second, now_.ms - node.boot_at_ms);
  const auto epoch = journal_->barrier();
  ONCEWARD_CHECK(epoch.has_value(), "a process takes the store when it starts");
  node.epoch = *epoch;
  stored();
  const auto open = reader()->open_before(*epoch, std::nullopt, 1'000'000);
  ONCEWARD_CHECK(open.has_value(), "the open rows can be read");
  for (const auto& row : *open) wake(node, row);
}

void CaseWorld::join(std::size_t index) {
  CaseNode& node = *nodes_[index];
  node.process = ++last_process_;
  node.is_up = true;
  node.is_owner = true;
  node.epoch = nodes_.front()->epoch;
  node.provider_time = nodes_.front()->provider_time;
}

void CaseWorld::die(CaseNode& node) {
  port_.forget(node.process);
  node.machines.clear();
  node.permit_queue.clear();
  node.in_flight = 0;
  node.is_up = false;
  node.is_dying = false;
  ++crashes_;
}

void CaseWorld::kill(std::size_t node) {
  die(*nodes_[node]);
}

void CaseWorld::go_on(std::size_t node) {
  nodes_[node]->is_paused = false;
}

void CaseWorld::crash_at(CrashPoint point, int nth) {
  armed_.emplace(point, nth);
}

bool CaseWorld::reaches(CrashPoint point) {
  auto [from, to] = armed_.equal_range(point);
  for (auto it = from; it != to; ++it) {
    if (--it->second > 0) continue;
    armed_.erase(it);
    return true;
  }
  return false;
}

bool CaseWorld::dies_inside_claim() {
  if (!reaches(CrashPoint::inside_claim)) return false;
  for (auto& node : nodes_) node->is_dying = node->is_owner && node->is_up;
  return true;
}

// The store told it that it is not the owner: it gives up all it has.
void CaseWorld::step_down(CaseNode& node) {
  port_.forget(node.process);
  node.machines.clear();
  node.permit_queue.clear();
  node.in_flight = 0;
}

}  // namespace onceward::testing
