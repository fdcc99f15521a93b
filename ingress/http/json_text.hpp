// Strict JSON of request bodies: one object, no member twice, integers that are written as such.
// A thin layer over Boost.JSON that turns every failure into a sentence. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include <onceward/core/result.hpp>

namespace onceward::ingress {

/// invalid_argument: not JSON (with the position), not an object, nested deeper than 8, invalid
/// UTF-8, or a member given twice (named).
[[nodiscard]] Result<boost::json::object> parse_json_object(std::string_view text);

/// Reads the members of one object; the first failure is kept, later reads are harmless. Members
/// that nobody read are unknown and refused by finish().
class JsonMembers {
 public:
  /// `object` must outlive the reader.
  explicit JsonMembers(const boost::json::object& object) : object_(object) {}

  /// Empty if absent; anything but a string is refused (null too: leave the member out instead).
  [[nodiscard]] std::string optional_text(std::string_view name);
  [[nodiscard]] std::string required_text(std::string_view name);
  /// A whole number without fraction or exponent that fits 64 bits.
  [[nodiscard]] std::int64_t required_integer(std::string_view name);
  [[nodiscard]] std::optional<std::int64_t> optional_integer(std::string_view name);
  [[nodiscard]] std::optional<bool> optional_boolean(std::string_view name);
  /// Null if absent.
  [[nodiscard]] const boost::json::object* optional_object(std::string_view name);

  void refuse(std::string why);
  [[nodiscard]] bool has_failed() const noexcept { return !failure_.empty(); }
  /// ok, or invalid_argument with the first failure; an unknown member comes first of all, since
  /// it often explains a missing one.
  [[nodiscard]] Result<Unit> finish() const;

 private:
  const boost::json::value* find(std::string_view name);

  const boost::json::object& object_;
  std::vector<std::string_view> known_;
  std::string failure_;
};

/// The text in quotes if it is short and printable, otherwise its length: safe in a message.
[[nodiscard]] std::string quoted(std::string_view foreign);

}  // namespace onceward::ingress
