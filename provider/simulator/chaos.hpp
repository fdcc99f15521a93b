// Chaos: a fault program drawn from a seed. A given share of requests, and of events to be sent by
// webhook, meets one fault of a kind that can happen to it; the kind and its parameters are drawn.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <onceward/core/result.hpp>
#include <onceward/provider/simulator/simulated_provider.hpp>

#include "provider/simulator/fault_kinds.hpp"

namespace onceward::provider::simulator {

/// The fault that one request or event is to meet; acts once, at the stage of its kind.
struct ChaosFault {
  std::string name;
  FaultAction action;
};

class Chaos {
 public:
  /// invalid_argument names what is wrong with the settings.
  [[nodiscard]] Result<Unit> start(ChaosSettings settings);
  void stop() { settings_.percent = 0; }

  [[nodiscard]] const ChaosSettings& settings() const noexcept { return settings_; }
  /// How often each kind was drawn since start().
  [[nodiscard]] const std::map<std::string, std::uint64_t>& drawn() const noexcept {
    return drawn_;
  }

  /// Called once for each request under /v1, in order of receipt.
  [[nodiscard]] std::optional<ChaosFault> draw(const RequestFacts& facts);

 private:
  [[nodiscard]] FaultParams draw_params();
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next() % bound; }

  ChaosSettings settings_;
  Random random_{0};
  std::map<std::string, std::uint64_t> drawn_;
};

}  // namespace onceward::provider::simulator
