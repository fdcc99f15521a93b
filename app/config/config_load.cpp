// The layers of the configuration, and how the result is shown.
#include "app/config/config_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <boost/json.hpp>

#include "app/config/config_check.hpp"
#include "app/config/key_table.hpp"
#include "app/config/toml_reader.hpp"

namespace onceward::app {

namespace {

constexpr std::string_view environment_prefix = "ONCEWARD_";
constexpr std::size_t file_bytes_max = 1024 * 1024;

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::invalid_config, path.string() + ": is a directory, not a config file");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail(ErrorCode::invalid_config, path.string() + ": cannot be read: " +
                                               std::strerror(errno) + "; give the file with -c");
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (text.str().size() > file_bytes_max) {
    return fail(ErrorCode::invalid_config, path.string() + ": larger than 1 MiB");
  }
  return text.str();
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

class Loader {
 public:
  explicit Loader(const ConfigSources& sources) : sources_(sources) {
    for (const auto& spec : key_table()) loaded_.origin[name_of(spec)] = "default";
  }

  Result<LoadedConfig> load() {
    if (sources_.file) {
      auto text = read_file(*sources_.file);
      if (!text) return Unexpected{std::move(text).error()};
      apply_file(*text);
    }
    apply_environment();
    apply_flags();
    resolve_paths();
    if (problems_.empty()) problems_ = check_config(loaded_);
    if (problems_.empty()) return std::move(loaded_);
    std::string all;
    for (const auto& problem : problems_) all += (all.empty() ? "" : "\n") + problem;
    return fail(ErrorCode::invalid_config, std::move(all));
  }

 private:
  static std::string name_of(const KeySpec& spec) {
    return std::string(spec.section) + "." + std::string(spec.key);
  }

  void apply_file(const std::string& text) {
    auto toml = read_toml(text, sources_.file->string());
    problems_.insert(problems_.end(), toml.problems.begin(), toml.problems.end());
    for (const auto& setting : toml.settings) apply(setting);
  }

  void apply_environment() {
    for (const auto& [name, value] : sources_.environment) {
      if (name.rfind(environment_prefix, 0) != 0) continue;
      const std::string path = lower(std::string_view(name).substr(environment_prefix.size()));
      const auto split = path.find("__");
      if (split == std::string::npos) continue;
      apply({path.substr(0, split), path.substr(split + 2), RawValue{UntypedText{value}},
             "environment " + name});
    }
  }

  void apply_flags() {
    for (const auto& [name, value] : sources_.flags) {
      const auto dot = name.find('.');
      const std::string section = name.substr(0, dot);
      const std::string key = dot == std::string::npos ? "" : name.substr(dot + 1);
      const std::string where = "flag " + name;
      const auto* spec = find_key(section, key);
      if (spec != nullptr && spec->is_secret) {
        problems_.push_back(where +
                            ": may hold a secret, and arguments are visible to all users;"
                            " use the config file, the environment or a credential");
        continue;
      }
      apply({section, key, RawValue{UntypedText{value}}, where});
    }
  }

  void apply(const RawSetting& setting) {
    const std::string name = "[" + setting.section + "] " + setting.key;
    const auto* spec = find_key(setting.section, setting.key);
    if (spec == nullptr) {
      const bool known_section = is_section(setting.section);
      const std::string hint = suggestion_for(setting.section, setting.key);
      problems_.push_back(setting.where + ": unknown " +
                          (known_section || setting.section.empty() ? "key " : "section of ") +
                          name + (hint.empty() ? "" : "; " + hint));
      return;
    }
    if (auto complaint = spec->set(loaded_.config, setting.value)) {
      // The complaint quotes the value; a secret must not reach a terminal or a log.
      problems_.push_back(setting.where + ": " + name + " " +
                          (spec->is_secret ? "is not a text" : *complaint));
      return;
    }
    loaded_.origin[name_of(*spec)] = setting.where;
  }

  void resolve_paths() {
    std::error_code error;
    auto base = std::filesystem::current_path(error);
    if (sources_.file) base = (base / *sources_.file).parent_path();
    auto& config = loaded_.config;
    const auto absolute = [](const std::filesystem::path& folder, std::filesystem::path& path) {
      if (!path.empty()) path = (folder / path).lexically_normal();
    };
    absolute(base, config.node.data_dir);
    absolute(base, config.auth.tokens_file);
    absolute(base, config.provider.key_file);
    absolute(base, config.webhooks.secret_file);
    absolute(base, config.schedule.customers);
    absolute(config.node.data_dir, config.store.path);
  }

  const ConfigSources& sources_;
  LoadedConfig loaded_;
  std::vector<std::string> problems_;
};

std::string shown(const KeySpec& spec, const Config& config) {
  const std::string text = spec.show(config);
  return spec.is_secret && text != "\"\"" ? "\"********\"" : text;
}

}  // namespace

Result<LoadedConfig> load_config(const ConfigSources& sources) {
  return Loader(sources).load();
}

std::vector<std::pair<std::string, std::string>> config_environment() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || text.rfind(environment_prefix, 0) != 0) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string show_config(const LoadedConfig& loaded) {
  std::string out;
  std::string_view section;
  for (const auto& spec : key_table()) {
    if (spec.section != section) {
      section = spec.section;
      out += (out.empty() ? "[" : "\n[") + std::string(section) + "]\n";
    }
    const auto& origin = loaded.origin.at(std::string(spec.section) + "." + std::string(spec.key));
    out += std::string(spec.key) + " = " + shown(spec, loaded.config) + "  # " + origin + "\n";
  }
  return out;
}

std::string show_config_json(const LoadedConfig& loaded) {
  boost::json::object out;
  for (const auto& spec : key_table()) {
    const auto& origin = loaded.origin.at(std::string(spec.section) + "." + std::string(spec.key));
    auto& section = out[spec.section];
    if (!section.is_object()) section.emplace_object();
    section.get_object()[spec.key] =
        boost::json::object{{"value", shown(spec, loaded.config)}, {"origin", origin}};
  }
  return boost::json::serialize(out);
}

}  // namespace onceward::app
