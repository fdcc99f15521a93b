// Names of the guards.
#include <onceward/billing/weakening.hpp>

#include <string>

namespace onceward::billing {

std::string_view to_text(Guard guard) noexcept {
  switch (guard) {
    case Guard::stable_key:
      return "stable_key";
    case Guard::attempt_in_key:
      return "attempt_in_key";
    case Guard::key_age:
      return "key_age";
    case Guard::unknown_lookup:
      return "unknown_lookup";
    case Guard::resume:
      return "resume";
    case Guard::charge_status:
      return "charge_status";
    case Guard::period_of_command:
      return "period_of_command";
    case Guard::cap:
      return "cap";
  }
  return "unknown";
}

Result<Guard> parse_guard(std::string_view text) {
  std::string names;
  for (const Guard guard : all_guards) {
    if (to_text(guard) == text) return guard;
    names += (names.empty() ? "" : ", ") + std::string(to_text(guard));
  }
  return fail(ErrorCode::invalid_argument, "no such guard; there are " + names);
}

}  // namespace onceward::billing
