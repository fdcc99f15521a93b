// The parts of a World that only its own files see: a node of it and what it holds in memory for
// one entity.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <onceward/harness/world.hpp>

#include "recovery/harness/hash.hpp"

namespace onceward::harness {

/// One entity on one node. All of it is lost in a crash.
struct World::Slot {
  std::size_t entity = 0;
  std::unique_ptr<Machine> machine;
  std::vector<Output> outputs;  // of the last step, not performed yet
  std::vector<Input> inputs;    // under way to the machine
  std::vector<ExternalAnswer> answers_in_hand;
  std::vector<input::Command> commands_in_hand;
  std::uint64_t memory = 0;  // hash of all that was fed and performed since the start

  [[nodiscard]] bool has_work() const { return !outputs.empty() || !inputs.empty(); }
  void forget() {
    machine.reset();
    outputs.clear();
    inputs.clear();
    answers_in_hand.clear();
    commands_in_hand.clear();
    memory = 0;
  }
};

struct World::Node {
  struct Told {
    std::size_t from = 0;  // entity that waits for the reply
    std::uint64_t correlation = 0;
  };

  int index = 0;
  bool is_up = false;
  std::vector<Slot> slots;
  std::vector<char> waiting;  // by ask: its caller waits here for a reply
  std::vector<Told> told;     // Tells of entities of this node that have no reply yet
  int permits_out = 0;
  std::int64_t boot_at_ms = 0;
  std::uint64_t boot = 1;

  [[nodiscard]] Lane lane() const { return index == 0 ? Lane::node_a : Lane::node_b; }
  [[nodiscard]] bool has_work() const {
    for (const auto& slot : slots) {
      if (slot.has_work()) return true;
    }
    return false;
  }
  void die() {
    for (auto& slot : slots) slot.forget();
    waiting.assign(waiting.size(), 0);
    told.clear();
    permits_out = 0;
    is_up = false;
  }
};

/// Replies to a Tell are told from replies to a caller by their number.
inline constexpr std::uint64_t first_tell = 1'000'000'000;

[[nodiscard]] inline std::size_t lookup_count(const std::vector<char>& flags) {
  std::size_t n = 0;
  for (const char flag : flags) n += flag != 0 ? 1U : 0U;
  return n;
}

}  // namespace onceward::harness
