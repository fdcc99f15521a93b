// WebhookSender: which event is delivered to whom, when, how often and signed how. On the
// provider's clock, without sockets: calls come out, answers go in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <onceward/core/clock.hpp>
#include <onceward/provider/simulator/webhooks.hpp>

#include "provider/simulator/change_log.hpp"
#include "provider/simulator/chaos.hpp"
#include "provider/simulator/events.hpp"
#include "provider/simulator/faults.hpp"
#include "provider/simulator/webhook_endpoint.hpp"

namespace onceward::provider::simulator {

/// One attempt that was made, for inspection.
struct WebhookAttempt {
  std::uint64_t nr = 0;
  std::string endpoint;
  std::string event;
  std::string type;
  std::uint32_t attempt = 1;
  Timestamp at;                     ///< provider time
  std::string faults;               ///< that acted on the event or on this attempt
  std::string outcome = "pending";  ///< answered, unanswered, pending
  int status = 0;
};

/// What becomes of one event before its first attempt.
struct WebhookPlan {
  bool twin = false;   ///< the change is told once more, by an event with another id
  bool early = false;  ///< delivered before the answer of the request that caused it
  std::uint64_t copies = 1;
  std::chrono::milliseconds delay{0};
  std::uint64_t behind = 0;  ///< waits for that many later events
  bool lost = false;
  std::string faults;
  std::optional<ChaosFault> chaos;  ///< acts on the first attempt
};

class WebhookSender {
 public:
  WebhookSender(std::size_t pending_max, std::size_t log_max, Faults& faults, Chaos& chaos,
                ChangeLog& changes)
      : pending_max_(pending_max),
        log_max_(log_max),
        faults_(faults),
        chaos_(chaos),
        changes_(changes) {}

  WebhookEndpoint& add(WebhookEndpoint endpoint);
  /// Null for an unknown id.
  [[nodiscard]] WebhookEndpoint* find(const std::string& id);
  void save(const WebhookEndpoint& endpoint);
  /// Forgets the endpoint and what waits for it.
  void remove(const std::string& id);
  [[nodiscard]] const std::deque<WebhookEndpoint>& endpoints() const noexcept { return endpoints_; }

  /// Asks the fault rules; once per event.
  [[nodiscard]] WebhookPlan plan(const RequestFacts& facts, Timestamp driver_now);
  /// Queues `event` for every endpoint that takes its type. Returns the numbers of deliveries that
  /// the answer of the causing request waits for.
  std::vector<std::uint64_t> enqueue(const ProviderEvent& event, const RequestFacts& facts,
                                     const WebhookPlan& plan, Timestamp now);

  /// The next attempt that is due, signed; it is under way until answered().
  [[nodiscard]] std::optional<WebhookCall> take(Timestamp now, Timestamp driver_now);
  /// The end of an attempt; returns the number of its delivery, 0 for one that is not known.
  std::uint64_t answered(std::uint64_t nr, std::optional<int> status, Timestamp now);
  /// Provider time of the earliest attempt that waits.
  [[nodiscard]] std::optional<Timestamp> next_due() const;

  [[nodiscard]] const std::deque<WebhookAttempt>& log() const noexcept { return log_; }
  [[nodiscard]] std::size_t pending() const noexcept { return queue_.size() + under_way_.size(); }
  /// Deliveries not made for lack of room, and those given up after three days.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }

  [[nodiscard]] Result<Unit> restore(std::string_view text);
  void clear();

 private:
  struct Delivery {
    std::uint64_t nr = 0;  ///< of the delivery; stays over its attempts
    std::string endpoint;
    std::string event;
    std::shared_ptr<const std::string> body;  // with the deliveries of the same event
    RequestFacts facts;
    Timestamp made_at;
    std::uint32_t attempts = 0;
    std::uint64_t behind = 0;
    std::string faults;
    std::optional<ChaosFault> chaos;
  };
  using Place = std::pair<Timestamp, std::uint64_t>;

  void let_one_pass(Timestamp now);
  [[nodiscard]] std::vector<WebhookFault> attempt_faults(Delivery& delivery, Timestamp driver_now,
                                                         std::string& acted);

  const std::size_t pending_max_;
  const std::size_t log_max_;
  Faults& faults_;
  Chaos& chaos_;
  ChangeLog& changes_;
  std::deque<WebhookEndpoint> endpoints_;
  std::map<Place, Delivery> queue_;
  std::map<std::uint64_t, Delivery> under_way_;  ///< by number of the attempt
  std::deque<WebhookAttempt> log_;
  std::uint64_t last_delivery_ = 0;
  std::uint64_t last_attempt_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t given_up_ = 0;
};

/// `t=..,v1=..[,v1=..],v0=..` over the bytes of the body, one v1 per secret. v0 is what the
/// provider adds to test events: never valid.
[[nodiscard]] std::string sign_webhook(const std::vector<std::string>& secrets,
                                       std::int64_t stamp_s, std::string_view body);

}  // namespace onceward::provider::simulator
