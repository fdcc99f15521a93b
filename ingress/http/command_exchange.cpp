// Two asks of one command at most; whatever thread comes first answers, and nobody answers twice.
#include "ingress/http/command_exchange.hpp"

#include <any>
#include <atomic>
#include <memory>
#include <mutex>

namespace onceward::ingress {

namespace {

/// True if waiting longer could bring another answer.
bool may_change(const billing::BillingReply& reply) {
  if (const auto* told = std::get_if<billing::Told>(&reply)) {
    return is_open(told->row.status) && !is_operator_owned(told->row.status);
  }
  if (const auto* told = std::get_if<billing::RefundTold>(&reply)) {
    return is_open(told->refund.status) && told->refund.status != RefundStatus::parked;
  }
  return false;
}

bool was_replayed(const billing::BillingReply& reply) {
  if (const auto* told = std::get_if<billing::Told>(&reply)) return told->replayed;
  if (const auto* told = std::get_if<billing::RefundTold>(&reply)) return told->replayed;
  return false;
}

/// The second ask is always a repeat; what counts for the caller is whether the first one was.
billing::BillingReply with_replayed(billing::BillingReply reply, bool replayed) {
  if (auto* told = std::get_if<billing::Told>(&reply)) told->replayed = replayed;
  if (auto* told = std::get_if<billing::RefundTold>(&reply)) told->replayed = replayed;
  return reply;
}

class CommandExchange : public std::enable_shared_from_this<CommandExchange> {
 public:
  CommandExchange(Services& services, CommandCall command, Answer answer)
      : services_(services), command_(std::move(command)), answer_(std::move(answer)) {}

  void begin() {
    if (auto why = services_.ports.not_ready()) return not_ready(*why);
    const std::int64_t now_ms = services_.now().boottime_ms;
    wait_end_ms_ = now_ms + command_.wait_s * 1000;
    ring_at(now_ms + services_.acceptance_ms_max,
            [self = shared_from_this()] { self->finish(turned_down_answer(Turndown::uncertain)); });
    ask(command_.accepted, &CommandExchange::accepted);
  }

 private:
  using Take = void (CommandExchange::*)(const billing::BillingReply&);

  void ask(const billing::BillingCommand& command, Take take) {
    services_.ports.runtime.ask(customer_persistence_id(command_.customer), std::any(command),
                                [self = shared_from_this(), take](std::any reply) {
                                  const auto* known = std::any_cast<billing::BillingReply>(&reply);
                                  if (known == nullptr)
                                    return self->finish(turned_down_answer(Turndown::uncertain));
                                  ((*self).*take)(*known);
                                });
  }

  void accepted(const billing::BillingReply& reply) {
    if (answered_) return;
    replayed_ = was_replayed(reply);
    auto response = command_answer(reply, command_.location);
    const bool goes_on =
        command_.settled && may_change(reply) && services_.now().boottime_ms < wait_end_ms_;
    if (!goes_on) return finish(std::move(response));
    // It is durable: from here on the state known so far is an honest answer.
    first_ = std::move(response);
    ring_at(wait_end_ms_, [self = shared_from_this()] { self->finish(self->first_); });
    ask(*command_.settled, &CommandExchange::settled);
  }

  void settled(const billing::BillingReply& reply) {
    // A second ask that was turned down says nothing about the first one, which is durable.
    if (std::holds_alternative<billing::TurnedDown>(reply)) return finish(first_);
    finish(command_answer(with_replayed(reply, replayed_), command_.location));
  }

  void ring_at(std::int64_t at_ms, std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    if (alarm_) services_.alarms.cancel(*alarm_);
    // If no further alarm can be set, the runtime's own answer ends the wait.
    alarm_ = services_.alarms.set(at_ms, std::move(ring));
  }

  void not_ready(const std::string& why) {
    Problem problem;
    problem.kind = ProblemKind::not_ready;
    problem.detail = why + "; nothing was recorded, repeat it with the same key";
    problem.charge_state = ChargeState::unknown;
    problem.retry_after_s = 1;
    finish(problem_answer(std::move(problem)));
  }

  void finish(platform::HttpResponse response) {
    if (answered_.exchange(true)) return;
    {
      const std::lock_guard lock(mutex_);
      if (alarm_) services_.alarms.cancel(*alarm_);
    }
    answer_(std::move(response));
  }

  Services& services_;
  const CommandCall command_;
  const Answer answer_;
  std::int64_t wait_end_ms_ = 0;  // set before the first ask
  platform::HttpResponse first_;  // set before the second ask
  std::mutex mutex_;
  std::optional<Alarms::Id> alarm_;  // guarded
  std::atomic<bool> replayed_ = false;
  std::atomic<bool> answered_ = false;
};

}  // namespace

void run_command(Services& services, CommandCall command, Answer answer) {
  std::make_shared<CommandExchange>(services, std::move(command), std::move(answer))->begin();
}

}  // namespace onceward::ingress
