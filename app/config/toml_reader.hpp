// Turns TOML text into flat settings with their places. The only user of the TOML library; knows
// no key of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config/raw_value.hpp"

namespace onceward::app {

struct TomlText {
  /// In the order of the text. `section` is the dotted path of tables; the n-th table of an array
  /// of tables is "name[n]", from 0.
  std::vector<RawSetting> settings;
  /// "FILE:LINE:COLUMN: what is wrong", one for each; the text must not be used if there is one.
  std::vector<std::string> problems;
};

/// `name` is how the text is called in places, usually its path.
[[nodiscard]] TomlText read_toml(std::string_view text, const std::string& name);

}  // namespace onceward::app
