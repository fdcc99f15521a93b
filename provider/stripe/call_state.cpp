// From HTTP results to answers, by the classification table.
#include "provider/stripe/call_state.hpp"

#include <onceward/provider/classification.hpp>

#include "provider/stripe/wire_request.hpp"

#include <algorithm>

namespace onceward::provider::stripe {

namespace {

constexpr std::string_view page_size = "100";

/// Whole seconds and nothing else; the provider's own clients know no other form.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text) {
  constexpr std::int64_t wait_max_s = 3'600;
  std::int64_t seconds = 0;
  if (text.empty()) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    seconds = std::min(wait_max_s, seconds * 10 + (c - '0'));
  }
  return std::chrono::seconds(seconds);
}

bool has_param(const Params& params, std::string_view name) {
  return std::any_of(params.begin(), params.end(),
                     [=](const auto& param) { return param.first == name; });
}

}  // namespace

std::string_view CallState::unsendable() const noexcept {
  const OperationRow& row = row_of(request_.operation);
  if (row.takes_target && request_.target.empty()) return "the operation needs an object id";
  if (row.is_post && !is_sendable_key(request_.key.value())) {
    return "the idempotency key is not 1-255 visible ASCII characters";
  }
  return {};
}

platform::HttpClientRequest CallState::next_request(std::string_view base_url) const {
  const OperationRow& row = row_of(request_.operation);
  platform::HttpClientRequest http;
  http.url.append(base_url).append(path_of(row, request_.target));
  if (row.is_post) {
    http.method = platform::HttpMethod::post;
    http.headers.push_back("Idempotency-Key: " + request_.key.value());
    http.body = form_encode(request_.params);
    return http;
  }
  Params params = request_.params;
  if (row.is_list && !has_param(params, "limit")) params.emplace_back("limit", page_size);
  if (!cursor_.empty()) params.emplace_back("starting_after", cursor_);
  const std::string query = form_encode(params);
  if (!query.empty()) http.url.append("?").append(query);
  return http;
}

std::optional<ExternalAnswer> CallState::take(const platform::HttpClientResult& result,
                                              AnswerParser& parser) {
  wire_requests_ += result.wire_requests;
  replayed_ = replayed_ || result.header(header_replayed) == "true";
  switch (result.outcome) {
    case platform::HttpOutcome::not_sent:
      // Of a list whose earlier pages were sent, this is no longer true for the call as a whole.
      if (wire_requests_ == 0) return answer(Observation::not_sent, result.failure, result.detail);
      return answer(Observation::broken, result.failure, result.detail);
    case platform::HttpOutcome::broken:
      return answer(Observation::broken, result.failure, result.detail);
    case platform::HttpOutcome::complete:
      break;
  }
  if (is_foreign(result)) {
    return answer(Observation::bad_body, "foreign_answer", "the answer names another key");
  }
  if (result.status < 200 || result.status > 299) return take_refusal(result, parser);
  if (row_of(request_.operation).is_list) return take_page(result.body, parser);
  return take_object(result.body, parser);
}

bool CallState::is_foreign(const platform::HttpClientResult& result) const {
  const auto key = result.header(header_key);
  if (!key) return false;
  return is_look_up(request_.operation) || *key != request_.key.value();
}

ExternalAnswer CallState::take_object(std::string_view body, AnswerParser& parser) const {
  auto object = parser.parse_object(body, row_of(request_.operation).object);
  if (!object) return answer(Observation::bad_body, "unreadable", parser.problem());
  if (!request_.target.empty() && object->id != request_.target) {
    return answer(Observation::bad_body, "foreign_answer", "the answer is another object");
  }
  ExternalAnswer good = answer(Observation::object, {}, {});
  good.objects.push_back(*std::move(object));
  return good;
}

std::optional<ExternalAnswer> CallState::take_page(std::string_view body, AnswerParser& parser) {
  auto page = parser.parse_list(body, row_of(request_.operation).object);
  if (!page) return answer(Observation::bad_body, "unreadable", parser.problem());
  ++pages_;
  std::move(page->objects.begin(), page->objects.end(), std::back_inserter(listed_));
  if (!page->has_more) {
    ExternalAnswer good = answer(Observation::object, {}, {});
    good.objects = std::move(listed_);
    return good;
  }
  // An incomplete list must never look like a complete one: absence is drawn from it.
  if (page->objects.empty() || listed_.back().id == cursor_) {
    return answer(Observation::bad_body, "stalled_list", "more pages were promised, none came");
  }
  if (pages_ >= list_pages_max) {
    return answer(Observation::bad_body, "too_many_pages", "the list has more than 100 pages");
  }
  cursor_ = listed_.back().id;
  return std::nullopt;
}

ExternalAnswer CallState::take_refusal(const platform::HttpClientResult& result,
                                       AnswerParser& parser) const {
  ApiError error = parser.parse_error(result.body);
  const Observation observation = observe(result.status, error.type, error.code);
  std::string message = "HTTP " + std::to_string(result.status);
  if (!error.message.empty()) message.append(": ").append(error.message);
  if (const auto id = result.header(header_request_id)) {
    message.append(" (request ").append(*id).append(")");
  }
  ExternalAnswer refusal = answer(observation, error.code, message);
  refusal.decline_code = error.decline_code;
  if (const auto wait = result.header(header_retry_after)) {
    refusal.retry_after = parse_retry_after(*wait);
  }
  if (error.payment_intent) {
    if (!request_.target.empty() && error.payment_intent->id != request_.target) {
      return answer(Observation::bad_body, "foreign_answer", "the refusal is of another object");
    }
    ProviderObject& intent = *error.payment_intent;
    if (intent.failure_charge.empty()) intent.failure_charge = error.charge;
    refusal.objects.push_back(std::move(intent));
  } else if (observation == Observation::declined && !error.charge.empty()) {
    ProviderObject charge;
    charge.object = "charge";
    charge.id = error.charge;
    charge.failure_code = error.code;
    charge.decline_code = error.decline_code;
    refusal.objects.push_back(std::move(charge));
  }
  return refusal;
}

ExternalAnswer CallState::answer(Observation observation, std::string_view code,
                                 std::string_view message) const {
  ExternalAnswer out;
  out.key = request_.key;
  out.operation = request_.operation;
  out.observation = observation;
  out.code = code;
  out.message = message;
  // A replayed answer proves that the key was sent before, by whomever.
  out.single_wire_send = wire_requests_ <= 1 && !replayed_;
  return out;
}

ExternalAnswer CallState::unsent_answer(Observation observation, std::string_view code,
                                        std::string_view message) const {
  return answer(observation, code, message);
}

std::string clean_message(std::string_view text, std::string_view secret) {
  constexpr std::size_t length_max = 500;
  if (!secret.empty() && text.find(secret) != std::string_view::npos) {
    return "(withheld: it contains the secret key)";
  }
  std::string clean(text.substr(0, length_max));
  // A cut must not leave half a UTF-8 character.
  if (text.size() > length_max) {
    while (!clean.empty() && (static_cast<unsigned char>(clean.back()) & 0xc0U) == 0x80U) {
      clean.pop_back();
    }
    if (!clean.empty() && static_cast<unsigned char>(clean.back()) >= 0xc0U) clean.pop_back();
  }
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == '\x7f'; }, ' ');
  return clean;
}

}  // namespace onceward::provider::stripe
