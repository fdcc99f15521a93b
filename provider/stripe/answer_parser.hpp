// AnswerParser: JSON bodies of the provider as ProviderObjects. Foreign bytes: everything is
// checked and nothing is defaulted; what does not fit is a problem with a name, never an exception.
#pragma once

#include <onceward/core/external_call.hpp>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::provider::stripe {

struct ListPage {
  std::vector<ProviderObject> objects;
  bool has_more = false;
};

/// The `error` object of a refusal; texts are empty where it has none.
struct ApiError {
  std::string type;
  std::string code;
  std::string decline_code;
  std::string message;
  std::string charge;
  std::optional<ProviderObject> payment_intent;
};

/// Keeps its memory between bodies; not thread-safe.
class AnswerParser {
 public:
  AnswerParser();

  /// One object whose member `object` says `kind`. Absent: problem() says why. Required members:
  /// id, status (null only for a refund), amount, currency, and amount_received of a succeeded
  /// intent. If that (of a charge: amount_captured) differs from amount, amount_minor is -1: it
  /// matches no obligation. Any member of a wrong type and any repeated name is a problem.
  [[nodiscard]] std::optional<ProviderObject> parse_object(std::string_view body,
                                                           std::string_view kind);
  [[nodiscard]] std::optional<ListPage> parse_list(std::string_view body, std::string_view kind);
  /// Empty texts if the body is not an error of the provider's form. An intent inside that does not
  /// parse is left out.
  [[nodiscard]] ApiError parse_error(std::string_view body);

  /// Of the newest parse_object() or parse_list() that gave nothing.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  /// The root object, valid until the next parse.
  [[nodiscard]] const boost::json::object* parse(std::string_view body);

  std::unique_ptr<unsigned char[]> memory_;
  std::optional<boost::json::monotonic_resource> resource_;
  std::optional<boost::json::value> root_;
  std::string problem_;
};

}  // namespace onceward::provider::stripe
