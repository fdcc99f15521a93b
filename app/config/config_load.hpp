// Loading a Config: defaults < file < environment < flags, then the rules between keys. Called by
// every verb that needs a configuration.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <onceward/core/result.hpp>

#include "app/config/config.hpp"

namespace onceward::app {

struct ConfigSources {
  std::optional<std::filesystem::path> file;
  /// Name and value; `ONCEWARD_HTTP__LISTEN` is [http] listen. Names without `__` are not settings.
  std::vector<std::pair<std::string, std::string>> environment;
  /// "http.listen" and its value. Secret keys are refused here: arguments are visible to all.
  std::vector<std::pair<std::string, std::string>> flags;
};

struct LoadedConfig {
  Config config;
  /// "http.listen" -> where it was set ("default" if nowhere).
  std::map<std::string, std::string> origin;
};

/// invalid_config with one line for each problem, each naming its place. Relative paths become
/// absolute: data_dir, tokens_file, key_file, secret_file and customers are relative to the folder
/// of the config file (without a file: the working directory); store.path is relative to data_dir.
[[nodiscard]] Result<LoadedConfig> load_config(const ConfigSources& sources);

/// The ONCEWARD_ variables of this process.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> config_environment();

/// The effective values as TOML, each with its origin as a comment; secrets masked.
[[nodiscard]] std::string show_config(const LoadedConfig& loaded);
/// The same as one JSON object {"section":{"key":{"value","origin"}}}; values are TOML texts.
[[nodiscard]] std::string show_config_json(const LoadedConfig& loaded);

}  // namespace onceward::app
