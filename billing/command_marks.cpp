// The marks of commands, and the words for an operator's verdicts.
#include <array>
#include <string>

#include <onceward/billing/billing_commands.hpp>
#include <onceward/core/digest.hpp>

namespace onceward::billing {

namespace {

constexpr std::array<std::string_view, 4> resolution_names = {"paid_by_charge", "paid_outside",
                                                              "written_off", "not_charged"};

Mark mark_about(std::string_view kind, const RequestId& request_id, const ObligationKey& key,
                std::string_view first = {}, std::string_view second = {}) {
  const std::array<std::string_view, 5> payload = {key.customer.value(), key.period.text(),
                                                   key.purpose.value(), first, second};
  return command_mark(kind, request_id, payload);
}

}  // namespace

std::string_view to_text(Resolution resolution) noexcept {
  return resolution_names[static_cast<std::size_t>(resolution)];
}

Result<Resolution> parse_resolution(std::string_view text) {
  for (std::size_t i = 0; i < resolution_names.size(); ++i) {
    if (resolution_names[i] == text) return static_cast<Resolution>(i);
  }
  return fail(ErrorCode::invalid_argument,
              "a resolution is one of paid_by_charge, paid_outside, written_off, not_charged");
}

Mark command_mark(std::string_view kind, const RequestId& request_id,
                  std::span<const std::string_view> payload) {
  return Mark{std::string(kind), request_id.value(), to_hex(sha256(netstrings(payload))),
              std::nullopt};
}

Mark mark_of(const LookAgain& command, const RequestId& request_id) {
  return mark_about("retry", request_id, command.key);
}
Mark mark_of(const CancelObligation& command, const RequestId& request_id) {
  return mark_about("cancel", request_id, command.key);
}
Mark mark_of(const SetPaymentMethod& command, const RequestId& request_id) {
  const std::array<std::string_view, 2> payload = {command.customer.value(),
                                                   command.payment_method.value()};
  return command_mark("payment_method", request_id, payload);
}
Mark mark_of(const RefundObligation& command, const RequestId& request_id) {
  // Everything that is left is another wish than the same sum by its number.
  const std::string amount =
      command.amount_minor ? std::to_string(*command.amount_minor) : std::string("all");
  return mark_about("refund", request_id, command.key, amount);
}
Mark mark_of(const ResolveRefund& command, const RequestId& request_id) {
  const std::string what =
      std::to_string(command.number) + "/" + std::to_string(static_cast<int>(command.verdict));
  return mark_about("resolve_refund", request_id, command.key, what, command.refund_id);
}
Mark mark_of(const AcknowledgeAlarm& command, const RequestId& request_id) {
  return mark_about("acknowledge", request_id, command.key);
}
Mark mark_of(const ResolveObligation& command, const RequestId& request_id) {
  return mark_about("resolve", request_id, command.key, to_text(command.resolution),
                    command.reference);
}

}  // namespace onceward::billing
