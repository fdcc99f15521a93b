// Names and labels of the closed ErrorCode table. A new code without a name does not compile
// (-Wswitch without default).
#include <onceward/core/error.hpp>

namespace onceward {

std::string_view error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_config:
      return "invalid_config";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::not_ready:
      return "not_ready";
    case ErrorCode::unauthorized:
      return "unauthorized";
    case ErrorCode::store_io:
      return "store_io";
    case ErrorCode::store_locked:
      return "store_locked";
    case ErrorCode::store_mismatch:
      return "store_mismatch";
    case ErrorCode::store_schema_newer:
      return "store_schema_newer";
    case ErrorCode::store_corrupt:
      return "store_corrupt";
    case ErrorCode::store_restored:
      return "store_restored";
    case ErrorCode::store_uncertain:
      return "store_uncertain";
    case ErrorCode::store_full:
      return "store_full";
    case ErrorCode::unknown_manifest:
      return "unknown_manifest";
    case ErrorCode::decode_failed:
      return "decode_failed";
    case ErrorCode::impossible_transition:
      return "impossible_transition";
    case ErrorCode::quarantined:
      return "quarantined";
    case ErrorCode::provider_config:
      return "provider_config";
    case ErrorCode::io:
      return "io";
    case ErrorCode::unreachable:
      return "unreachable";
  }
  return "unnamed";  // only a number cast from outside the table comes here
}

std::string error_code_label(ErrorCode code) {
  const auto number = static_cast<std::uint16_t>(code);
  std::string label = "OW0000";
  auto rest = number % 10000U;
  for (std::size_t at = label.size(); at-- > 2; rest /= 10U) {
    label[at] = static_cast<char>('0' + rest % 10U);
  }
  return label;
}

}  // namespace onceward
