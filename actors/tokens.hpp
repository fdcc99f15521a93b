// Tokens that travel in mail and give back by their destructor what they stand for, so that mail
// to an actor that is gone, an exception or a stop can lose neither a permit nor a count.
#pragma once

#include <memory>
#include <utility>

#include <onceward/provider/provider.hpp>

#include "actors/tally.hpp"

namespace onceward::actors {

/// One permit of the provider, returned unless it is taken.
class PermitToken {
 public:
  /// The caller holds a permit and hands it over. `provider` outlives the token.
  explicit PermitToken(provider::Provider& provider) : provider_(&provider) {}
  PermitToken(PermitToken&& other) noexcept : provider_(std::exchange(other.provider_, nullptr)) {}
  PermitToken& operator=(PermitToken&& other) noexcept {
    std::swap(provider_, other.provider_);
    return *this;
  }
  ~PermitToken() {
    if (provider_ != nullptr) provider_->release();
  }
  /// From here on the caller answers for the permit.
  void take() noexcept { provider_ = nullptr; }

 private:
  provider::Provider* provider_;
};

/// One commit or provider call that a graceful stop waits for.
class WorkToken {
 public:
  WorkToken() = default;
  /// Shared, because a provider may hold the token longer than the runtime lives.
  explicit WorkToken(std::shared_ptr<Tally> work) : work_(std::move(work)) { work_->add(); }
  WorkToken(WorkToken&& other) noexcept = default;
  WorkToken& operator=(WorkToken&& other) noexcept {
    std::swap(work_, other.work_);
    return *this;
  }
  ~WorkToken() {
    if (work_) work_->subtract();
  }

 private:
  std::shared_ptr<Tally> work_;
};

}  // namespace onceward::actors
