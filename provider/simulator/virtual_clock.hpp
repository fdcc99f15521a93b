// VirtualClock: the provider's own time, derived from the driver's: following it at a distance, or
// standing still until told to move. Private to the simulator.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include <onceward/core/clock.hpp>

namespace onceward::provider::simulator {

class VirtualClock {
 public:
  explicit VirtualClock(std::optional<Timestamp> frozen_at = std::nullopt) : frozen_(frozen_at) {}

  /// The driver's time; an earlier one than before is ignored.
  void observe(Timestamp driver) { driver_ = std::max(driver_, driver); }
  [[nodiscard]] Timestamp driver() const { return driver_; }
  [[nodiscard]] Timestamp now() const { return frozen_ ? *frozen_ : driver_.plus(offset_); }

  void advance(std::chrono::milliseconds by) {
    if (frozen_) {
      frozen_ = frozen_->plus(by);
    } else {
      offset_ += by;
    }
  }
  void set(Timestamp to) { advance(std::chrono::milliseconds(to.ms - now().ms)); }
  void freeze() { frozen_ = now(); }
  void thaw() {
    if (!frozen_) return;
    offset_ = std::chrono::milliseconds(frozen_->ms - driver_.ms);
    frozen_.reset();
  }
  [[nodiscard]] bool frozen() const { return frozen_.has_value(); }

  /// What is stored: distance to the driver's time, or where it stands.
  [[nodiscard]] std::chrono::milliseconds offset() const { return offset_; }
  void restore(std::chrono::milliseconds offset, std::optional<Timestamp> frozen_at) {
    offset_ = offset;
    frozen_ = frozen_at;
  }

 private:
  Timestamp driver_;
  std::chrono::milliseconds offset_{0};
  std::optional<Timestamp> frozen_;
};

}  // namespace onceward::provider::simulator
