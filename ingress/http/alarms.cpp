// The alarm thread: sleeps until the earliest alarm.
#include "ingress/http/alarms.hpp"

namespace onceward::ingress {

Alarms::Alarms(const Clock& clock, std::size_t alarms_max)
    : clock_(clock), alarms_max_(alarms_max), thread_([this] { run(); }) {}

Alarms::~Alarms() {
  stop();
}

void Alarms::stop() {
  std::map<Id, std::function<void()>> dropped;  // what they hold ends after the lock
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(alarms_);
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<Alarms::Id> Alarms::set(std::int64_t boottime_ms, std::function<void()> ring) {
  bool is_first = false;
  Id id;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || alarms_.size() >= alarms_max_) return std::nullopt;
    id = {boottime_ms, next_++};
    const auto inserted = alarms_.emplace(id, std::move(ring)).first;
    is_first = inserted == alarms_.begin();
  }
  if (is_first) changed_.notify_all();
  return id;
}

void Alarms::cancel(const Id& id) {
  std::function<void()> dropped;  // destroyed after the lock: what it holds may call back
  const std::lock_guard lock(mutex_);
  const auto found = alarms_.find(id);
  if (found == alarms_.end()) return;
  dropped = std::move(found->second);
  alarms_.erase(found);
}

std::size_t Alarms::size() const {
  const std::lock_guard lock(mutex_);
  return alarms_.size();
}

void Alarms::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (alarms_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = alarms_.begin();
    const std::int64_t left_ms = first->first.first - clock_.now().boottime_ms;
    if (left_ms > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds{left_ms});
      continue;
    }
    auto ring = std::move(first->second);
    alarms_.erase(first);
    lock.unlock();
    ring();
    ring = nullptr;
    lock.lock();
  }
}

}  // namespace onceward::ingress
