// Simulator: the simulated provider behind a real socket, in this process; `onceward sim` is a thin
// shell around run_simulator(). Optionally its state survives restarts in a SQLite file.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/result.hpp>
#include <onceward/provider/simulator/ledger.hpp>
#include <onceward/provider/simulator/simulated_provider.hpp>

namespace onceward::provider::simulator {

struct SimulatorOptions {
  /// HOST:PORT; port 0 takes a free one.
  std::string listen = "127.0.0.1:0";
  /// Seed, latency, limits, clock. `collect_changes` is set by `db`.
  SimulatorSettings settings;
  /// SQLite file for customers, intents, charges, keys, ledger and clock. Written before each
  /// answer; survives kill -9 of this process. Fault rules and the wire trace do not survive.
  /// Empty: memory only.
  std::string db;
};

/// Thread-safe; every call may wait for a request being handled (microseconds, or one write to the
/// store). Driver time starts as the wall clock's and then follows CLOCK_BOOTTIME.
class Simulator {
 public:
  /// Opens the store, binds and serves. io names an address that cannot be bound; errors of the
  /// store name its file.
  [[nodiscard]] static Result<std::unique_ptr<Simulator>> start(SimulatorOptions options);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  /// stop().
  ~Simulator();

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:12111": what a client takes as base URL.
  [[nodiscard]] std::string url() const;

  /// Rules as in the body of POST /_sim/faults; replaces all rules.
  [[nodiscard]] Result<Unit> set_faults(std::string_view json);
  void clear_faults();
  void expire_keys();
  void advance_clock(std::chrono::milliseconds by);

  /// As SimulatedProvider::control(): everything that /_sim can do, without a request.
  [[nodiscard]] WireAnswer control(const std::string& method, const std::string& path,
                                   const std::string& body = "");
  /// As SimulatedProvider::set_chaos().
  [[nodiscard]] Result<Unit> set_chaos(ChaosSettings settings);

  [[nodiscard]] std::vector<LedgerRow> ledger() const;
  /// Groups of ledger rows with more than `max`; see Ledger::groups_above.
  [[nodiscard]] Result<std::vector<LedgerOffender>> groups_above(
      const std::vector<std::string>& fields, std::size_t max) const;
  [[nodiscard]] std::vector<WireTraceRow> trace() const;

  /// The error that stopped it from storing, if one did: from then on it answers no request,
  /// because it could not keep what it says.
  [[nodiscard]] std::optional<Error> store_failure() const;

  /// Cuts off waiting clients, closes the port, closes the store. Idempotent.
  void stop();

 private:
  class Impl;
  explicit Simulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The whole life of a simulator process: starts, calls `started` once it serves, blocks until
/// `stop` is requested or the store fails, and stops. The error says why it did not start or what
/// ended it.
[[nodiscard]] Result<Unit> run_simulator(SimulatorOptions options, std::stop_token stop,
                                         const std::function<void(const Simulator&)>& started);

}  // namespace onceward::provider::simulator
