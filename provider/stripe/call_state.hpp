// CallState: one call on its way, and what each HTTP result means for it. Pure: results in, an
// ExternalAnswer out, or the wish for the next page of a list. Used by StripeProvider.
#pragma once

#include <onceward/core/external_call.hpp>
#include <onceward/platform/http_client.hpp>

#include "provider/stripe/answer_parser.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace onceward::provider::stripe {

/// Pages of one list; one more is a bad answer, not a longer list.
inline constexpr std::size_t list_pages_max = 100;

/// Headers of the answer that take() reads, in lower case.
inline constexpr std::string_view header_date = "date";
inline constexpr std::string_view header_retry_after = "retry-after";
inline constexpr std::string_view header_replayed = "idempotent-replayed";
inline constexpr std::string_view header_key = "idempotency-key";
inline constexpr std::string_view header_request_id = "request-id";

class CallState {
 public:
  explicit CallState(ExternalRequest request) : request_(std::move(request)) {}

  [[nodiscard]] const ExternalRequest& request() const noexcept { return request_; }
  [[nodiscard]] std::uint32_t wire_requests() const noexcept { return wire_requests_; }

  /// Why this request cannot be put on the wire at all; empty if it can.
  [[nodiscard]] std::string_view unsendable() const noexcept;

  /// What to send now: the request, or the next page of its list.
  [[nodiscard]] platform::HttpClientRequest next_request(std::string_view base_url) const;

  /// The result of what next_request() gave. Absent: the list goes on.
  [[nodiscard]] std::optional<ExternalAnswer> take(const platform::HttpClientResult& result,
                                                   AnswerParser& parser);

  /// An answer without a wire request.
  [[nodiscard]] ExternalAnswer unsent_answer(Observation observation, std::string_view code,
                                             std::string_view message) const;

 private:
  [[nodiscard]] ExternalAnswer answer(Observation observation, std::string_view code,
                                      std::string_view message) const;
  [[nodiscard]] ExternalAnswer take_object(std::string_view body, AnswerParser& parser) const;
  [[nodiscard]] std::optional<ExternalAnswer> take_page(std::string_view body,
                                                        AnswerParser& parser);
  [[nodiscard]] ExternalAnswer take_refusal(const platform::HttpClientResult& result,
                                            AnswerParser& parser) const;
  /// True if the answer names another key or object than ours: it answers somebody else.
  [[nodiscard]] bool is_foreign(const platform::HttpClientResult& result) const;

  const ExternalRequest request_;
  std::uint32_t wire_requests_ = 0;
  bool replayed_ = false;
  std::vector<ProviderObject> listed_;
  std::size_t pages_ = 0;
  std::string cursor_;  ///< id of the last object listed
};

/// For people: no control characters, at most 500 bytes, and nothing at all if it holds the secret.
[[nodiscard]] std::string clean_message(std::string_view text, std::string_view secret);

}  // namespace onceward::provider::stripe
