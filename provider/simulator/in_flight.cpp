// What faults do to a request on its way.
#include "provider/simulator/in_flight.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace onceward::provider::simulator {
namespace json = boost::json;

namespace {

constexpr std::string_view intents_path = "/v1/payment_intents/";

/// The id in /v1/payment_intents/ID/...; empty elsewhere.
std::string intent_in_path(std::string_view path) {
  if (path.substr(0, intents_path.size()) != intents_path) return {};
  path.remove_prefix(intents_path.size());
  return std::string(path.substr(0, path.find('/')));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void say(InFlight& request, const ApiError& error) {
  request.status = error.status;
  request.body = json::serialize(to_json(error));
}

/// Replaces one member of a JSON object answer; other answers stay as they are.
template <class Replace>
void edit_object(InFlight& request, const char* member, Replace&& replace) {
  boost::system::error_code error;
  json::value value = json::parse(request.body, error);
  if (error || request.status != 200 || !value.is_object()) return;
  json::value* found = value.get_object().if_contains(member);
  if (found == nullptr) return;
  replace(*found);
  request.body = json::serialize(value);
}

void gateway_page(InFlight& request, int status) {
  request.status = status;
  request.body = "<html><body><h1>" + std::to_string(status) + "</h1></body></html>\n";
  request.headers.emplace_back("Content-Type", "text/html");
}

/// Puts a second member of that name, with another value, in front.
void repeat_member(InFlight& request, const std::string& member, const json::value& present) {
  const json::value other =
      present.is_number() ? json::value(present.to_number<std::int64_t>() + 1) : json::value("x");
  request.body.insert(1, json::serialize(json::value(member)) + ":" + json::serialize(other) + ",");
}

void make_odd(const WireFault& fault, InFlight& request) {
  if (request.status != 200) return;
  if (fault.oddity == Oddity::html) {
    gateway_page(request, 200);
    return;
  }
  boost::system::error_code error;
  json::value value = json::parse(request.body, error);
  json::object* object = error ? nullptr : value.if_object();
  json::value* member = object == nullptr ? nullptr : object->if_contains(fault.member);
  if (member == nullptr) return;
  switch (fault.oddity) {
    case Oddity::missing:
      object->erase(fault.member);
      break;
    case Oddity::null:
      *member = nullptr;
      break;
    case Oddity::as_text:
      if (!member->is_string()) *member = json::serialize(*member);
      break;
    case Oddity::twice:
      return repeat_member(request, fault.member, *member);
    case Oddity::upper:
      if (auto* text = member->if_string()) {
        for (char& c : *text) {
          if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        }
      }
      break;
    case Oddity::replace:
      *member = std::string_view(fault.text);
      break;
    case Oddity::html:
      return;
  }
  request.body = json::serialize(value);
}

}  // namespace

RequestFacts facts_of(const WireRequest& request, const FormParams& params, ObjectStore& store) {
  RequestFacts facts;
  facts.method = request.method;
  facts.path = request.path;
  bool confirms = false;
  for (const FormParam& param : params) {
    if (param.name == "customer" && param.keys.empty()) facts.provider_customer = param.value;
    if (param.name == "confirm" && param.value == "true") confirms = true;
    if (param.name == "metadata" && param.keys.size() == 1 &&
        param.keys[0] == "onceward_customer") {
      facts.customer = param.value;
    }
  }
  const bool refunds = request.path == "/v1/refunds";
  std::string intent_id = intent_in_path(request.path);
  std::string charge_id;
  for (const FormParam& param : params) {
    if (refunds && param.name == "payment_intent") intent_id = param.value;
    if (refunds && param.name == "charge") charge_id = param.value;
  }
  if (const PaymentIntent* intent = store.intents().find(intent_id)) {
    facts.customer = find(intent->metadata, "onceward_customer");
    facts.provider_customer = intent->customer;
  } else if (const Charge* charge = store.charges().find(charge_id)) {
    facts.customer = find(charge->metadata, "onceward_customer");
    facts.provider_customer = charge->customer;
  }
  facts.money = request.method == "POST" &&
                (request.path == "/v1/charges" || ends_with(request.path, "/confirm") ||
                 (request.path == "/v1/payment_intents" && confirms));
  return facts;
}

void apply_gate_fault(const GateFault& fault, InFlight& request) {
  request.outcome = "refused";
  switch (fault.kind) {
    case GateFault::Kind::drop:
    case GateFault::Kind::stale_connection:
      request.ending = fault.end;
      request.closed_for = fault.closed_for;
      return;
    case GateFault::Kind::hang:
      request.ending = WireEnding::hang;
      return;
    case GateFault::Kind::rate_limit:
      say(request, rate_limited());
      request.headers.emplace_back("Stripe-Rate-Limited-Reason", fault.reason);
      if (!fault.retry_after.empty()) {
        request.headers.emplace_back("Retry-After", fault.retry_after);
      }
      return;
    case GateFault::Kind::lock_timeout:
      return say(request, lock_timeout());
    case GateFault::Kind::key_in_use:
      return say(request, key_in_use(request.key.value_or("")));
    case GateFault::Kind::unauthorized:
      return say(request, unauthorized("Invalid API key."));
    case GateFault::Kind::forbidden: {
      ApiError error = unauthorized("This key lacks the permission for this endpoint.");
      error.status = 403;
      return say(request, error);
    }
    case GateFault::Kind::gateway:
      return gateway_page(request, fault.status);
  }
}

void apply_wire_fault(const WireFault& fault, InFlight& request) {
  switch (fault.kind) {
    case WireFault::Kind::drop:
      request.ending = fault.end;
      return;
    case WireFault::Kind::cut:
      request.ending = fault.end;
      request.framing = fault.framing;
      // At least one byte is kept back: all of them would be a whole answer. A wrong length keeps
      // back one that does not exist.
      request.body_bytes_sent =
          fault.framing == WireFraming::wrong_length
              ? request.body.size()
              : std::min(fault.bytes, std::max<std::size_t>(request.body.size(), 1) - 1);
      return;
    case WireFault::Kind::hang:
      request.ending = WireEnding::hang;
      return;
    case WireFault::Kind::gateway:
      return gateway_page(request, fault.status);
    case WireFault::Kind::bad_json:
      request.status = 200;
      request.body.resize(request.body.size() / 2);
      return;
    case WireFault::Kind::wrong_amount:
      return edit_object(request, "amount", [](json::value& amount) {
        if (amount.is_int64()) amount = amount.get_int64() + 1;
      });
    case WireFault::Kind::odd:
      return make_odd(fault, request);
    case WireFault::Kind::unknown_status:
      return edit_object(request, "status",
                         [&](json::value& status) { status = std::string_view(fault.text); });
  }
}

}  // namespace onceward::provider::simulator
