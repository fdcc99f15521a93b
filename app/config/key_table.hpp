// The one table of configuration keys: how each is read, checked by itself and shown. A key that is
// not here does not exist. Rules between keys are in config_check.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/config/config.hpp"
#include "app/config/raw_value.hpp"

namespace onceward::app {

struct KeySpec {
  std::string_view section;
  std::string_view key;
  bool is_secret = false;  ///< never accepted by flag, shown masked
  /// What is wrong with the value and what would be right; absent if it was stored.
  std::optional<std::string> (*set)(Config&, const RawValue&) = nullptr;
  /// The value as TOML.
  std::string (*show)(const Config&) = nullptr;
};

/// In the order in which `config show` prints them.
[[nodiscard]] std::span<const KeySpec> key_table() noexcept;
/// Null if there is no such key.
[[nodiscard]] const KeySpec* find_key(std::string_view section, std::string_view key) noexcept;
[[nodiscard]] bool is_section(std::string_view section) noexcept;
/// "did you mean ...?" or the keys of the section; empty if nothing helps.
[[nodiscard]] std::string suggestion_for(std::string_view section, std::string_view key);

}  // namespace onceward::app
