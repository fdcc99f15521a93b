// Reading the tokens file.
#include "app/tokens.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include "app/config/secrets.hpp"
#include "app/config/toml_reader.hpp"

namespace onceward::app {

namespace {

using ingress::Role;
using ingress::Token;

Result<Role> parse_role(const std::string& text) {
  if (text == "viewer") return Role::viewer;
  if (text == "service") return Role::service;
  if (text == "operator") return Role::operator_;
  return fail(ErrorCode::invalid_config,
              "role '" + text + "' is not one of viewer, service, operator");
}

Result<Token> token_of(const std::string& place, const std::map<std::string, std::string>& table) {
  for (const char* key : {"name", "role", "sha256"}) {
    if (!table.contains(key)) {
      return fail(ErrorCode::invalid_config, place + ": " + key + " is missing");
    }
  }
  if (table.size() != 3) {
    return fail(ErrorCode::invalid_config, place + ": only name, role and sha256 are known");
  }
  auto role = parse_role(table.at("role"));
  if (!role) return fail(ErrorCode::invalid_config, place + ": " + role.error().context);
  auto digest = parse_hex_digest(table.at("sha256"));
  if (!digest) {
    return fail(ErrorCode::invalid_config,
                place +
                    ": sha256 must be 64 hex digits of the token's hash, "
                    "e.g. of `printf %s TOKEN | sha256sum`");
  }
  return Token{table.at("name"), *role, *digest};
}

}  // namespace

Result<std::vector<Token>> read_tokens(const Config& config) {
  const auto& path = config.auth.tokens_file;
  std::vector<Token> tokens;
  if (path.empty()) return tokens;
  auto safe = check_not_world_readable(path);
  if (!safe) return Unexpected{std::move(safe).error()};
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::invalid_config, path.string() + " cannot be read");
  const TomlText toml = read_toml(text.str(), path.string());
  if (!toml.problems.empty()) return fail(ErrorCode::invalid_config, toml.problems.front());
  std::map<std::string, std::map<std::string, std::string>> tables;
  for (const auto& setting : toml.settings) {
    const auto* value = std::get_if<std::string>(&setting.value.value);
    if (value == nullptr || setting.section.rfind("token[", 0) != 0) {
      return fail(ErrorCode::invalid_config,
                  setting.where + ": expected [[token]] tables with texts name, role, sha256");
    }
    tables[setting.section][setting.key] = *value;
  }
  for (const auto& [section, table] : tables) {
    auto token = token_of(path.string() + " " + section, table);
    if (!token) return Unexpected{std::move(token).error()};
    tokens.push_back(std::move(*token));
  }
  if (tokens.empty()) return fail(ErrorCode::invalid_config, path.string() + " holds no token");
  return tokens;
}

}  // namespace onceward::app
