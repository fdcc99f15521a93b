// EventLog: what happened at the provider, as it would tell by webhook: type, object, and the
// request that caused it. Kept in memory for inspection, bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace onceward::provider::simulator {

struct ProviderEvent {
  std::string id;
  std::string type;  ///< payment_intent.succeeded, charge.failed, ...
  std::int64_t created_s = 0;
  std::string object;  ///< id of the object
  std::string status;  ///< of the object, at that moment
  std::string request;
  std::string key;
  std::string data;  ///< JSON of the object, at that moment
};

class EventLog {
 public:
  explicit EventLog(std::size_t rows_max) : rows_max_(rows_max) {}

  void append(ProviderEvent event) {
    if (events_.size() >= rows_max_) events_.pop_front();
    events_.push_back(std::move(event));
  }
  [[nodiscard]] const std::deque<ProviderEvent>& all() const noexcept { return events_; }
  void clear() { events_.clear(); }

 private:
  const std::size_t rows_max_;
  std::deque<ProviderEvent> events_;
};

}  // namespace onceward::provider::simulator
