// ChangeLog: rows that must be stored before the present answers go out. Costs nothing when nobody
// stores.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <onceward/provider/simulator/simulated_provider.hpp>

namespace onceward::provider::simulator {

class ChangeLog {
 public:
  explicit ChangeLog(bool enabled) : enabled_(enabled) {}

  /// `text` is called only when somebody stores.
  template <class MakeText>
  void put(const char* kind, const std::string& id, MakeText&& text) {
    if (enabled_) rows_.push_back({kind, id, text()});
  }
  /// Everything stored so far is to be forgotten.
  void clear_store() {
    if (enabled_) rows_.assign(1, StoredRow{});
  }
  [[nodiscard]] std::vector<StoredRow> take() { return std::exchange(rows_, {}); }

 private:
  const bool enabled_;
  std::vector<StoredRow> rows_;
};

}  // namespace onceward::provider::simulator
