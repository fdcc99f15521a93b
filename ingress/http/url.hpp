// Request targets taken apart: path segments and query members, percent-decoded. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::ingress {

/// `%41` -> `A`; absent if a `%` is not followed by two hex digits. `+` stays a plus.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);
/// Everything but letters, digits and `-._~` as %XX: one segment of a path, also for ids with `/`.
[[nodiscard]] std::string percent_encode(std::string_view text);

/// Segments of an absolute path, split at `/` before decoding, so that an id may hold `%2F`.
/// invalid_argument if an escape is broken.
[[nodiscard]] Result<std::vector<std::string>> split_path(std::string_view path);

/// Members of a query string, decoded, in order.
class Query {
 public:
  /// invalid_argument naming the member: a broken escape, a member given twice, or one that is not
  /// in `known` (a misspelled filter must not silently list everything).
  [[nodiscard]] static Result<Query> parse(std::string_view text,
                                           const std::vector<std::string_view>& known);
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace onceward::ingress
