// The request pipeline of the simulated provider, in the provider's own order: fault gate, rate
// limiter, authorization, validation, key store, execution, answer.
#include <onceward/provider/simulator/simulated_provider.hpp>

#include <boost/json/serialize.hpp>
#include <map>
#include <utility>

#include <onceward/core/digest.hpp>

#include "provider/simulator/control_api.hpp"
#include "provider/simulator/in_flight.hpp"
#include "provider/simulator/provider_state.hpp"
#include "provider/simulator/wire_headers.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr std::string_view control_prefix = "/_sim";

void say(InFlight& request, const ApiError& error, std::string outcome) {
  request.status = error.status;
  request.body = boost::json::serialize(to_json(error));
  request.outcome = std::move(outcome);
}

bool is_form(const WireRequest& request) {
  const auto type = find_header(request.headers, "content-type");
  if (!type || request.body.empty()) return true;
  return type->substr(0, type->find(';')) == "application/x-www-form-urlencoded";
}

}  // namespace

class SimulatedProvider::Impl {
 public:
  explicit Impl(SimulatorSettings settings) : state(settings) {}

  [[nodiscard]] RequestNr receive(const WireRequest& request, Timestamp now);
  void advance(Timestamp now);

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
  void answer_at(Timestamp due, InFlight in_flight);
  void finish(InFlight in_flight);
  void give_up_all();
  [[nodiscard]] InFlight open(const WireRequest& request, const Result<FormParams>& params);

  RequestNr last_nr_ = 0;
};

InFlight SimulatedProvider::Impl::open(const WireRequest& request,
                                       const Result<FormParams>& params) {
  InFlight in_flight;
  in_flight.nr = last_nr_;
  in_flight.request_id = state.store.next_id("req_");
  in_flight.key = find_header(request.headers, "idempotency-key");
  in_flight.facts = facts_of(request, params ? *params : FormParams{}, state.store);
  in_flight.facts.key = in_flight.key.value_or("");
  if (params) in_flight.digest = to_hex(sha256(canonical_text(*params))).substr(0, 32);
  for (const char* name : {"Idempotency-Key", "Stripe-Version"}) {
    if (auto value = find_header(request.headers, name)) {
      in_flight.echoed.emplace_back(name, *std::move(value));
    }
  }
  WireTraceRow row;
  row.at = state.clock.now();
  row.connection = request.connection;
  row.nr_on_connection = request.nr_on_connection;
  row.method = request.method;
  row.path = request.path;
  row.key = in_flight.facts.key;
  row.digest = in_flight.digest;
  row.request_id = in_flight.request_id;
  in_flight.trace_nr = state.trace.append(std::move(row));
  in_flight.facts.nr = in_flight.trace_nr;
  return in_flight;
}

RequestNr SimulatedProvider::Impl::receive(const WireRequest& request, Timestamp now) {
  advance(now);
  const RequestNr nr = ++last_nr_;
  if (request.path.substr(0, control_prefix.size()) == control_prefix) {
    finished.push_back({nr, answer_control(state, request, [this] { give_up_all(); })});
    return nr;
  }
  const bool both = !request.query.empty() && !request.body.empty();
  auto params = parse_form(request.query + (both ? "&" : "") + request.body);
  InFlight in_flight = open(request, params);
  const Timestamp driver = state.clock.driver();
  if (const auto fault = state.faults.take<GateFault>(in_flight.facts, driver, in_flight.faults)) {
    apply_gate_fault(*fault, in_flight);
    finish(std::move(in_flight));
    return nr;
  }
  Timestamp due = driver.plus(state.settings.latency);
  if (admit(request, std::move(params), in_flight)) {
    CommitAt commit_at = state.settings.commit_at;
    if (const auto slow = state.faults.take<SlowFault>(in_flight.facts, driver, in_flight.faults)) {
      due = due.plus(slow->delay);
      commit_at = slow->commit_at.value_or(commit_at);
    }
    if (claim_key(in_flight)) {
      in_flight.execute_late = commit_at == CommitAt::end && due > driver;
      if (!in_flight.execute_late) execute(in_flight);
    }
  }
  answer_at(due, std::move(in_flight));
  return nr;
}

bool SimulatedProvider::Impl::admit(const WireRequest& request, Result<FormParams> params,
                                    InFlight& in_flight) {
  if (!state.limiter.admit(state.clock.driver())) {
    in_flight.headers.emplace_back("Stripe-Rate-Limited-Reason", "global-rate");
    say(in_flight, rate_limited(), "rate_limited");
    return false;
  }
  if (const auto error = check_authorization(request.headers)) {
    say(in_flight, *error, "unauthorized");
    return false;
  }
  auto found = find_route(request.method, request.path);
  if (const auto* error = std::get_if<ApiError>(&found)) {
    say(in_flight, *error, "not_found");
    return false;
  }
  in_flight.route = std::get<Route>(std::move(found));
  const Endpoint& endpoint = *in_flight.route.endpoint;
  const KeyHeader key = read_key_header(request.headers);
  std::optional<ApiError> error = key.error;
  if (!error && !is_form(request)) {
    error = invalid_param("", "", "Send the body as application/x-www-form-urlencoded.");
  }
  if (!error && !params) error = invalid_param("", "", params.error().context);
  if (!error) error = check_params(*params, endpoint.params);
  if (!error) {
    in_flight.params = Params(*std::move(params));
    if (endpoint.check != nullptr) error = endpoint.check(in_flight.params);
  }
  if (error) say(in_flight, *error, "invalid");
  return !error;
}

bool SimulatedProvider::Impl::claim_key(InFlight& in_flight) {
  // Keys act on POST only; on a GET they have no effect.
  if (!in_flight.key || in_flight.facts.method != "POST") return true;
  KeyRecord asked;
  asked.key = *in_flight.key;
  asked.method = in_flight.facts.method;
  asked.path = in_flight.facts.path;
  asked.digest = in_flight.digest;
  asked.request_id = in_flight.request_id;
  const KeyAnswer answer = state.keys.begin(asked, state.clock.now());
  if (std::holds_alternative<KeyIsFresh>(answer)) {
    in_flight.claimed_key = true;
    return true;
  }
  if (const auto* differs = std::get_if<KeyDiffers>(&answer)) {
    say(in_flight, key_mismatch(differs->message), "key_mismatch");
  } else if (std::holds_alternative<KeyIsRunning>(answer)) {
    say(in_flight, key_in_use(*in_flight.key), "key_in_use");
  } else {
    const KeyRecord& record = *std::get<KeyIsSaved>(answer).record;
    in_flight.status = record.status;
    in_flight.body = record.body;
    in_flight.outcome = "replayed";
    in_flight.from_endpoint = true;
    in_flight.headers.emplace_back("Idempotent-Replayed", "true");
    in_flight.headers.emplace_back("Original-Request", record.request_id);
  }
  return false;
}

void SimulatedProvider::Impl::execute(InFlight& in_flight) {
  const Timestamp driver = state.clock.driver();
  const auto result =
      in_flight.facts.method == "POST"
          ? state.faults.take<ResultFault>(in_flight.facts, driver, in_flight.faults)
          : std::nullopt;
  if (!result || result->execute) {
    EndpointContext context = state.context();
    context.key = in_flight.key.value_or("");
    context.request_id = in_flight.request_id;
    context.forced_outcome = [&]() -> std::optional<PaymentOutcome> {
      auto fault = state.faults.take<OutcomeFault>(in_flight.facts, driver, in_flight.faults);
      if (!fault) return std::nullopt;
      return std::move(fault->outcome);
    };
    context.forced_refund = [&]() -> std::optional<RefundOutcome> {
      auto fault = state.faults.take<RefundFault>(in_flight.facts, driver, in_flight.faults);
      if (!fault) return std::nullopt;
      return std::move(fault->outcome);
    };
    const Endpoint& endpoint = *in_flight.route.endpoint;
    const EndpointAnswer answer = endpoint.execute(context, in_flight.params, in_flight.route.id);
    in_flight.status = answer.status;
    in_flight.body = boost::json::serialize(answer.body);
    in_flight.outcome = "executed";
  }
  if (result) say(in_flight, server_error(500), result->execute ? "executed" : "refused");
  in_flight.from_endpoint = true;
  in_flight.execute_late = false;
  if (in_flight.claimed_key) state.keys.save(*in_flight.key, in_flight.status, in_flight.body);
}

void SimulatedProvider::Impl::answer_at(Timestamp due, InFlight in_flight) {
  if (due <= state.clock.driver()) return finish(std::move(in_flight));
  const RequestNr nr = in_flight.nr;
  waiting.emplace(std::make_pair(due, nr), std::move(in_flight));
}

void SimulatedProvider::Impl::finish(InFlight in_flight) {
  if (in_flight.execute_late) execute(in_flight);
  if (in_flight.claimed_key) state.keys.finish(*in_flight.key);
  const Timestamp driver = state.clock.driver();
  if (in_flight.from_endpoint) {
    if (const auto fault =
            state.faults.take<WireFault>(in_flight.facts, driver, in_flight.faults)) {
      apply_wire_fault(*fault, in_flight);
    }
  }
  WireAnswer answer;
  answer.status = in_flight.status;
  answer.headers = std::move(in_flight.headers);
  if (!find_header(answer.headers, "content-type")) {
    answer.headers.emplace_back("Content-Type", "application/json");
  }
  answer.headers.emplace_back("Date", to_http_date(state.clock.now()));
  answer.headers.emplace_back("Request-Id", in_flight.request_id);
  for (auto& header : in_flight.echoed) answer.headers.push_back(std::move(header));
  // A saved 500 is replayed for as long as its key lives: sending it again cannot help.
  std::optional<std::string> should_retry;
  if (in_flight.status == 500) should_retry = "false";
  if (const auto fault =
          state.faults.take<HeaderFault>(in_flight.facts, driver, in_flight.faults)) {
    should_retry = fault->should_retry;
  }
  if (should_retry) answer.headers.emplace_back("Stripe-Should-Retry", *should_retry);
  answer.body = std::move(in_flight.body);
  answer.ending = in_flight.ending;
  answer.body_bytes_sent = in_flight.body_bytes_sent;

  if (WireTraceRow* row = state.trace.find(in_flight.trace_nr)) {
    row->outcome = std::move(in_flight.outcome);
    row->faults = std::move(in_flight.faults);
    row->status = answer.status;
    row->ending = answer.ending;
    row->bytes_sent =
        answer.arrives_whole() ? answer.body.size() : answer.body_bytes_sent.value_or(0);
  }
  finished.push_back({in_flight.nr, std::move(answer)});
}

void SimulatedProvider::Impl::give_up_all() {
  for (auto& entry : waiting) {
    WireAnswer answer;
    answer.ending = WireEnding::rst;
    finished.push_back({entry.second.nr, std::move(answer)});
  }
  waiting.clear();
}

void SimulatedProvider::Impl::advance(Timestamp now) {
  while (!waiting.empty() && waiting.begin()->first.first <= now) {
    // The clock stops at each due time, so that what is done then carries that time.
    state.clock.observe(waiting.begin()->first.first);
    state.settle();
    InFlight due = std::move(waiting.begin()->second);
    waiting.erase(waiting.begin());
    finish(std::move(due));
  }
  state.clock.observe(now);
  state.settle();
}

SimulatedProvider::SimulatedProvider(SimulatorSettings settings)
    : impl_(std::make_unique<Impl>(settings)) {}
SimulatedProvider::~SimulatedProvider() = default;

RequestNr SimulatedProvider::receive(const WireRequest& request, Timestamp now) {
  return impl_->receive(request, now);
}

void SimulatedProvider::advance(Timestamp now) {
  impl_->advance(now);
}

std::optional<Timestamp> SimulatedProvider::next_due() const {
  if (impl_->waiting.empty()) return std::nullopt;
  return impl_->waiting.begin()->first.first;
}

std::vector<FinishedRequest> SimulatedProvider::take_finished() {
  return std::exchange(impl_->finished, {});
}

std::vector<StoredRow> SimulatedProvider::take_changes() {
  return impl_->state.take_changes();
}

Result<Unit> SimulatedProvider::restore(const std::vector<StoredRow>& rows) {
  return impl_->state.restore(rows);
}

Result<Unit> SimulatedProvider::set_faults(std::string_view json) {
  return impl_->state.set_faults(json);
}

void SimulatedProvider::clear_faults() {
  impl_->state.faults.replace({});
}

void SimulatedProvider::expire_keys() {
  impl_->state.keys.expire("");
}

void SimulatedProvider::advance_clock(std::chrono::milliseconds by) {
  impl_->state.clock.advance(by);
  impl_->state.clock_changed = true;
  impl_->state.settle();
}

Timestamp SimulatedProvider::provider_time() const {
  return impl_->state.clock.now();
}

const Ledger& SimulatedProvider::ledger() const {
  return impl_->state.ledger;
}

std::vector<WireTraceRow> SimulatedProvider::trace() const {
  const auto& rows = impl_->state.trace.rows();
  return {rows.begin(), rows.end()};
}

}  // namespace onceward::provider::simulator
