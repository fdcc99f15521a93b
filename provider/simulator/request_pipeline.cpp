// The request pipeline of the simulated provider, in the provider's own order: fault gate, rate
// limiter, authorization, validation, key store, execution, answer.
#include "provider/simulator/request_pipeline.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include <onceward/core/digest.hpp>

#include "provider/simulator/wire_headers.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr std::string_view control_prefix = "/_sim";
/// Above: all are forgotten, and count as new.
constexpr std::size_t connections_remembered_max = 65'536;
/// An answer waits no longer for a webhook that is to come before it; driver time.
constexpr std::chrono::milliseconds wait_for_webhooks_max{5000};

void say(InFlight& request, const ApiError& error, std::string outcome) {
  request.status = error.status;
  request.body = boost::json::serialize(to_json(error));
  request.outcome = std::move(outcome);
}

/// What a live key meets: this account has no live objects, and takes no live money.
ApiError wrong_mode(const Route& route) {
  ApiError error = no_such(404, "object", route.id, "id");
  error.message += "; a similar object exists in test mode, but a live mode key was used.";
  if (!route.id.empty()) return error;
  error = invalid_param("testmode_charges_only", "", "This account works in test mode only.");
  error.status = 403;
  return error;
}

bool is_form(const WireRequest& request) {
  const auto type = find_header(request.headers, "content-type");
  if (!type || request.body.empty()) return true;
  return type->substr(0, type->find(';')) == "application/x-www-form-urlencoded";
}

}  // namespace

void RequestPipeline::remember_connection(const WireRequest& request) {
  if (request.connection == 0) return;
  if (last_on_connection_.size() >= connections_remembered_max) last_on_connection_.clear();
  last_on_connection_[request.connection] = state.clock.driver();
}

InFlight RequestPipeline::open(const WireRequest& request, const Result<FormParams>& params) {
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
  const auto last = last_on_connection_.find(request.connection);
  if (request.nr_on_connection > 1 && last != last_on_connection_.end()) {
    in_flight.facts.idle = std::chrono::milliseconds(state.clock.driver().ms - last->second.ms);
  }
  in_flight.chaos = state.chaos.draw(in_flight.facts);
  return in_flight;
}

RequestNr RequestPipeline::receive(const WireRequest& request, Timestamp now) {
  advance(now);
  const RequestNr nr = ++last_nr_;
  if (request.path.substr(0, control_prefix.size()) == control_prefix) {
    finished.push_back({nr, control(request)});
    return nr;
  }
  const bool both = !request.query.empty() && !request.body.empty();
  auto params = parse_form(request.query + (both ? "&" : "") + request.body);
  InFlight in_flight = open(request, params);
  remember_connection(request);
  const Timestamp driver = state.clock.driver();
  if (const auto fault = take_fault<GateFault>(state.faults, in_flight, driver)) {
    apply_gate_fault(*fault, in_flight);
    finish(std::move(in_flight));
    return nr;
  }
  Timestamp due = driver.plus(state.settings.latency);
  if (admit(request, std::move(params), in_flight)) {
    CommitAt commit_at = state.settings.commit_at;
    if (const auto slow = take_fault<SlowFault>(state.faults, in_flight, driver)) {
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

bool RequestPipeline::admit(const WireRequest& request, Result<FormParams> params,
                            InFlight& in_flight) {
  auto found = find_route(request.method, request.path);
  const auto* route = std::get_if<Route>(&found);
  if (const auto reason = state.rate_limit(route == nullptr ? nullptr : route->endpoint)) {
    in_flight.headers.emplace_back("Stripe-Rate-Limited-Reason", *reason);
    say(in_flight, rate_limited(), "rate_limited");
    return false;
  }
  if (const auto error =
          state.api_keys.check(request.headers, request.method, request.path, state.clock.now())) {
    say(in_flight, *error, error->status == 401 ? "unauthorized" : "forbidden");
    return false;
  }
  if (const auto* error = std::get_if<ApiError>(&found)) {
    say(in_flight, *error, "not_found");
    return false;
  }
  if (is_live_key(request.headers)) {
    say(in_flight, wrong_mode(*route), "not_found");
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

bool RequestPipeline::claim_key(InFlight& in_flight) {
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
  } else if (std::holds_alternative<KeyStoreIsFull>(answer)) {
    say(in_flight, key_store_full(), "refused");
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

void RequestPipeline::execute(InFlight& in_flight) {
  const Timestamp driver = state.clock.driver();
  const auto result = in_flight.facts.method == "POST"
                          ? take_fault<ResultFault>(state.faults, in_flight, driver)
                          : std::nullopt;
  const ResultFault work = result.value_or(ResultFault{ResultFault::Work::done, {}});
  const bool runs = work.work == ResultFault::Work::done ||
                    // Nothing of what takes no money is seen before it is rolled back.
                    (work.work == ResultFault::Work::undone && in_flight.facts.money);
  if (runs) run_endpoint(in_flight, work);
  if (work.work == ResultFault::Work::later) repair_later(in_flight, work.after);
  if (result) say(in_flight, server_error(500), runs ? "executed" : "refused");
  in_flight.from_endpoint = true;
  in_flight.execute_late = false;
  if (in_flight.claimed_key) state.keys.save(*in_flight.key, in_flight.status, in_flight.body);
}

void RequestPipeline::run_endpoint(InFlight& in_flight, const ResultFault& result) {
  const Timestamp driver = state.clock.driver();
  EndpointContext context = state.context();
  context.key = in_flight.key.value_or("");
  context.request_id = in_flight.request_id;
  if (const auto fault = take_fault<ListFault>(state.faults, in_flight, driver)) {
    context.page_max = fault->page_max;
  }
  context.forced_outcome = [&]() -> std::optional<PaymentOutcome> {
    if (result.work == ResultFault::Work::undone) {
      PaymentOutcome undone;
      undone.kind = OutcomeKind::process;
      undone.process_for = result.after;
      undone.process_succeeds = false;
      return undone;
    }
    auto fault = take_fault<OutcomeFault>(state.faults, in_flight, driver);
    if (!fault) return std::nullopt;
    return std::move(fault->outcome);
  };
  context.forced_refund = [&]() -> std::optional<RefundOutcome> {
    auto fault = take_fault<RefundFault>(state.faults, in_flight, driver);
    if (!fault) return std::nullopt;
    return std::move(fault->outcome);
  };
  const Endpoint& endpoint = *in_flight.route.endpoint;
  const EndpointAnswer answer = endpoint.execute(context, in_flight.params, in_flight.route.id);
  in_flight.status = answer.status;
  in_flight.body = boost::json::serialize(answer.body);
  in_flight.outcome = "executed";
  in_flight.awaited_webhooks = std::move(context.awaited_webhooks);
}

void RequestPipeline::repair_later(const InFlight& in_flight, std::chrono::milliseconds after) {
  state.repairs.push_back({state.clock.now().plus(after), in_flight.route, in_flight.params,
                           in_flight.facts.key, in_flight.request_id});
}

void RequestPipeline::answer_at(Timestamp due, InFlight in_flight) {
  const Timestamp driver = state.clock.driver();
  in_flight.due = due;
  if (!in_flight.awaited_webhooks.empty()) {
    due = std::max(due, driver.plus(wait_for_webhooks_max));
  }
  if (due <= driver) return finish(std::move(in_flight));
  const RequestNr nr = in_flight.nr;
  waiting.emplace(std::make_pair(due, nr), std::move(in_flight));
}

void RequestPipeline::webhook_answered(std::uint64_t nr, std::optional<int> status) {
  const std::uint64_t delivery = state.webhooks.answered(nr, status, state.clock.now());
  if (delivery == 0) return;
  for (auto at = waiting.begin(); at != waiting.end(); ++at) {
    auto& awaited = at->second.awaited_webhooks;
    if (std::erase(awaited, delivery) == 0 || !awaited.empty()) continue;
    InFlight free = std::move(at->second);
    waiting.erase(at);
    return answer_at(free.due, std::move(free));
  }
}

void RequestPipeline::finish(InFlight in_flight) {
  if (in_flight.execute_late) {
    execute(in_flight);
    if (!in_flight.awaited_webhooks.empty()) {
      return answer_at(state.clock.driver(), std::move(in_flight));
    }
  }
  if (in_flight.claimed_key) state.keys.finish(*in_flight.key);
  const Timestamp driver = state.clock.driver();
  if (in_flight.from_endpoint) {
    if (const auto fault = take_fault<WireFault>(state.faults, in_flight, driver)) {
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
  if (const auto fault = take_fault<HeaderFault>(state.faults, in_flight, driver)) {
    should_retry = fault->should_retry;
  }
  if (should_retry) answer.headers.emplace_back("Stripe-Should-Retry", *should_retry);
  answer.body = std::move(in_flight.body);
  answer.ending = in_flight.ending;
  answer.body_bytes_sent = in_flight.body_bytes_sent;
  answer.framing = in_flight.framing;
  answer.closed_for = in_flight.closed_for;

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

void RequestPipeline::give_up_all() {
  for (auto& entry : waiting) {
    WireAnswer answer;
    answer.ending = WireEnding::rst;
    finished.push_back({entry.second.nr, std::move(answer)});
  }
  waiting.clear();
}

void RequestPipeline::advance(Timestamp now) {
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

}  // namespace onceward::provider::simulator
