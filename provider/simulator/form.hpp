// The provider's request encoding: application/x-www-form-urlencoded with nested brackets. Decodes
// query strings and bodies; knows no parameter by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <onceward/core/result.hpp>

namespace onceward::provider::simulator {

/// `metadata[order id]=7` is {"metadata", {"order id"}, "7"}.
struct FormParam {
  std::string name;
  std::vector<std::string> keys;
  std::string value;

  friend bool operator==(const FormParam&, const FormParam&) = default;
};
using FormParams = std::vector<FormParam>;

/// In the order sent; `list[]` becomes `list[0]`, `list[1]`, ... Parts without a name are skipped.
/// invalid_argument, with a sentence for the client, for broken percent-encoding or brackets, text
/// that is no UTF-8, the same parameter twice, or more than form_params_max parameters.
[[nodiscard]] Result<FormParams> parse_form(std::string_view text);
inline constexpr std::size_t form_params_max = 500;
inline constexpr std::size_t form_depth_max = 8;

/// `metadata[order id]`, for messages.
[[nodiscard]] std::string to_text(const FormParam& param);
/// The same text for the same parameters in any order and encoding: what requests that share an
/// idempotency key are compared by. Injective.
[[nodiscard]] std::string canonical_text(const FormParams& params);

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace onceward::provider::simulator
