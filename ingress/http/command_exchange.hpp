// The course of one command that is no request to bill: refund, cancel, payment method, retry,
// resolve. Told once durable, then once settled, or when the wait is over.
#pragma once

#include <optional>
#include <string>

#include <onceward/billing/billing_commands.hpp>

#include "ingress/http/services.hpp"

namespace onceward::ingress {

/// What to send, and how long the answer may be waited for.
struct CommandCall {
  CustomerId customer;
  /// Told as soon as it is durable.
  billing::BillingCommand accepted;
  /// The same command, told when its outcome is known; absent if the first answer is the last. It
  /// is sent after the first one was answered: its mark makes it a repeat.
  std::optional<billing::BillingCommand> settled;
  std::int64_t wait_s = 0;
  /// Where the caller can look again, for a 202.
  std::string location;
};

/// Answers `answer` exactly once: what the entity said; 503 with `charge_state: unknown` and
/// `retryable: same_key` if it did not say within the longest acceptance whether it recorded it.
void run_command(Services& services, CommandCall command, Answer answer);

/// The answer for a command that was not decided, or of which nobody knows whether it was stored.
[[nodiscard]] platform::HttpResponse turned_down_answer(Turndown why);
/// The answer for what an entity replied to a command.
[[nodiscard]] platform::HttpResponse command_answer(const billing::BillingReply& reply,
                                                    const std::string& location);

}  // namespace onceward::ingress
