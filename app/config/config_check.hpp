// The rules between configuration keys: combinations that would charge twice, listen too widely or
// cannot work are refused before anything starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config/config_load.hpp"

namespace onceward::app {

/// One line for each broken rule: place, key, what is wrong, what to do. Empty: all is well.
[[nodiscard]] std::vector<std::string> check_config(const LoadedConfig& loaded);

/// HOST:PORT taken apart. IPv6 hosts stand in brackets in the text, not here.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
[[nodiscard]] std::optional<HostPort> parse_host_port(std::string_view text);
/// 127.0.0.0/8, ::1 and the name localhost. A name that only resolves to them is not.
[[nodiscard]] bool is_loopback(std::string_view host);

/// scheme://host[:port][/path] taken apart as far as rules need it.
struct BaseUrl {
  std::string scheme;
  std::string host;
};
[[nodiscard]] std::optional<BaseUrl> parse_base_url(std::string_view text);

}  // namespace onceward::app
