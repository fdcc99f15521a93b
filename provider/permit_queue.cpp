// A token bucket in integers, in-flight slots, and the pause.
#include "provider/permit_queue.hpp"

#include <algorithm>
#include <utility>

namespace onceward::provider {

namespace {

constexpr std::int64_t one_token_milli = 1'000;
/// What may leave at once: the share of this many milliseconds. Enough for timers of one
/// millisecond to reach any rate, too little for a limiter of the provider to notice.
constexpr std::int64_t burst_ms = 100;

std::int64_t capacity_milli(const PermitQueueOptions& options) {
  return std::max(one_token_milli, std::int64_t{options.rate_per_second} * burst_ms);
}

}  // namespace

PermitQueue::PermitQueue(const PermitQueueOptions& options, std::int64_t now_ms)
    : options_(options), tokens_milli_(capacity_milli(options)), refilled_at_ms_(now_ms) {
  ONCEWARD_CHECK(options.in_flight_max > 0, "a provider port without slots can never call");
}

void PermitQueue::refill(std::int64_t now_ms) {
  if (now_ms <= refilled_at_ms_) return;
  const std::int64_t capacity = capacity_milli(options_);
  // A rate of n per second is n thousandths of a token per millisecond. A pause of the machine may
  // be long: the product is kept small by the time that fills the bucket from the deepest debt.
  constexpr std::int64_t elapsed_max_ms = 86'400'000;
  const std::int64_t elapsed = std::min(now_ms - refilled_at_ms_, elapsed_max_ms);
  tokens_milli_ =
      std::min(capacity, tokens_milli_ + elapsed * std::int64_t{options_.rate_per_second});
  refilled_at_ms_ = now_ms;
}

bool PermitQueue::take(std::int64_t now_ms) {
  refill(now_ms);
  if (closed_ || in_flight_ >= options_.in_flight_max) return false;
  if (is_paused() && (in_flight_ > 0 || now_ms < next_probe_ms_)) return false;
  if (options_.rate_per_second > 0) {
    if (tokens_milli_ < one_token_milli) return false;
    tokens_milli_ -= one_token_milli;
  }
  if (is_paused()) next_probe_ms_ = now_ms + options_.probe_interval_ms;
  ++in_flight_;
  return true;
}

bool PermitQueue::try_take(std::int64_t now_ms) {
  return waiting_.empty() && take(now_ms);
}

void PermitQueue::wait(PermitSink granted) {
  if (!closed_) waiting_.push_back(std::move(granted));
}

std::vector<PermitSink> PermitQueue::take_grants(std::int64_t now_ms) {
  std::vector<PermitSink> granted;
  while (!waiting_.empty() && take(now_ms)) {
    granted.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return granted;
}

std::optional<std::int64_t> PermitQueue::next_grant_at_ms(std::int64_t now_ms) const {
  if (waiting_.empty() || in_flight_ >= options_.in_flight_max) return std::nullopt;
  if (is_paused() && in_flight_ > 0) return std::nullopt;
  std::int64_t at = now_ms;
  if (is_paused()) at = std::max(at, next_probe_ms_);
  const std::int64_t missing = one_token_milli - tokens_milli_;
  if (options_.rate_per_second > 0 && missing > 0) {
    const std::int64_t rate = options_.rate_per_second;
    at = std::max(at, refilled_at_ms_ + (missing + rate - 1) / rate);
  }
  return at;
}

void PermitQueue::give_back_unused(std::int64_t now_ms) {
  ONCEWARD_CHECK(in_flight_ > 0, "a permit came back that nobody held");
  --in_flight_;
  refill(now_ms);
  if (options_.rate_per_second > 0) {
    tokens_milli_ = std::min(capacity_milli(options_), tokens_milli_ + one_token_milli);
  }
  next_probe_ms_ = 0;  // the probe did not happen
}

void PermitQueue::end_call(std::uint32_t wire_requests) {
  ONCEWARD_CHECK(in_flight_ > 0, "a call ended that held no permit");
  --in_flight_;
  if (options_.rate_per_second > 0 && wire_requests > 1) {
    tokens_milli_ -= (std::int64_t{wire_requests} - 1) * one_token_milli;
  }
}

void PermitQueue::pause(std::string reason, std::int64_t now_ms) {
  if (is_paused()) return;
  paused_reason_ = reason.empty() ? "refused" : std::move(reason);
  next_probe_ms_ = now_ms + options_.probe_interval_ms;
}

void PermitQueue::resume() {
  paused_reason_.clear();
  next_probe_ms_ = 0;
}

void PermitQueue::close() {
  closed_ = true;
  waiting_.clear();
}

}  // namespace onceward::provider
