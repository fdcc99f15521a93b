// Names of refund statuses: permanent text.
#include <onceward/core/refund.hpp>

#include <onceward/core/check.hpp>

namespace onceward {

std::string_view to_text(RefundStatus status) noexcept {
  switch (status) {
    case RefundStatus::in_progress:
      return "in_progress";
    case RefundStatus::unknown:
      return "unknown";
    case RefundStatus::pending:
      return "pending";
    case RefundStatus::parked:
      return "parked";
    case RefundStatus::succeeded:
      return "succeeded";
    case RefundStatus::failed:
      return "failed";
  }
  check_failed("status", __FILE__, __LINE__, "a RefundStatus outside its enumerators");
}

Result<RefundStatus> parse_refund_status(std::string_view text) {
  for (const RefundStatus status : all_refund_statuses) {
    if (to_text(status) == text) return status;
  }
  return fail(ErrorCode::invalid_argument, "unknown refund status '" + std::string(text) + "'");
}

bool is_open(RefundStatus status) noexcept {
  return status != RefundStatus::succeeded && status != RefundStatus::failed;
}

}  // namespace onceward
