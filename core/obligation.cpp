// Names of the statuses, and which of them are open or wait for an operator. A new status without
// an answer to each question does not compile (switches without default).
#include <onceward/core/obligation.hpp>

#include "core/text.hpp"

namespace onceward {

std::string_view to_text(ObligationStatus status) noexcept {
  switch (status) {
    case ObligationStatus::in_progress:
      return "in_progress";
    case ObligationStatus::processing:
      return "processing";
    case ObligationStatus::action_required:
      return "action_required";
    case ObligationStatus::unknown:
      return "unknown";
    case ObligationStatus::parked:
      return "parked";
    case ObligationStatus::rejected:
      return "rejected";
    case ObligationStatus::declined:
      return "declined";
    case ObligationStatus::capped:
      return "capped";
    case ObligationStatus::completed:
      return "completed";
    case ObligationStatus::waived:
      return "waived";
    case ObligationStatus::cancelled:
      return "cancelled";
    case ObligationStatus::uncollectible:
      return "uncollectible";
  }
  check_failed("status", __FILE__, __LINE__, "an ObligationStatus is one of its enumerators");
}

Result<ObligationStatus> parse_obligation_status(std::string_view text) {
  for (const ObligationStatus status : all_obligation_statuses) {
    if (to_text(status) == text) return status;
  }
  std::string names;
  for (const ObligationStatus status : all_obligation_statuses) {
    if (!names.empty()) names += ", ";
    names += to_text(status);
  }
  return fail(ErrorCode::invalid_argument,
              "status " + text::quoted(text) + " is unknown: give one of " + names);
}

bool is_open(ObligationStatus status) noexcept {
  switch (status) {
    case ObligationStatus::in_progress:
    case ObligationStatus::processing:
    case ObligationStatus::action_required:
    case ObligationStatus::unknown:
    case ObligationStatus::parked:
    case ObligationStatus::rejected:
    case ObligationStatus::declined:
    case ObligationStatus::capped:
      return true;
    case ObligationStatus::completed:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
    case ObligationStatus::uncollectible:
      return false;
  }
  check_failed("status", __FILE__, __LINE__, "an ObligationStatus is one of its enumerators");
}

bool is_operator_owned(ObligationStatus status) noexcept {
  switch (status) {
    case ObligationStatus::parked:
    case ObligationStatus::rejected:
    case ObligationStatus::capped:
      return true;
    case ObligationStatus::in_progress:
    case ObligationStatus::processing:
    case ObligationStatus::action_required:
    case ObligationStatus::unknown:
    case ObligationStatus::declined:
    case ObligationStatus::completed:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
    case ObligationStatus::uncollectible:
      return false;
  }
  check_failed("status", __FILE__, __LINE__, "an ObligationStatus is one of its enumerators");
}

std::string to_display(const ObligationKey& key) {
  return key.customer.value() + "/" + key.period.text() + "/" + key.purpose.value();
}

}  // namespace onceward
