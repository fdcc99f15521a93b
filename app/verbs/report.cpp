// The table from error codes to exit codes.
#include "app/verbs/report.hpp"

#include <cstdio>

namespace onceward::app {

using ingress::ExitCode;

ExitCode exit_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_config:
    case ErrorCode::store_mismatch:
    case ErrorCode::store_schema_newer:
    case ErrorCode::provider_config:
    case ErrorCode::io:
      return ExitCode::usage;
    case ErrorCode::not_found:
      return ExitCode::not_found;
    case ErrorCode::conflict:
    case ErrorCode::busy:
      return ExitCode::conflict;
    case ErrorCode::store_io:
    case ErrorCode::store_locked:
    case ErrorCode::store_full:
    case ErrorCode::store_restored:
    case ErrorCode::not_ready:
    case ErrorCode::unreachable:
      return ExitCode::unreachable;
    case ErrorCode::store_uncertain:
      return ExitCode::unknown;
    case ErrorCode::unauthorized:
    case ErrorCode::store_corrupt:
    case ErrorCode::unknown_manifest:
    case ErrorCode::decode_failed:
    case ErrorCode::impossible_transition:
    case ErrorCode::quarantined:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

ExitCode report(const Error& error) {
  std::fprintf(stderr, "onceward: %s (%s)\n", error.context.c_str(),
               error_code_label(error.code).c_str());
  return exit_of(error.code);
}

}  // namespace onceward::app
