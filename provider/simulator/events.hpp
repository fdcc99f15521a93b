// EventLog: what happened at the provider, as it tells by webhook and by its list of events: type,
// object, and the request that caused it. In memory only, bounded.
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

/// The event as clients see it; `pending_webhooks` is how many receivers have not taken it yet.
[[nodiscard]] std::string event_text(const ProviderEvent& event, std::uint64_t pending_webhooks);

class EventLog {
 public:
  explicit EventLog(std::size_t events_max) : events_max_(events_max) {}

  void append(ProviderEvent event) {
    if (events_.size() >= events_max_) {
      events_.pop_front();
      ++dropped_;
    }
    events_.push_back(std::move(event));
  }
  /// Oldest first.
  [[nodiscard]] const std::deque<ProviderEvent>& all() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  void clear() {
    events_.clear();
    dropped_ = 0;
  }

 private:
  const std::size_t events_max_;
  std::deque<ProviderEvent> events_;
  std::uint64_t dropped_ = 0;
};

}  // namespace onceward::provider::simulator
