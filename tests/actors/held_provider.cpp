// One answering thread.
#include "tests/actors/held_provider.hpp"

#include <utility>

#include <onceward/core/check.hpp>

namespace onceward::actors::testing {

HeldProvider::HeldProvider(std::size_t permits)
    : permits_(permits), free_(permits), thread_([this] { run(); }) {}

HeldProvider::~HeldProvider() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool HeldProvider::try_acquire() {
  const std::lock_guard lock(mutex_);
  if (free_ == 0 || !queue_.empty()) return false;
  --free_;
  ++acquired_;
  return true;
}

void HeldProvider::acquire(provider::PermitSink granted) {
  {
    const std::lock_guard lock(mutex_);
    if (free_ == 0) return queue_.push_back(std::move(granted));
    --free_;
    ++acquired_;
  }
  granted();
}

void HeldProvider::give_back(std::unique_lock<std::mutex>& lock) {
  if (queue_.empty()) {
    ++free_;
    ONCEWARD_CHECK(free_ <= permits_, "a permit came back twice");
    changed_.notify_all();
    return;
  }
  auto next = std::move(queue_.front());
  queue_.pop_front();
  ++acquired_;
  lock.unlock();
  next();
  lock.lock();
}

void HeldProvider::release() {
  std::unique_lock lock(mutex_);
  ++released_;
  give_back(lock);
}

void HeldProvider::call(ExternalRequest request, provider::AnswerSink answer) {
  const std::lock_guard lock(mutex_);
  ++called_;
  calls_.push_back({std::move(request), std::move(answer)});
  changed_.notify_all();
}

std::optional<Timestamp> HeldProvider::provider_now() const {
  return std::nullopt;
}

provider::ProviderStats HeldProvider::stats() const {
  return {};
}

void HeldProvider::stop(std::int64_t) {}

void HeldProvider::hold() {
  const std::lock_guard lock(mutex_);
  is_held_ = true;
}

void HeldProvider::let_go() {
  const std::lock_guard lock(mutex_);
  is_held_ = false;
  changed_.notify_all();
}

void HeldProvider::break_answers(int n) {
  const std::lock_guard lock(mutex_);
  broken_left_ = n;
}

int HeldProvider::charges(const IdempotencyKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = ledger_.find(key);
  return found == ledger_.end() ? 0 : found->second;
}

int HeldProvider::posts() const {
  const std::lock_guard lock(mutex_);
  return posts_;
}

int HeldProvider::look_ups() const {
  const std::lock_guard lock(mutex_);
  return look_ups_;
}

std::size_t HeldProvider::held() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

bool HeldProvider::settles() const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [this] {
    return calls_.empty() && !is_answering_ && free_ == permits_;
  });
}

bool HeldProvider::is_balanced() const {
  const std::lock_guard lock(mutex_);
  return acquired_ == called_ + released_ && free_ == permits_;
}

std::string HeldProvider::books() const {
  const std::lock_guard lock(mutex_);
  return "acquired " + std::to_string(acquired_) + ", called " + std::to_string(called_) +
         ", released " + std::to_string(released_) + ", free " + std::to_string(free_) + " of " +
         std::to_string(permits_);
}

// Like a real provider with idempotency keys: a key that charged once answers the same again.
ExternalAnswer HeldProvider::execute(const ExternalRequest& request) {
  ExternalAnswer answer;
  answer.key = request.key;
  answer.operation = request.operation;
  if (is_look_up(request.operation)) {
    ++look_ups_;
    answer.observation =
        ledger_.contains(request.key) ? Observation::object : Observation::not_found;
  } else {
    ++posts_;
    // A missing ledger entry is the first charge; the key guards all later ones.
    ledger_.try_emplace(request.key, 1);
    answer.observation = broken_left_ > 0 ? Observation::broken : Observation::object;
    if (broken_left_ > 0) --broken_left_;
  }
  if (answer.observation == Observation::object) {
    ProviderObject object;
    object.object = "charge";
    object.id = "ch_" + request.key.value();
    object.status = "succeeded";
    answer.objects.push_back(std::move(object));
  }
  return answer;
}

void HeldProvider::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopped_ || (!is_held_ && !calls_.empty()); });
    if (is_stopped_) return;
    Waiting next = std::move(calls_.front());
    calls_.pop_front();
    auto answer = execute(next.request);
    is_answering_ = true;
    lock.unlock();
    next.answer(std::move(answer));
    next.answer = nullptr;
    lock.lock();
    is_answering_ = false;
    give_back(lock);
    changed_.notify_all();
  }
}

}  // namespace onceward::actors::testing
