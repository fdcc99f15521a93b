// Documents of the API from rows and errors; every number comes from the table of answers.
#include "ingress/http/answers.hpp"

#include <array>

#include "ingress/http/url.hpp"

namespace onceward::ingress {

namespace {

namespace json = boost::json;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::value time_or_null(const std::optional<Timestamp>& at) {
  return at ? json::value(to_iso(*at)) : json::value(nullptr);
}

json::string_view view(std::string_view text) {
  return {text.data(), text.size()};
}

std::string csv_field(std::string_view text) {
  std::string field(text);
  // Spreadsheets execute fields that begin like this; ids come from outside.
  if (!field.empty() &&
      std::string_view("=+-@\t\r").find(field.front()) != std::string_view::npos) {
    field.insert(field.begin(), '\'');
  }
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

ProblemKind kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_config:
      return ProblemKind::bad_request;
    case ErrorCode::not_found:
      return ProblemKind::not_found;
    case ErrorCode::conflict:
      return ProblemKind::run_conflict;
    case ErrorCode::unauthorized:
      return ProblemKind::unauthorized;
    case ErrorCode::busy:
      return ProblemKind::busy;
    case ErrorCode::store_uncertain:
      return ProblemKind::store_uncertain;
    case ErrorCode::quarantined:
    case ErrorCode::store_corrupt:
    case ErrorCode::unknown_manifest:
    case ErrorCode::decode_failed:
    case ErrorCode::impossible_transition:
      return ProblemKind::entity_quarantined;
    case ErrorCode::not_ready:
    case ErrorCode::store_io:
    case ErrorCode::store_locked:
    case ErrorCode::store_mismatch:
    case ErrorCode::store_schema_newer:
    case ErrorCode::store_restored:
    case ErrorCode::store_full:
    case ErrorCode::unreachable:
      return ProblemKind::not_ready;
    case ErrorCode::provider_config:
    case ErrorCode::io:
      break;
  }
  return ProblemKind::internal;
}

/// Problem of a status that POST does not answer with success or 202.
ProblemKind refusal_kind(ObligationStatus status) {
  switch (status) {
    case ObligationStatus::declined:
      return ProblemKind::declined;
    case ObligationStatus::uncollectible:
      return ProblemKind::uncollectible;
    case ObligationStatus::capped:
      return ProblemKind::spend_cap_exceeded;
    case ObligationStatus::in_progress:
    case ObligationStatus::processing:
    case ObligationStatus::action_required:
    case ObligationStatus::unknown:
    case ObligationStatus::parked:
    case ObligationStatus::rejected:
    case ObligationStatus::completed:
    case ObligationStatus::waived:
    case ObligationStatus::cancelled:
      break;
  }
  return ProblemKind::internal;
}

std::string refusal_detail(const ObligationRow& row) {
  std::string detail = to_display(row.key) + ", " + to_display(row.amount) + ": ";
  if (row.status == ObligationStatus::capped) {
    detail += "the spend cap refuses it";
    detail += row.reason.empty() ? "" : " (" + row.reason + ")";
    return detail + "; raise the cap to have it billed";
  }
  detail += "refused by the payer's side";
  if (!row.decline_code.empty()) detail += " (" + row.decline_code + ")";
  if (row.next_attempt_at) return detail + "; next try at " + to_iso(*row.next_attempt_at);
  return detail + "; no further try is planned";
}

/// How long a caller should wait before he asks again, in seconds.
std::string retry_after(ObligationStatus status) {
  return status == ObligationStatus::in_progress ? "1" : "5";
}

}  // namespace

void add_header(platform::HttpResponse& response, std::string name, std::string value) {
  response.headers.push_back({std::move(name), std::move(value)});
}

platform::HttpResponse text_answer(int status, std::string_view content_type, std::string body) {
  platform::HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  add_header(response, "Content-Type", std::string(content_type));
  add_header(response, "Cache-Control", "no-store");
  add_header(response, "X-Content-Type-Options", "nosniff");
  return response;
}

platform::HttpResponse json_answer(int status, const json::object& body) {
  return text_answer(status, "application/json", json::serialize(body) + "\n");
}

platform::HttpResponse problem_answer(Problem problem) {
  const auto& row = problem_row(problem.kind);
  json::object body;
  body["type"] = "urn:onceward:problem:" + std::string(row.slug);
  body["title"] = view(row.title);
  body["status"] = row.http_status;
  body["detail"] = problem.detail;
  body["code"] = view(row.code);
  // Whatever the reason: where the money's state is unknown, only the same key is safe.
  const bool same_key = row.http_status >= 500 && problem.charge_state == ChargeState::unknown;
  body["retryable"] = view(to_text(same_key ? Retryable::same_key : row.retryable));
  body["charge_state"] = view(to_text(problem.charge_state));
  for (auto& member : problem.members) {
    // `status` is the HTTP status in a problem document; the obligation's has a name of its own.
    body[member.key() == "status" ? json::string_view("obligation_status") : member.key()] =
        std::move(member.value());
  }
  auto response =
      text_answer(row.http_status, "application/problem+json", json::serialize(body) + "\n");
  if (problem.retry_after_s) {
    add_header(response, "Retry-After", std::to_string(*problem.retry_after_s));
  }
  return response;
}

platform::HttpResponse too_large() {
  Problem problem;
  problem.kind = ProblemKind::body_too_large;
  problem.detail = "a JSON body may have at most 1 MiB";
  return problem_answer(std::move(problem));
}

platform::HttpResponse bad_request(const Error& error) {
  Problem problem;
  problem.kind = ProblemKind::bad_request;
  problem.detail = error.context;
  return problem_answer(std::move(problem));
}

platform::HttpResponse error_answer(const Error& error) {
  Problem problem;
  problem.kind = kind_of(error.code);
  problem.detail = error.context;
  const auto& row = problem_row(problem.kind);
  if (problem.kind == ProblemKind::store_uncertain) problem.charge_state = ChargeState::unknown;
  if (row.http_status == 503) problem.retry_after_s = 1;
  return problem_answer(std::move(problem));
}

json::object obligation_json(const ObligationView& obligation) {
  const auto& row = obligation.row;
  json::object body;
  body["customer"] = row.key.customer.value();
  body["period"] = row.key.period.text();
  body["purpose"] = row.key.purpose.value();
  body["status"] = view(to_text(row.status));
  body["amount_minor"] = row.amount.minor;
  body["currency"] = view(row.amount.currency.text());
  body["charge_id"] = text_or_null(row.charge_id);
  body["attempt"] = row.attempt;
  body["request_id"] = text_or_null(row.request_id.value());
  body["initiated_at"] = to_iso(row.initiated_at);
  body["updated_at"] = to_iso(row.updated_at);
  body["decline_code"] = text_or_null(row.decline_code);
  body["next_attempt_at"] = time_or_null(row.next_attempt_at);
  body["reason"] = text_or_null(row.reason);
  body["deduplicated"] = obligation.deduplicated;
  if (obligation.quarantined != nullptr) {
    body["quarantined"] = json::object{{"since", to_iso(obligation.quarantined->since)},
                                       {"reason", obligation.quarantined->reason}};
  }
  return body;
}

std::string obligation_csv_header() {
  return "customer,period,purpose,status,amount_minor,currency,charge_id,attempt,request_id,"
         "initiated_at,updated_at,decline_code,next_attempt_at,reason\r\n";
}

std::string obligation_csv_line(const ObligationRow& row) {
  const std::array fields{csv_field(row.key.customer.value()),
                          row.key.period.text(),
                          row.key.purpose.value(),
                          std::string(to_text(row.status)),
                          std::to_string(row.amount.minor),
                          std::string(row.amount.currency.text()),
                          csv_field(row.charge_id),
                          std::to_string(row.attempt),
                          csv_field(row.request_id.value()),
                          to_iso(row.initiated_at),
                          to_iso(row.updated_at),
                          csv_field(row.decline_code),
                          row.next_attempt_at ? to_iso(*row.next_attempt_at) : "",
                          csv_field(row.reason)};
  std::string line;
  for (const auto& field : fields) line += (line.empty() ? "" : ",") + field;
  return line + "\r\n";
}

json::object event_json(const StoredEvent& stored) {
  json::object event;
  event["sequence_nr"] = stored.sequence_nr.value;
  event["at"] = to_iso(stored.at);
  event["event"] = stored.event.manifest.name;
  event["version"] = stored.event.manifest.version;
  event["epoch"] = stored.epoch.value;
  event["writer"] = stored.writer.value();
  json::error_code error;
  auto data = json::parse(stored.event.payload, error);
  event["data"] = error ? json::value(nullptr) : std::move(data);
  return event;
}

json::object refund_json(const RefundRow& refund) {
  json::object body;
  body["customer"] = refund.obligation.customer.value();
  body["period"] = refund.obligation.period.text();
  body["purpose"] = refund.obligation.purpose.value();
  body["number"] = refund.number;
  body["amount_minor"] = refund.amount.minor;
  body["currency"] = view(refund.amount.currency.text());
  body["status"] = view(to_text(refund.status));
  body["refund_id"] = text_or_null(refund.refund_id);
  body["request_id"] = text_or_null(refund.request_id.value());
  body["reason"] = text_or_null(refund.reason);
  body["who"] = text_or_null(refund.who);
  body["why"] = text_or_null(refund.why);
  body["requested_at"] = to_iso(refund.requested_at);
  body["updated_at"] = to_iso(refund.updated_at);
  return body;
}

void add_refunds(json::object& obligation, const ObligationKey& of,
                 std::span<const RefundRow> refunds) {
  json::array shown;
  for (const auto& refund : refunds) {
    if (refund.obligation == of) shown.push_back(refund_json(refund));
  }
  obligation["refunds"] = std::move(shown);
}

std::string obligation_path(const ObligationKey& key) {
  std::string path =
      "/v1/billing/" + percent_encode(key.customer.value()) + "/" + key.period.text();
  if (key.purpose.value() != "subscription") path += "?purpose=" + key.purpose.value();
  return path;
}

platform::HttpResponse post_answer(const ObligationView& obligation) {
  const auto& row = obligation.row;
  const auto& meaning = status_row(row.status);
  auto body = obligation_json(obligation);
  if (meaning.post_status >= 400) {
    Problem problem;
    problem.kind = refusal_kind(row.status);
    problem.detail = refusal_detail(row);
    problem.charge_state = meaning.charge_state;
    problem.members = std::move(body);
    return problem_answer(std::move(problem));
  }
  auto response = json_answer(meaning.post_status, body);
  if (meaning.post_status == 202) {
    add_header(response, "Location", obligation_path(row.key));
    add_header(response, "Retry-After", retry_after(row.status));
  }
  return response;
}

}  // namespace onceward::ingress
