// Answers of the API as HTTP responses: JSON documents, problem documents (RFC 9457), and the one
// form of an obligation. Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include <onceward/core/obligation.hpp>
#include <onceward/core/refund.hpp>
#include <onceward/ingress/status_table.hpp>
#include <onceward/journal/journal.hpp>
#include <onceward/platform/http_server.hpp>

namespace onceward::ingress {

/// Gives the answer to one request; called exactly once, from any thread.
using Answer = std::function<void(platform::HttpResponse)>;

/// `application/json`, with the headers every answer of ours has (but Date).
[[nodiscard]] platform::HttpResponse json_answer(int status, const boost::json::object& body);
[[nodiscard]] platform::HttpResponse text_answer(int status, std::string_view content_type,
                                                 std::string body);
void add_header(platform::HttpResponse& response, std::string name, std::string value);

struct Problem {
  ProblemKind kind = ProblemKind::internal;
  std::string detail;
  ChargeState charge_state = ChargeState::none;
  std::optional<std::int64_t> retry_after_s;
  /// Members beside the standard ones, e.g. those of an obligation.
  boost::json::object members;
};
/// `application/problem+json` with type, title, status, detail, code, retryable, charge_state.
[[nodiscard]] platform::HttpResponse problem_answer(Problem problem);
/// Largest JSON body; only uploads of customer files may be larger.
inline constexpr std::size_t json_bytes_max = 1024 * 1024;
[[nodiscard]] platform::HttpResponse too_large();

/// A 400 for a refused input; the error's context is the detail.
[[nodiscard]] platform::HttpResponse bad_request(const Error& error);
/// The problem of an error from a service that knows no obligation: by its code.
[[nodiscard]] platform::HttpResponse error_answer(const Error& error);

/// What is told about an obligation beside its row.
struct ObligationView {
  const ObligationRow& row;
  bool deduplicated = false;
  /// Of its customer's entity, if it is.
  const journal::Quarantined* quarantined = nullptr;
};
[[nodiscard]] boost::json::object obligation_json(const ObligationView& view);
/// Puts `"refunds"` into an obligation's document: those of `refunds` that belong to `of`.
void add_refunds(boost::json::object& obligation, const ObligationKey& of,
                 std::span<const RefundRow> refunds);
/// The same members, in the order of obligation_json; a text with comma, quote or line break is
/// quoted, and one that a spreadsheet would take for a formula begins with an apostrophe.
[[nodiscard]] std::string obligation_csv_header();
[[nodiscard]] std::string obligation_csv_line(const ObligationRow& row);

/// `{"sequence_nr","at","event","version","epoch","writer","data"}`
[[nodiscard]] boost::json::object event_json(const StoredEvent& stored);
/// `{"customer","period","purpose","number","amount_minor","currency","status","refund_id",
/// "request_id","reason","who","why","requested_at","updated_at"}`
[[nodiscard]] boost::json::object refund_json(const RefundRow& refund);

/// `/v1/billing/{customer}/{period}`, with the purpose if it is not the default.
[[nodiscard]] std::string obligation_path(const ObligationKey& key);

/// The answer of POST for an obligation as it is: status, Location and Retry-After by the table of
/// answers, refusals as problem documents with the obligation's members.
[[nodiscard]] platform::HttpResponse post_answer(const ObligationView& view);

}  // namespace onceward::ingress
