// The rules between keys, one function for each section.
#include "app/config/config_check.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <optional>

namespace onceward::app {

namespace {

class Checker {
 public:
  explicit Checker(const LoadedConfig& loaded) : loaded_(loaded), config_(loaded.config) {}

  std::vector<std::string> run() {
    check_node_and_http();
    check_store();
    check_provider();
    check_provider_times();
    check_webhooks();
    check_keys();
    check_schedule();
    check_cluster();
    return std::move(problems_);
  }

 private:
  void refuse(const std::string& name, const std::string& why) {
    const auto dot = name.find('.');
    problems_.push_back(loaded_.origin.at(name) + ": [" + name.substr(0, dot) + "] " +
                        name.substr(dot + 1) + " " + why);
  }

  void check_node_and_http() {
    if (config_.node.name.empty() || config_.node.name.size() > 64) {
      refuse("node.name", "must have 1 to 64 characters");
    }
    if (config_.node.data_dir.empty()) refuse("node.data_dir", "must not be empty");
    check_listen("http.listen", config_.http.listen);
    check_listen("http.admin_listen", config_.http.admin_listen);
    const auto api = parse_host_port(config_.http.listen);
    if (config_.http.listen == config_.http.admin_listen && api && api->port != 0) {
      refuse("http.admin_listen", "is the same address as listen; give it a port of its own");
    }
  }

  void check_listen(const std::string& name, const std::string& listen) {
    const auto address = parse_host_port(listen);
    if (!address) {
      return refuse(name, "is \"" + listen + "\"; it must be HOST:PORT, e.g. \"127.0.0.1:8080\"" +
                              " or \"[::1]:8080\"");
    }
    if (!is_loopback(address->host) && config_.auth.tokens_file.empty()) {
      refuse(name, "is \"" + listen + "\", reachable from other machines, but nobody would be " +
                       "asked for a token; set [auth] tokens_file, or listen on 127.0.0.1");
    }
  }

  void check_store() {
    if (config_.store.kind == StoreKind::sqlite) {
      if (config_.store.path.filename().empty()) refuse("store.path", "must name a file");
      return;
    }
    refuse("store.kind", "is \"postgres\"; this build has no such backend: use \"sqlite\"");
  }

  void check_provider() {
    const auto& provider = config_.provider;
    if (provider.kind == ProviderKind::simulator) {
      if (provider.mode == Mode::live) {
        refuse("provider.mode", "is \"live\", but the simulator moves no money; use \"test\"");
      }
      return;
    }
    const auto url = parse_base_url(provider.base_url);
    if (!url || (url->scheme != "https" && url->scheme != "http")) {
      return refuse("provider.base_url", "must be a URL such as \"https://api.stripe.com\"");
    }
    if (url->scheme == "http" && (provider.mode == Mode::live || !is_loopback(url->host))) {
      refuse("provider.base_url",
             "is plain http, which would show keys to the network; use https (http is accepted "
             "for a loopback address in mode \"test\" only)");
    }
    const bool is_local = provider.mode == Mode::test && is_loopback(url->host);
    if (!provider.key_credential.empty() && !provider.key_file.empty()) {
      refuse("provider.key_file", "and key_credential are both set; keep one");
    }
    if (provider.key_credential.empty() && provider.key_file.empty() && !is_local) {
      refuse("provider.key_file",
             "is not set, nor is key_credential: the provider's secret key must come from a file");
    }
    if (provider.key_credential.find('/') != std::string::npos) {
      refuse("provider.key_credential",
             "must be a file name under $CREDENTIALS_DIRECTORY; for a path use key_file");
    }
  }

  void check_webhooks() {
    const auto& webhooks = config_.webhooks;
    if (!webhooks.secret_credential.empty() && !webhooks.secret_file.empty()) {
      refuse("webhooks.secret_file", "and secret_credential are both set; keep one");
    }
    if (webhooks.secret_credential.find('/') != std::string::npos) {
      refuse("webhooks.secret_credential",
             "must be a file name under $CREDENTIALS_DIRECTORY; for a path use secret_file");
    }
  }

  void check_provider_times() {
    const auto& provider = config_.provider;
    check_between("provider.timeout", provider.timeout, Milliseconds{100}, Milliseconds{600'000});
    check_between("provider.attempt_deadline", provider.attempt_deadline, provider.timeout,
                  std::chrono::hours{20});
    check_between("provider.provider_bound", provider.provider_bound, Milliseconds{0},
                  std::chrono::hours{24});
    check_between("node.drain_timeout", config_.node.drain_timeout, Milliseconds{0},
                  std::chrono::hours{1});
    check_count("provider.max_in_flight", provider.max_in_flight, 1, 10'000);
    check_count("provider.rate_per_second", provider.rate_per_second, 0, 100'000);
    check_count("provider.max_network_retries", provider.max_network_retries, 0, 100);
  }

  void check_between(const std::string& name, Milliseconds value, Milliseconds low,
                     Milliseconds high) {
    if (value >= low && value <= high) return;
    refuse(name, "is out of range: it must be between " + std::to_string(low.count()) + "ms and " +
                     std::to_string(high.count()) + "ms");
  }

  void check_count(const std::string& name, std::uint32_t value, std::uint32_t low,
                   std::uint32_t high) {
    if (value >= low && value <= high) return;
    refuse(name, "is " + std::to_string(value) + "; it must be between " + std::to_string(low) +
                     " and " + std::to_string(high));
  }

  void check_keys() {
    if (config_.keys.ns.value().empty()) {
      refuse("keys.namespace",
             "is not set: it enters every key at the provider and is recorded in the store; choose "
             "a name for this deployment that no other one uses, e.g. \"acme-billing\"");
    }
    if (!billing::scheme_allowed(config_.keys.scheme, config_.provider.flow)) {
      refuse("keys.scheme",
             "is \"colon\", which is safe with [provider] flow = \"charges\" only; use \"v1\" (or "
             "that flow, to migrate with keys in flight)");
    }
  }

  void check_schedule() {
    const auto& schedule = config_.schedule;
    if (!schedule.customers.empty() && !schedule.customers_query.empty()) {
      refuse("schedule.customers_query", "and customers are both set; keep one");
    }
    if (!schedule.customers_query.empty()) {
      refuse("schedule.customers_query", "is set, which this build does not read; use customers");
    }
    const std::filesystem::path zone = schedule.timezone;
    std::error_code error;
    const bool is_plain = !schedule.timezone.empty() && zone.is_relative() &&
                          schedule.timezone.find("..") == std::string::npos;
    if (!is_plain || (schedule.timezone != "UTC" &&
                      !std::filesystem::is_regular_file("/usr/share/zoneinfo" / zone, error))) {
      refuse("schedule.timezone", "is \"" + schedule.timezone +
                                      "\", which is no time zone of this machine; e.g. \"UTC\" or "
                                      "\"Europe/Berlin\"");
    }
    check_count("schedule.window", schedule.window, 1, 100'000);
    check_count("schedule.catch_up_max", schedule.catch_up_max, 0, 1'000);
    check_count("dunning.attempts", config_.dunning.attempts, 1, 100);
    check_between("dunning.spread", config_.dunning.spread, Milliseconds{0},
                  std::chrono::hours{24 * 365});
    check_between("reconcile.every", config_.reconcile.every, Milliseconds{1'000},
                  std::chrono::hours{24 * 31});
  }

  void check_cluster() {
    check_count("cluster.shards", config_.cluster.shards, 1, 65'536);
    if (config_.cluster.coordinator != Coordinator::none) {
      refuse("cluster.coordinator",
             "names a coordinator that this build does not have; use \"none\"");
    }
    if (!config_.kafka.brokers.empty()) {
      refuse("kafka.brokers", "is set, but this build reads no Kafka; leave it empty");
    }
    if (!config_.cluster.advertise.empty()) {
      refuse("cluster.advertise", "has no meaning with coordinator = \"none\"; leave it empty");
    }
    if (!config_.cluster.etcd_endpoints.empty()) {
      refuse("cluster.etcd_endpoints",
             "has no meaning with coordinator = \"none\"; leave it empty");
    }
  }

  const LoadedConfig& loaded_;
  const Config& config_;
  std::vector<std::string> problems_;
};

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

std::vector<std::string> check_config(const LoadedConfig& loaded) {
  return Checker(loaded).run();
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return std::nullopt;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  if (!port) return std::nullopt;
  return HostPort{std::string(host), *port};
}

bool is_loopback(std::string_view host) {
  const std::string text(host);
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  return text == "::1" || text == "localhost";
}

std::optional<BaseUrl> parse_base_url(std::string_view text) {
  const auto scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || scheme_end == 0) return std::nullopt;
  std::string_view authority = text.substr(scheme_end + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  // Credentials in a URL would end up in logs; none of our providers needs them.
  if (authority.empty() || authority.find('@') != std::string_view::npos) return std::nullopt;
  if (text.find_first_of(" ?#") != std::string_view::npos) return std::nullopt;
  BaseUrl url{std::string(text.substr(0, scheme_end)), ""};
  if (authority.front() == '[') {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    url.host = authority.substr(1, end - 1);
    authority = authority.substr(end + 1);
  } else {
    url.host = authority.substr(0, authority.find(':'));
    authority = authority.substr(url.host.size());
  }
  if (url.host.empty()) return std::nullopt;
  if (!authority.empty() && (authority.front() != ':' || !parse_port(authority.substr(1)))) {
    return std::nullopt;
  }
  return url;
}

}  // namespace onceward::app
