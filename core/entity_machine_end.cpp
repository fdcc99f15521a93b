// How an incarnation ends: stopped, to be recovered with all it had in hand, or quarantined with
// everybody answered.
#include <onceward/core/entity_machine.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace onceward {

void EntityMachine::stop_to_recover(Error error) {
  output::Stop stop{output::Stop::Why::recover, std::move(error), {}, {}};
  if (pending_) {
    permits_ += pending_->holds_permit ? 1 : 0;
    if (auto* answer = std::get_if<ExternalAnswer>(&pending_->origin)) {
      stop.answers_in_hand.push_back(std::move(*answer));
    } else if (auto* command = std::get_if<input::Command>(&pending_->origin)) {
      stop.commands_in_hand.push_back(std::move(*command));
    }
    pending_.reset();
  }
  std::move(answers_.begin(), answers_.end(), std::back_inserter(stop.answers_in_hand));
  std::move(stash_.begin(), stash_.end(), std::back_inserter(stop.commands_in_hand));
  for (auto& waiter : waiters_) {
    waiter.accepted = true;
    stop.commands_in_hand.push_back(std::move(waiter));
  }
  answers_.clear();
  stash_.clear();
  waiters_.clear();
  phase_ = Phase::stopped;
  settle_permits();
  outputs_->push_back(std::move(stop));
}

void EntityMachine::quarantine(Error error) {
  output::Stop stop{output::Stop::Why::quarantine, std::move(error), {}, {}};
  if (pending_) {
    permits_ += pending_->holds_permit ? 1 : 0;
    if (auto* answer = std::get_if<ExternalAnswer>(&pending_->origin)) {
      stop.answers_in_hand.push_back(std::move(*answer));
    } else if (auto* command = std::get_if<input::Command>(&pending_->origin)) {
      turn_down_and_reply(*command, Turndown::quarantined);
    }
    pending_.reset();
  }
  std::move(answers_.begin(), answers_.end(), std::back_inserter(stop.answers_in_hand));
  for (const auto& command : stash_) turn_down_and_reply(command, Turndown::quarantined);
  for (const auto& waiter : waiters_) turn_down_and_reply(waiter, Turndown::quarantined);
  answers_.clear();
  stash_.clear();
  waiters_.clear();
  phase_ = Phase::stopped;
  settle_permits();
  outputs_->push_back(std::move(stop));
}

}  // namespace onceward
