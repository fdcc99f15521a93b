// Two small guarded maps.
#include "ingress/http/caller_keys.hpp"

#include <array>

#include <onceward/core/check.hpp>
#include <onceward/core/digest.hpp>

namespace onceward::ingress {

CallerKeys::Ticket& CallerKeys::Ticket::operator=(Ticket&& other) noexcept {
  if (this == &other) return *this;
  release();
  keys_ = std::exchange(other.keys_, nullptr);
  id_ = std::move(other.id_);
  return *this;
}

void CallerKeys::Ticket::release() noexcept {
  if (keys_ == nullptr) return;
  const std::lock_guard lock(keys_->mutex_);
  const auto erased = keys_->fingerprints_.erase(id_);
  ONCEWARD_CHECK(erased == 1, "a caller key was given back twice");
  keys_ = nullptr;
}

CallerKeys::Entered CallerKeys::enter(std::string_view scope, std::string_view key,
                                      const std::string& fingerprint) {
  const std::array<std::string_view, 2> parts{scope, key};
  std::string id = netstrings(parts);
  const std::lock_guard lock(mutex_);
  if (const auto held = fingerprints_.find(id); held != fingerprints_.end()) {
    return {held->second == fingerprint ? Entry::in_handler : Entry::other_payload, {}};
  }
  if (fingerprints_.size() >= requests_max_) return {Entry::full, {}};
  fingerprints_.emplace(id, fingerprint);
  return {Entry::entered, Ticket(*this, std::move(id))};
}

std::size_t CallerKeys::size() const {
  const std::lock_guard lock(mutex_);
  return fingerprints_.size();
}

void CommandsUnderWay::add(const ObligationKey& key) {
  const std::lock_guard lock(mutex_);
  ++counts_[to_display(key)];
}

void CommandsUnderWay::remove(const ObligationKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(to_display(key));
  ONCEWARD_CHECK(found != counts_.end(), "a command ended that was not under way");
  if (--found->second == 0) counts_.erase(found);
}

bool CommandsUnderWay::any(const ObligationKey& key) const {
  const std::lock_guard lock(mutex_);
  return counts_.contains(to_display(key));
}

}  // namespace onceward::ingress
