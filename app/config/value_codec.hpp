// Reading one RawValue into a typed setting, and back to TOML text. One overload per type of
// setting; every failure says what was found and what would be accepted.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "app/config/config.hpp"
#include "app/config/enum_names.hpp"
#include "app/config/raw_value.hpp"

namespace onceward::app {

using Complaint = std::optional<std::string>;  ///< absent: all is well

/// `500ms`, `80s`, `10m`, `1h`, `14d`: a whole number and one unit, at most ten years.
[[nodiscard]] std::optional<Milliseconds> parse_duration(std::string_view text);
/// The shortest spelling that parse_duration reads back.
[[nodiscard]] std::string to_text(Milliseconds duration);

/// The text of a value that must be text; complains otherwise.
[[nodiscard]] Complaint read_value(const RawValue& raw, std::string& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, std::filesystem::path& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, Milliseconds& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, std::uint32_t& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, bool& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, CapFactor& out);
/// From the environment: comma-separated.
[[nodiscard]] Complaint read_value(const RawValue& raw, std::vector<std::string>& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, Namespace& out);
[[nodiscard]] Complaint read_value(const RawValue& raw, AccountLabel& out);

template <class E>
requires std::is_enum_v<E>
[[nodiscard]] Complaint read_value(const RawValue& raw, E& out) {
  std::string text;
  if (auto complaint = read_value(raw, text)) return complaint;
  std::string accepted;
  for (const auto& entry : EnumNames<E>::entries) {
    if (entry.name == text) {
      out = entry.value;
      return std::nullopt;
    }
    accepted += accepted.empty() ? "" : ", ";
    accepted += entry.name;
  }
  return "is \"" + text + "\"; accepted: " + accepted;
}

[[nodiscard]] std::string toml_text(const std::string& value);
[[nodiscard]] std::string toml_text(const std::filesystem::path& value);
[[nodiscard]] std::string toml_text(Milliseconds value);
[[nodiscard]] std::string toml_text(std::uint32_t value);
[[nodiscard]] std::string toml_text(bool value);
[[nodiscard]] std::string toml_text(CapFactor value);
[[nodiscard]] std::string toml_text(const std::vector<std::string>& value);
[[nodiscard]] std::string toml_text(const Namespace& value);
[[nodiscard]] std::string toml_text(const AccountLabel& value);

template <class E>
requires std::is_enum_v<E>
[[nodiscard]] std::string toml_text(E value) {
  for (const auto& entry : EnumNames<E>::entries) {
    if (entry.value == value) return toml_text(std::string(entry.name));
  }
  return "\"\"";
}

}  // namespace onceward::app
