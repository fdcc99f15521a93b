// Error: one expected failure, as a stable code plus a context for people. The table of codes is
// closed; a code exists only because some caller reacts to it. Used by every module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace onceward {

/// Numbers are permanent and appear as `OW####` in replies and logs; never reuse one.
/// Reaction expected of the caller is given beside each.
enum class ErrorCode : std::uint16_t {
  invalid_argument = 1001,  ///< refuse the input; nothing was recorded
  invalid_config = 1002,    ///< refuse to start; tell key, line and column
  not_found = 1003,         ///< answer "not found"
  conflict = 1004,          ///< answer with the recorded values; do not retry
  busy = 1005,              ///< bounded queue full: retry later with the same ids
  not_ready = 1006,         ///< starting, draining or barrier pending: retry later
  unauthorized = 1007,      ///< refuse; check credentials

  store_io = 2001,            ///< read or write failed; entity stops, recovery retries
  store_locked = 2002,        ///< another process owns the store: refuse to start
  store_mismatch = 2003,      ///< recorded values differ from the configuration: refuse to start
  store_schema_newer = 2004,  ///< written by a newer release: refuse to start
  store_corrupt = 2005,       ///< chain, order or encoding broken: quarantine the entity
  store_restored = 2006,      ///< older than its anchor: refuse to bill until reconciled
  store_uncertain = 2007,     ///< a barrier is pending: wait and replay
  store_full = 2008,          ///< no space: stop writing, keep answers in hand, retry

  unknown_manifest = 3001,       ///< event of unknown name or version: quarantine the entity
  decode_failed = 3002,          ///< bytes do not decode: quarantine the entity
  impossible_transition = 3003,  ///< event that the state cannot take: quarantine the entity
  quarantined = 3004,            ///< entity is quarantined: answer so, alert the operator

  provider_config = 4001,  ///< provider refuses credentials or set-up: pause sending, alert
  io = 5001,               ///< a local file, socket or process failed: report and stop the verb
  unreachable = 5002,      ///< the node or store cannot be reached (exit 7)
};

struct Error {
  ErrorCode code{};
  /// What was attempted, on which id, and what happens next. Never a secret.
  std::string context;

  friend bool operator==(const Error&, const Error&) = default;
};

/// Stable snake_case name of the code, e.g. "store_locked".
[[nodiscard]] std::string_view error_code_name(ErrorCode code) noexcept;
/// `OW` and the four digits, e.g. "OW2002".
[[nodiscard]] std::string error_code_label(ErrorCode code);

}  // namespace onceward
