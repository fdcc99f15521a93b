// RawValue: one setting as it was written somewhere, before its key gives it a meaning. Made by the
// TOML reader, from the environment and from flags; consumed by the key table.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace onceward::app {

/// Text that has no type of its own (environment, flags): each key reads it as what it needs.
struct UntypedText {
  std::string text;
};
/// A decimal number as written, e.g. "1.10".
struct DecimalText {
  std::string text;
};

struct RawValue {
  std::variant<UntypedText, std::string, std::int64_t, bool, DecimalText, std::vector<std::string>>
      value;
};

/// A setting with the place where it stands.
struct RawSetting {
  std::string section;
  std::string key;
  RawValue value;
  std::string where;  ///< "FILE:LINE:COLUMN", "environment ONCEWARD_HTTP__LISTEN", "flag --set"
};

}  // namespace onceward::app
