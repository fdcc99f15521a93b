// Config: every setting of a node as plain values, with the defaults. What the words mean is said
// once, in docs of the keys below; reading and checking is done by config_load.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <onceward/billing/billing_policy.hpp>
#include <onceward/core/billing_period.hpp>
#include <onceward/core/ids.hpp>

namespace onceward::app {

using Milliseconds = std::chrono::milliseconds;

enum class StoreKind : std::uint8_t { sqlite, postgres };
enum class ProviderKind : std::uint8_t { stripe, simulator };
enum class CatchUp : std::uint8_t { bill, hold, skip };
enum class Coordinator : std::uint8_t { none, postgres, etcd };
enum class LogFormat : std::uint8_t { json, text };
enum class LogLevel : std::uint8_t { debug, info, warn, error };

struct NodeConfig {
  std::string name = "onceward-1";                       ///< part of writer ids and log lines
  std::filesystem::path data_dir = "/var/lib/onceward";  ///< relative: to the config file
  Milliseconds drain_timeout{60'000};
};

struct HttpConfig {
  std::string listen = "127.0.0.1:8080";
  std::string admin_listen = "127.0.0.1:8081";
};

struct AuthConfig {
  std::filesystem::path tokens_file;  ///< relative: to the config file; empty: nobody is asked
};

struct StoreConfig {
  StoreKind kind = StoreKind::sqlite;
  std::filesystem::path path = "billing.db";  ///< relative: to data_dir
  std::string url;                            ///< may hold a password: shown masked
  std::string url_credential;
};

struct ProviderConfig {
  ProviderKind kind = ProviderKind::stripe;
  AccountLabel account{"default"};
  Mode mode = Mode::test;
  std::string base_url = "https://api.stripe.com";
  billing::Flow flow = billing::Flow::payment_intents;
  std::string key_credential;      ///< file name under $CREDENTIALS_DIRECTORY
  std::filesystem::path key_file;  ///< relative: to the config file
  Milliseconds timeout{80'000};
  std::uint32_t max_in_flight = 64;
  std::uint32_t rate_per_second = 20;  ///< 0: unlimited
  Milliseconds attempt_deadline{600'000};
  billing::RebillAfterUnknown rebill_after_unknown = billing::RebillAfterUnknown::never;
  billing::BelowMinimum below_minimum = billing::BelowMinimum::waive;
  Milliseconds provider_bound{900'000};
  std::uint32_t max_network_retries = 3;
};

struct KeysConfig {
  Namespace ns;  ///< no default: two deployments must never share one by accident
  billing::KeyScheme scheme = billing::KeyScheme::v1;
};

struct ScheduleConfig {
  std::filesystem::path customers;  ///< relative: to the config file; empty: no configured source
  std::string customers_query;
  PeriodGranularity cycle = PeriodGranularity::month;
  std::string timezone = "UTC";
  CatchUp catch_up = CatchUp::bill;
  std::uint32_t catch_up_max = 3;
  std::uint32_t window = 256;
  bool allow_future = false;  ///< bill periods that have not begun
};

/// Factor of the spend cap in hundredths of a percent: 1.10 is 11'000. An integer, as everything
/// that touches money.
struct CapFactor {
  std::int64_t basis_points = 11'000;
};

struct SpendCapConfig {
  billing::CapMode mode = billing::CapMode::enforce;
  CapFactor factor;
};

struct DunningConfig {
  std::uint32_t attempts = 8;
  Milliseconds spread{std::chrono::hours{24 * 14}};
};

struct ReconcileConfig {
  Milliseconds every{std::chrono::hours{1}};
};

struct WebhooksConfig {
  std::string secret_credential;
  std::filesystem::path secret_file;  ///< relative: to the config file
};

struct KafkaConfig {
  std::string brokers;  ///< empty: off
  std::string topic = "billing-triggers";
  std::string group = "onceward";
};

struct ClusterConfig {
  Coordinator coordinator = Coordinator::none;
  std::string advertise;
  std::vector<std::string> etcd_endpoints;
  std::uint32_t shards = 256;  ///< recorded in the store
};

struct LogConfig {
  LogFormat format = LogFormat::json;
  LogLevel level = LogLevel::info;
};

/// All of it. Values that came through load_config() are checked and paths are absolute.
struct Config {
  NodeConfig node;
  HttpConfig http;
  AuthConfig auth;
  StoreConfig store;
  ProviderConfig provider;
  KeysConfig keys;
  ScheduleConfig schedule;
  SpendCapConfig spend_cap;
  DunningConfig dunning;
  ReconcileConfig reconcile;
  WebhooksConfig webhooks;
  KafkaConfig kafka;
  ClusterConfig cluster;
  LogConfig log;
};

/// The part of it that a billing decision may depend on.
[[nodiscard]] billing::BillingPolicy billing_policy(const Config& config);

}  // namespace onceward::app
