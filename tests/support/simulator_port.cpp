// From ExternalRequests to the simulator's wire and back.
#include "tests/support/simulator_port.hpp"

#include <algorithm>
#include <utility>

#include "provider/stripe/provider_time.hpp"

namespace onceward::testing {

namespace sim = provider::simulator;

namespace {

constexpr std::string_view base_url = "http://simulator";

sim::WireRequest wire_request(const platform::HttpClientRequest& http) {
  sim::WireRequest wire;
  wire.method = http.method == platform::HttpMethod::post ? "POST" : "GET";
  const std::string target = http.url.substr(base_url.size());
  const auto query = target.find('?');
  wire.path = target.substr(0, query);
  if (query != std::string::npos) wire.query = target.substr(query + 1);
  wire.headers.emplace_back("Authorization", "Bearer sk_test_cases");
  if (!http.body.empty()) {
    wire.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  }
  for (const auto& line : http.headers) {
    const auto colon = line.find(": ");
    wire.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  wire.body = http.body;
  return wire;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

platform::HttpClientResult broken(std::string_view failure, std::uint32_t wire_requests) {
  platform::HttpClientResult result;
  result.outcome = platform::HttpOutcome::broken;
  result.failure = failure;
  result.wire_requests = wire_requests;
  return result;
}

}  // namespace

void SimulatorPort::call(Caller caller, ExternalRequest request, std::int64_t boottime_ms,
                         Timestamp now) {
  const bool is_too_late = boottime_ms > request.not_after_boottime_ms;
  Call call{std::move(caller), provider::stripe::CallState(std::move(request)), now.plus(timeout)};
  const bool is_closed = is_cut_off || now < closed_until;
  if (is_too_late || is_closed || !call.state.unsendable().empty()) {
    platform::HttpClientResult unsent;
    unsent.outcome = platform::HttpOutcome::not_sent;
    unsent.failure = is_too_late ? "not_allowed" : "connect";
    return done(std::move(call), unsent, now);
  }
  send(std::move(call), now);
}

void SimulatorPort::send(Call call, Timestamp now) {
  const auto& request = call.state.request();
  if (!is_look_up(request.operation)) {
    posts_.push_back({now, request.operation, request.key.value(), request.params, call.is_fresh});
  }
  ++call.wire_requests;
  const auto wire = wire_request(call.state.next_request(base_url));
  const auto nr = provider_.receive(wire, now);
  calls_.emplace(nr, std::move(call));
}

void SimulatorPort::finished(Call call, const sim::WireAnswer& answer, Timestamp now) {
  switch (answer.ending) {
    case sim::WireEnding::whole:
      break;
    case sim::WireEnding::fin:
    case sim::WireEnding::rst:
      if (answer.body_bytes_sent) return done(call, broken("truncated", call.wire_requests), now);
      if (keeps_connections && !call.is_fresh) {
        call.is_fresh = true;
        return send(std::move(call), now);
      }
      return done(call, broken("empty_answer", call.wire_requests), now);
    case sim::WireEnding::refused:
    case sim::WireEnding::tls_failed: {
      closed_until = std::max(closed_until, now.plus(answer.closed_for));
      platform::HttpClientResult unsent;
      unsent.outcome = platform::HttpOutcome::not_sent;
      unsent.failure = answer.ending == sim::WireEnding::refused ? "connect" : "tls";
      return done(std::move(call), unsent, now);
    }
    case sim::WireEnding::hang:
      ONCEWARD_CHECK(false, "a hanging request is left to its time limit");
  }
  platform::HttpClientResult result;
  result.outcome = platform::HttpOutcome::complete;
  result.status = answer.status;
  result.body = answer.body;
  for (const auto& [name, value] : answer.headers) result.headers.emplace_back(lower(name), value);
  result.wire_requests = call.wire_requests;
  done(std::move(call), result, now);
}

void SimulatorPort::done(Call call, const platform::HttpClientResult& result, Timestamp now) {
  std::optional<Timestamp> date;
  if (const auto text = result.header(provider::stripe::header_date)) {
    date = provider::stripe::parse_http_date(*text);
  }
  auto answer = call.state.take(result, parser_);
  if (!answer) {  // the next page of a list
    call.wire_requests = 0;
    return send(std::move(call), now);
  }
  answers_.push_back({std::move(call.caller), *std::move(answer), date});
}

std::optional<Timestamp> SimulatorPort::next_due() const {
  if (!answers_.empty()) return Timestamp{};
  auto next = provider_.next_wake();
  for (const auto& [nr, call] : calls_) {
    if (!next || call.deadline < *next) next = call.deadline;
  }
  return next;
}

std::vector<PortAnswer> SimulatorPort::advance(Timestamp now) {
  provider_.advance(now);
  for (auto finished_now = provider_.take_finished(); !finished_now.empty();
       finished_now = provider_.take_finished()) {
    for (auto& request : finished_now) {
      const auto found = calls_.find(request.nr);
      if (found == calls_.end() || request.answer.ending == sim::WireEnding::hang) continue;
      Call call = std::move(found->second);
      calls_.erase(found);
      finished(std::move(call), request.answer, now);
    }
  }
  for (auto it = calls_.begin(); it != calls_.end();) {
    if (now < it->second.deadline) {
      ++it;
      continue;
    }
    Call call = std::move(it->second);
    it = calls_.erase(it);
    const auto wire_requests = call.wire_requests;
    done(std::move(call), broken("timeout", wire_requests), now);
  }
  return std::exchange(answers_, {});
}

void SimulatorPort::forget(std::uint64_t process) {
  for (auto it = calls_.begin(); it != calls_.end();) {
    it = it->second.caller.process == process ? calls_.erase(it) : std::next(it);
  }
  std::erase_if(answers_, [&](const auto& a) { return a.caller.process == process; });
}

sim::WireAnswer SimulatorPort::ask(const std::string& method, const std::string& path,
                                   const std::string& body, Timestamp now) {
  sim::WireRequest request;
  request.method = method;
  request.path = path.substr(0, path.find('?'));
  if (const auto query = path.find('?'); query != std::string::npos) {
    request.query = path.substr(query + 1);
  }
  request.headers.emplace_back("Authorization", "Bearer sk_test_cases");
  const bool is_json = !body.empty() && body.front() == '{';
  request.headers.emplace_back("Content-Type",
                               is_json ? "application/json" : "application/x-www-form-urlencoded");
  request.body = body;
  // Answers of our own calls that are finished by now wait for advance().
  for (auto& answer : advance(now)) answers_.push_back(std::move(answer));
  const auto nr = provider_.receive(request, now);
  sim::WireAnswer own;
  for (auto& finished_now : provider_.take_finished()) {
    if (finished_now.nr == nr) {
      own = std::move(finished_now.answer);
      continue;
    }
    const auto found = calls_.find(finished_now.nr);
    if (found == calls_.end() || finished_now.answer.ending == sim::WireEnding::hang) continue;
    Call call = std::move(found->second);
    calls_.erase(found);
    finished(std::move(call), finished_now.answer, now);
  }
  return own;
}

}  // namespace onceward::testing
