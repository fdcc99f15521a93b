// One thread that sleeps until the earliest armed alarm.
#include "actors/alarm_clock.hpp"

#include <algorithm>
#include <utility>

namespace onceward::actors {

AlarmClock::AlarmClock(std::function<void(Alarm)> ring)
    : ring_(std::move(ring)),
      start_(std::chrono::steady_clock::now()),
      thread_([this] { run(); }) {}

AlarmClock::~AlarmClock() {
  stop();
}

void AlarmClock::set(Alarm alarm, std::int64_t delay_ms) {
  const Instant at = std::chrono::steady_clock::now() + std::chrono::milliseconds(delay_ms);
  const std::lock_guard lock(mutex_);
  auto& armed = armed_.at(static_cast<std::size_t>(alarm));
  if (armed && *armed <= at) return;
  armed = at;
  changed_.notify_one();
}

void AlarmClock::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

std::int64_t AlarmClock::elapsed_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               start_)
      .count();
}

void AlarmClock::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    auto earliest = armed_.begin();
    for (auto other = armed_.begin(); other != armed_.end(); ++other) {
      if (*other && (!*earliest || **other < **earliest)) earliest = other;
    }
    if (!*earliest) {
      changed_.wait(lock);
    } else if (const Instant at = **earliest; std::chrono::steady_clock::now() < at) {
      changed_.wait_until(lock, at);
    } else {
      earliest->reset();
      const auto alarm = static_cast<Alarm>(std::distance(armed_.begin(), earliest));
      lock.unlock();
      ring_(alarm);
      lock.lock();
    }
  }
}

}  // namespace onceward::actors
