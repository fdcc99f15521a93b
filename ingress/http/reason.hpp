// The reason that a person gives for what he does; stored with it. Pure.
#pragma once

#include <string>

#include "ingress/http/json_text.hpp"

namespace onceward::ingress {

inline constexpr std::size_t reason_bytes_max = 500;

/// The member `reason`; empty if absent, refused if it is too long.
[[nodiscard]] inline std::string optional_reason(JsonMembers& members) {
  auto reason = members.optional_text("reason");
  if (reason.size() > reason_bytes_max) members.refuse("reason may have at most 500 bytes");
  return reason;
}
/// As optional_reason(), refused if it is absent or blank.
[[nodiscard]] inline std::string required_reason(JsonMembers& members) {
  auto reason = optional_reason(members);
  if (reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    members.refuse("reason is missing: say why, it is stored with the action");
  }
  return reason;
}

}  // namespace onceward::ingress
