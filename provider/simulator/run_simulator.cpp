// The life of a simulator process around a Simulator.
#include <onceward/provider/simulator/simulator.hpp>

#include <condition_variable>
#include <mutex>

namespace onceward::provider::simulator {

Result<Unit> run_simulator(SimulatorOptions options, std::stop_token stop,
                           const std::function<void(const Simulator&)>& started) {
  auto simulator = Simulator::start(std::move(options));
  if (!simulator) return Unexpected{std::move(simulator).error()};
  if (started) started(**simulator);

  // A store that fails is noticed within this time; its requests are refused from the first on.
  constexpr std::chrono::milliseconds look_every{200};
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    if (auto failure = (*simulator)->store_failure()) return Unexpected{*std::move(failure)};
    woken.wait_for(lock, stop, look_every, [] { return false; });
  }
  (*simulator)->stop();
  return ok();
}

}  // namespace onceward::provider::simulator
