// SimulatorPort: the provider's client over the simulated provider, in virtual time and without a
// socket. Spelling of requests and reading of answers are those of the real client; only libcurl is
// played here: time limits, cut connections, and the POST that it sends again by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <onceward/provider/simulator/simulated_provider.hpp>

#include "provider/stripe/call_state.hpp"

namespace onceward::testing {

/// Who made a call: an answer whose caller is gone reaches nobody.
struct Caller {
  std::uint64_t process = 0;
  PersistenceId entity;
};

struct PortAnswer {
  Caller caller;
  ExternalAnswer answer;
  /// `Date` of the answer, if one was read.
  std::optional<Timestamp> date;
};

/// A POST as it left.
struct SentPost {
  Timestamp at;
  Operation operation{};
  std::string key;
  Params params;
  bool is_resend = false;  ///< by libcurl, without being asked
};

class SimulatorPort {
 public:
  explicit SimulatorPort(provider::simulator::SimulatorSettings settings) : provider_(settings) {}

  /// Of one request, from its first byte to the end of its answer.
  std::chrono::milliseconds timeout{80'000};
  /// Connections are kept: one that dies before the first byte makes libcurl send again, once.
  bool keeps_connections = false;
  /// Nothing can be reached.
  bool is_cut_off = false;
  /// No connection comes about before this time, as the provider's last refusal said.
  Timestamp closed_until;

  void call(Caller caller, ExternalRequest request, std::int64_t boottime_ms, Timestamp now);
  /// When advance() has something to do.
  [[nodiscard]] std::optional<Timestamp> next_due() const;
  /// The provider works up to now; answers that arrived or were given up.
  [[nodiscard]] std::vector<PortAnswer> advance(Timestamp now);
  /// The process is gone: the provider goes on with what it has, nobody reads the answers.
  void forget(std::uint64_t process);

  [[nodiscard]] provider::simulator::SimulatedProvider& provider() { return provider_; }
  [[nodiscard]] const provider::simulator::SimulatedProvider& provider() const { return provider_; }
  [[nodiscard]] const std::vector<SentPost>& posts() const { return posts_; }
  /// A request of somebody else, e.g. to the control API; answered at once.
  provider::simulator::WireAnswer ask(const std::string& method, const std::string& path,
                                      const std::string& body, Timestamp now);

 private:
  struct Call {
    Caller caller;
    provider::stripe::CallState state;
    Timestamp deadline;
    std::uint32_t wire_requests = 0;  // of the present page
    bool is_fresh = false;            // over a new connection
  };

  void send(Call call, Timestamp now);
  void done(Call call, const platform::HttpClientResult& result, Timestamp now);
  void finished(Call call, const provider::simulator::WireAnswer& answer, Timestamp now);

  provider::simulator::SimulatedProvider provider_;
  provider::stripe::AnswerParser parser_;
  std::map<provider::simulator::RequestNr, Call> calls_;
  std::vector<PortAnswer> answers_;
  std::vector<SentPost> posts_;
};

}  // namespace onceward::testing
