// InFlight: one request under /v1 between receipt and answer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "provider/simulator/chaos.hpp"
#include "provider/simulator/endpoint.hpp"
#include "provider/simulator/faults.hpp"

namespace onceward::provider::simulator {

struct InFlight {
  RequestNr nr = 0;
  std::uint64_t trace_nr = 0;
  RequestFacts facts;
  std::string request_id;
  std::optional<std::string> key;  ///< as sent, also with methods for which it has no effect
  std::string digest;
  WireHeaders echoed;  ///< headers of the answer that repeat the request's
  std::string outcome = "pending";
  std::string faults;

  std::optional<ChaosFault> chaos;              ///< until it has acted
  std::vector<std::uint64_t> awaited_webhooks;  ///< that are to be tried before the answer
  Timestamp due;                                ///< of the answer without them, driver time

  // What was asked, once it is known to be valid.
  Route route;
  Params params;
  bool claimed_key = false;   ///< this request runs under its key; finish() lets go of it
  bool execute_late = false;  ///< money moves when the answer is due, not before

  // What will be answered.
  bool from_endpoint = false;  ///< executed or replayed; only such answers meet wire faults
  int status = 0;
  std::string body;
  WireHeaders headers;
  WireEnding ending = WireEnding::whole;
  std::optional<std::size_t> body_bytes_sent;
  WireFraming framing = WireFraming::length;
  std::chrono::milliseconds closed_for{0};
};

/// The fault of this type that acts on the request: by rule, else the one that chaos has drawn.
template <class Action>
[[nodiscard]] std::optional<Action> take_fault(Faults& faults, InFlight& request,
                                               Timestamp driver_now) {
  if (auto fault = faults.take<Action>(request.facts, driver_now, request.faults)) return fault;
  if (!request.chaos || !std::holds_alternative<Action>(request.chaos->action)) {
    return std::nullopt;
  }
  note_fault(request.faults, request.chaos->name);
  auto fault = std::get<Action>(std::move(request.chaos->action));
  request.chaos.reset();
  return fault;
}

/// Reads what fault rules and trace need, tolerating what is invalid.
[[nodiscard]] RequestFacts facts_of(const WireRequest& request, const FormParams& params,
                                    ObjectStore& store);
/// Alters an answer that is otherwise complete.
void apply_wire_fault(const WireFault& fault, InFlight& request);
/// The answer of a gate fault, which keeps the provider from seeing the request.
void apply_gate_fault(const GateFault& fault, InFlight& request);

}  // namespace onceward::provider::simulator
