// The parameters of an endpoint: which it knows, of which shape, and typed access once they passed.
// A failure here is a validation failure: it is answered 400 and never saved under a key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "provider/simulator/api_error.hpp"
#include "provider/simulator/form.hpp"
#include "provider/simulator/objects.hpp"

namespace onceward::provider::simulator {

enum class ParamKind : std::uint8_t {
  text,      ///< one value, may be empty (an empty one unsets)
  id,        ///< one value, not empty
  integer,   ///< digits with an optional minus
  boolean,   ///< true or false
  metadata,  ///< one level of keys; limits of the provider
  list,      ///< indexed values
  range,     ///< integer, or keys gt, gte, lt, lte with integers
  object,    ///< any nesting; accepted and ignored
};

struct ParamSpec {
  std::string_view name;
  ParamKind kind = ParamKind::text;
  bool required = false;
};

/// Bounds of a `created` filter, both inclusive.
struct CreatedRange {
  std::optional<std::int64_t> from_s;
  std::optional<std::int64_t> to_s;
};

/// Parameters that passed check_params(). Accessors for what the endpoint's table declares.
class Params {
 public:
  Params() = default;
  explicit Params(FormParams params) : params_(std::move(params)) {}

  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// Empty when absent.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  [[nodiscard]] CreatedRange range(std::string_view name) const;
  /// Value under one key, e.g. card[token]; empty when absent.
  [[nodiscard]] std::string nested(std::string_view name, std::string_view key) const;
  /// Sets what was sent; an empty value removes the key.
  void merge_metadata(Metadata& into) const;
  [[nodiscard]] Metadata metadata() const;

  [[nodiscard]] const FormParams& raw() const noexcept { return params_; }

 private:
  [[nodiscard]] const FormParam* find(std::string_view name) const noexcept;
  FormParams params_;
};

/// Refuses unknown and missing parameters and wrong shapes, in that order.
[[nodiscard]] std::optional<ApiError> check_params(const FormParams& params,
                                                   std::span<const ParamSpec> specs);
/// Amount and currency as the provider accepts them: positive, at most eight digits, lower-case
/// currency, multiples that the currency needs.
[[nodiscard]] std::optional<ApiError> check_amount(const Params& params);
/// The smallest amount the provider charges in that currency; 0 where it states none.
[[nodiscard]] std::int64_t smallest_amount(std::string_view currency) noexcept;
/// limit within 1 to 100, at most one cursor.
[[nodiscard]] std::optional<ApiError> check_page(const Params& params);

}  // namespace onceward::provider::simulator
