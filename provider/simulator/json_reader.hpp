// Reads members of a parsed JSON object with a memory of what was missing or of the wrong type, so
// that a reader states the members once and checks once.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onceward::provider::simulator {

class JsonReader {
 public:
  explicit JsonReader(const boost::json::object& object) : object_(object) {}

  /// Text of a member; null and absent read as empty.
  [[nodiscard]] std::string text(std::string_view name);
  /// Must be there and not empty.
  [[nodiscard]] std::string required_text(std::string_view name);
  /// null and absent read as 0.
  [[nodiscard]] std::int64_t integer(std::string_view name);
  [[nodiscard]] std::int64_t required_integer(std::string_view name);
  [[nodiscard]] bool flag(std::string_view name);
  /// Null when absent or null.
  [[nodiscard]] const boost::json::object* object(std::string_view name);
  [[nodiscard]] const boost::json::array* array(std::string_view name);
  /// Members of an object whose values are all text; empty when absent or null.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> text_members(
      std::string_view name);

  /// Name of the first member that did not read; empty when all did.
  [[nodiscard]] const std::string& bad_member() const noexcept { return bad_; }

 private:
  [[nodiscard]] const boost::json::value* find(std::string_view name) const;
  void blame(std::string_view name);

  const boost::json::object& object_;
  std::string bad_;
};

}  // namespace onceward::provider::simulator
