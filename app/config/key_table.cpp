// The table itself. A key is added here and in config.hpp, nowhere else.
#include "app/config/key_table.hpp"

#include <algorithm>
#include <array>

#include "app/config/value_codec.hpp"

namespace onceward::app {

namespace {

template <auto Section, auto Member>
constexpr KeySpec key(std::string_view section, std::string_view name) {
  return {section, name, false,
          [](Config& config, const RawValue& raw) {
            return read_value(raw, (config.*Section).*Member);
          },
          [](const Config& config) { return toml_text((config.*Section).*Member); }};
}

constexpr KeySpec secret(KeySpec spec) {
  spec.is_secret = true;
  return spec;
}

using C = Config;
constexpr std::array<KeySpec, 51> table{{
    key<&C::node, &NodeConfig::name>("node", "name"),
    key<&C::node, &NodeConfig::data_dir>("node", "data_dir"),
    key<&C::node, &NodeConfig::drain_timeout>("node", "drain_timeout"),

    key<&C::http, &HttpConfig::listen>("http", "listen"),
    key<&C::http, &HttpConfig::admin_listen>("http", "admin_listen"),

    key<&C::auth, &AuthConfig::tokens_file>("auth", "tokens_file"),

    key<&C::store, &StoreConfig::kind>("store", "kind"),
    key<&C::store, &StoreConfig::path>("store", "path"),
    secret(key<&C::store, &StoreConfig::url>("store", "url")),
    key<&C::store, &StoreConfig::url_credential>("store", "url_credential"),

    key<&C::provider, &ProviderConfig::kind>("provider", "kind"),
    key<&C::provider, &ProviderConfig::account>("provider", "account"),
    key<&C::provider, &ProviderConfig::mode>("provider", "mode"),
    key<&C::provider, &ProviderConfig::base_url>("provider", "base_url"),
    key<&C::provider, &ProviderConfig::flow>("provider", "flow"),
    key<&C::provider, &ProviderConfig::key_credential>("provider", "key_credential"),
    key<&C::provider, &ProviderConfig::key_file>("provider", "key_file"),
    key<&C::provider, &ProviderConfig::timeout>("provider", "timeout"),
    key<&C::provider, &ProviderConfig::max_in_flight>("provider", "max_in_flight"),
    key<&C::provider, &ProviderConfig::rate_per_second>("provider", "rate_per_second"),
    key<&C::provider, &ProviderConfig::attempt_deadline>("provider", "attempt_deadline"),
    key<&C::provider, &ProviderConfig::rebill_after_unknown>("provider", "rebill_after_unknown"),
    key<&C::provider, &ProviderConfig::below_minimum>("provider", "below_minimum"),
    key<&C::provider, &ProviderConfig::provider_bound>("provider", "provider_bound"),
    key<&C::provider, &ProviderConfig::max_network_retries>("provider", "max_network_retries"),

    key<&C::keys, &KeysConfig::ns>("keys", "namespace"),
    key<&C::keys, &KeysConfig::scheme>("keys", "scheme"),

    key<&C::schedule, &ScheduleConfig::customers>("schedule", "customers"),
    key<&C::schedule, &ScheduleConfig::customers_query>("schedule", "customers_query"),
    key<&C::schedule, &ScheduleConfig::cycle>("schedule", "cycle"),
    key<&C::schedule, &ScheduleConfig::timezone>("schedule", "timezone"),
    key<&C::schedule, &ScheduleConfig::catch_up>("schedule", "catch_up"),
    key<&C::schedule, &ScheduleConfig::catch_up_max>("schedule", "catch_up_max"),
    key<&C::schedule, &ScheduleConfig::window>("schedule", "window"),
    key<&C::schedule, &ScheduleConfig::allow_future>("schedule", "allow_future"),

    key<&C::spend_cap, &SpendCapConfig::mode>("spend_cap", "mode"),
    key<&C::spend_cap, &SpendCapConfig::factor>("spend_cap", "factor"),

    key<&C::dunning, &DunningConfig::attempts>("dunning", "attempts"),
    key<&C::dunning, &DunningConfig::spread>("dunning", "spread"),

    key<&C::reconcile, &ReconcileConfig::every>("reconcile", "every"),

    key<&C::webhooks, &WebhooksConfig::secret_credential>("webhooks", "secret_credential"),
    key<&C::webhooks, &WebhooksConfig::secret_file>("webhooks", "secret_file"),

    key<&C::kafka, &KafkaConfig::brokers>("kafka", "brokers"),
    key<&C::kafka, &KafkaConfig::topic>("kafka", "topic"),
    key<&C::kafka, &KafkaConfig::group>("kafka", "group"),

    key<&C::cluster, &ClusterConfig::coordinator>("cluster", "coordinator"),
    key<&C::cluster, &ClusterConfig::advertise>("cluster", "advertise"),
    key<&C::cluster, &ClusterConfig::etcd_endpoints>("cluster", "etcd_endpoints"),
    key<&C::cluster, &ClusterConfig::shards>("cluster", "shards"),

    key<&C::log, &LogConfig::format>("log", "format"),
    key<&C::log, &LogConfig::level>("log", "level"),
}};

/// Number of single-character edits between two short words.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t swap = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, swap});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const KeySpec> key_table() noexcept {
  return table;
}

const KeySpec* find_key(std::string_view section, std::string_view key) noexcept {
  const auto* found = std::find_if(table.begin(), table.end(), [&](const KeySpec& spec) {
    return spec.section == section && spec.key == key;
  });
  return found == table.end() ? nullptr : found;
}

bool is_section(std::string_view section) noexcept {
  return std::any_of(table.begin(), table.end(),
                     [&](const KeySpec& spec) { return spec.section == section; });
}

std::string suggestion_for(std::string_view section, std::string_view key) {
  constexpr std::size_t edits_max = 3;
  const KeySpec* best = nullptr;
  std::size_t best_distance = edits_max + 1;
  for (const auto& spec : table) {
    const std::size_t d = distance(spec.section, section) + distance(spec.key, key);
    if (d < best_distance) {
      best = &spec;
      best_distance = d;
    }
  }
  if (best != nullptr) {
    return "did you mean [" + std::string(best->section) + "] " + std::string(best->key) + "?";
  }
  std::string known;
  for (const auto& spec : table) {
    if (spec.section == section) known += (known.empty() ? "" : ", ") + std::string(spec.key);
  }
  return known.empty() ? "" : "the keys of [" + std::string(section) + "] are: " + known;
}

}  // namespace onceward::app
