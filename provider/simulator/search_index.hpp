// SearchIndex: what the provider's search knows, which is less than what there is: objects appear,
// and change status, only after a lag. The search filters on the status it knows and returns the
// object as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onceward/core/clock.hpp>

namespace onceward::provider::simulator {

class SearchIndex {
 public:
  explicit SearchIndex(std::chrono::milliseconds lag) : lag_(lag) {}

  /// The object has had this status since `at` (provider time). `status` is kept by reference to
  /// static text.
  void note(const std::string& id, std::string_view status, Timestamp at) {
    history_[id].emplace_back(at, status);
  }
  /// The status by which the object is found at `now`; empty when it is not yet found. An object
  /// that was never noted (from a store) is found by `present`.
  [[nodiscard]] std::string_view status_of(const std::string& id, std::string_view present,
                                           Timestamp now) const {
    const auto found = history_.find(id);
    if (found == history_.end()) return present;
    std::string_view known;
    for (const auto& [at, status] : found->second) {
      if (at.plus(lag_) <= now) known = status;
    }
    return known;
  }
  void set_lag(std::chrono::milliseconds lag) { lag_ = lag; }
  [[nodiscard]] std::chrono::milliseconds lag() const noexcept { return lag_; }
  void clear() { history_.clear(); }

 private:
  std::chrono::milliseconds lag_;
  std::unordered_map<std::string, std::vector<std::pair<Timestamp, std::string_view>>> history_;
};

}  // namespace onceward::provider::simulator
