// The kinds of faults by name: which parameters each reads, what it makes of them, and to which
// requests it can happen. Read by the parser of rules and by the chaos generator.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "provider/simulator/faults.hpp"

namespace onceward::provider::simulator {

/// Parameters of all kinds together; each kind reads its own.
struct FaultParams {
  std::optional<FaultEnd> end;
  std::optional<std::size_t> bytes;
  WireFraming framing = WireFraming::length;
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds for_time{0};
  std::chrono::milliseconds after{0};
  std::optional<CommitAt> commit_at;
  std::string retry_after;
  std::string reason;
  std::string code;
  std::string value;
  std::uint64_t k = 1;
  std::uint64_t n = 1;
  bool commit = false;
  bool succeeds = true;
  bool forward = true;
  bool is_signed = false;
  Oddity oddity = Oddity::missing;
  std::string member = "status";
};

/// What a kind can happen to.
enum class FaultTarget : std::uint8_t {
  request,  ///< any request
  post,     ///< a POST
  keyed,    ///< a POST with an idempotency key
  money,    ///< an attempt to take money
  refund,   ///< a refund being made
  list,     ///< a GET of a list
  event,    ///< an event to be sent by webhook
  keys,     ///< the key store, once
};

struct FaultKind {
  std::string_view name;
  std::string_view params;    ///< members it reads, separated by spaces
  std::string_view required;  ///< one of these must be there; empty: none
  FaultTarget target = FaultTarget::request;
  FaultAction (*make)(const FaultParams&) = nullptr;
};

[[nodiscard]] std::span<const FaultKind> fault_kinds() noexcept;
/// Null for an unknown name.
[[nodiscard]] const FaultKind* find_fault_kind(std::string_view name) noexcept;
/// All names, separated by commas.
[[nodiscard]] std::string fault_kind_names();

}  // namespace onceward::provider::simulator
