// RequestPipeline: the life of one request at the simulated provider, from receipt to answer, with
// everything that the provider knows. SimulatedProvider is its public face.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onceward/provider/simulator/simulated_provider.hpp>

#include "provider/simulator/control_api.hpp"
#include "provider/simulator/in_flight.hpp"
#include "provider/simulator/provider_state.hpp"

namespace onceward::provider::simulator {

class RequestPipeline {
 public:
  explicit RequestPipeline(SimulatorSettings settings) : state(settings) {}

  [[nodiscard]] RequestNr receive(const WireRequest& request, Timestamp now);
  void advance(Timestamp now);
  void webhook_answered(std::uint64_t nr, std::optional<int> status);
  [[nodiscard]] WireAnswer control(const WireRequest& request) {
    return answer_control(state, request, [this] { give_up_all(); });
  }

  ProviderState state;
  std::vector<FinishedRequest> finished;
  // Ordered by due time, then by receipt: what is due together is answered in order of receipt.
  std::map<std::pair<Timestamp, RequestNr>, InFlight> waiting;

 private:
  /// Everything before the key store; false when the request is already answered.
  [[nodiscard]] bool admit(const WireRequest& request, Result<FormParams> params,
                           InFlight& in_flight);
  /// False when the key store has answered.
  [[nodiscard]] bool claim_key(InFlight& in_flight);
  void execute(InFlight& in_flight);
  void run_endpoint(InFlight& in_flight, const ResultFault& result);
  void repair_later(const InFlight& in_flight, std::chrono::milliseconds after);
  void answer_at(Timestamp due, InFlight in_flight);
  void finish(InFlight in_flight);
  void give_up_all();
  void remember_connection(const WireRequest& request);
  [[nodiscard]] InFlight open(const WireRequest& request, const Result<FormParams>& params);

  RequestNr last_nr_ = 0;
  // Driver time of the last request on each connection, to tell idle ones.
  std::unordered_map<std::uint64_t, Timestamp> last_on_connection_;
};

}  // namespace onceward::provider::simulator
