// Reading the configuration: types, places of errors, layers, paths, and what is shown.
#include <gtest/gtest.h>

#include "app/config/config_load.hpp"
#include "app/config/key_table.hpp"
#include "app/config/value_codec.hpp"
#include "tests/app/temp_folder.hpp"

namespace onceward::app {
namespace {

constexpr const char* minimal = R"([provider]
kind = "simulator"
[keys]
namespace = "acme-billing"
)";

/// All keys, each with another value than its default where that is legal.
constexpr const char* every_key = R"(
[node]
name = "bill-7"
data_dir = "data"
drain_timeout = "5s"
[http]
listen = "127.0.0.1:9080"
admin_listen = "[::1]:9081"
[auth]
tokens_file = "tokens.toml"
[store]
kind = "sqlite"
path = "b.db"
url = ""
url_credential = ""
[provider]
kind = "stripe"
account = "eu"
mode = "live"
base_url = "https://api.example.com:8443/x"
flow = "charges"
key_credential = "stripe_key"
timeout = "90s"
max_in_flight = 7
rate_per_second = 0
attempt_deadline = "20m"
rebill_after_unknown = "never"
below_minimum = "hold"
provider_bound = "1h"
max_network_retries = 5
[keys]
namespace = "acme"
scheme = "colon"
[schedule]
customers = "c.csv"
customers_query = ""
cycle = "weekly"
timezone = "Europe/Berlin"
catch_up = "hold"
catch_up_max = 4
window = 9
allow_future = true
[spend_cap]
mode = "observe"
factor = 1.25
[dunning]
attempts = 3
spread = "7d"
[reconcile]
every = "2h"
[webhooks]
secret_credential = "stripe_webhook"
secret_file = ""
[kafka]
brokers = ""
topic = "t"
group = "g"
[cluster]
coordinator = "none"
advertise = ""
etcd_endpoints = []
shards = 16
[log]
format = "text"
level = "debug"
)";

class ConfigTest : public ::testing::Test {
 protected:
  Result<LoadedConfig> load(const std::string& text) {
    sources_.file = folder_.write("onceward.toml", text);
    return load_config(sources_);
  }
  /// The problems of `text`, with the path of the file left out.
  std::string problems(const std::string& text) {
    auto loaded = load(text);
    if (loaded) return "";
    EXPECT_EQ(loaded.error().code, ErrorCode::invalid_config);
    std::string all = loaded.error().context;
    const std::string file = sources_.file->string();
    for (auto at = all.find(file); at != std::string::npos; at = all.find(file)) {
      all.replace(at, file.size(), "FILE");
    }
    return all;
  }

  test::TempFolder folder_;
  ConfigSources sources_;
};

TEST_F(ConfigTest, minimal_file_gives_the_documented_defaults) {
  const auto loaded = load(minimal);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().context;
  const auto& config = loaded->config;
  EXPECT_EQ(config.node.drain_timeout, std::chrono::seconds{60});
  EXPECT_EQ(config.http.listen, "127.0.0.1:8080");
  EXPECT_EQ(config.http.admin_listen, "127.0.0.1:8081");
  EXPECT_EQ(config.store.kind, StoreKind::sqlite);
  EXPECT_EQ(config.store.path, "/var/lib/onceward/billing.db");
  EXPECT_EQ(config.provider.account.value(), "default");
  EXPECT_EQ(config.provider.mode, Mode::test);
  EXPECT_EQ(config.provider.base_url, "https://api.stripe.com");
  EXPECT_EQ(config.provider.flow, billing::Flow::payment_intents);
  EXPECT_EQ(config.provider.timeout, std::chrono::seconds{80});
  EXPECT_EQ(config.provider.max_in_flight, 64U);
  EXPECT_EQ(config.provider.rate_per_second, 20U);
  EXPECT_EQ(config.provider.attempt_deadline, std::chrono::minutes{10});
  EXPECT_EQ(config.provider.provider_bound, std::chrono::minutes{15});
  EXPECT_EQ(config.provider.max_network_retries, 3U);
  EXPECT_EQ(config.keys.scheme, billing::KeyScheme::v1);
  EXPECT_EQ(config.schedule.cycle, PeriodGranularity::month);
  EXPECT_EQ(config.schedule.timezone, "UTC");
  EXPECT_EQ(config.schedule.catch_up_max, 3U);
  EXPECT_EQ(config.schedule.window, 256U);
  EXPECT_EQ(config.spend_cap.mode, billing::CapMode::enforce);
  EXPECT_EQ(config.spend_cap.factor.basis_points, 11'000);
  EXPECT_EQ(config.dunning.attempts, 8U);
  EXPECT_EQ(config.dunning.spread, std::chrono::hours{24 * 14});
  EXPECT_EQ(config.cluster.shards, 256U);
  EXPECT_EQ(config.log.format, LogFormat::json);
  EXPECT_EQ(config.log.level, LogLevel::info);
}

TEST_F(ConfigTest, every_key_of_a_full_file_is_read) {
  std::filesystem::create_directory(folder_.path() / "data");
  const auto loaded = load(every_key);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().context;
  const auto& config = loaded->config;
  EXPECT_EQ(config.node.name, "bill-7");
  EXPECT_EQ(config.http.admin_listen, "[::1]:9081");
  EXPECT_EQ(config.provider.account.value(), "eu");
  EXPECT_EQ(config.provider.mode, Mode::live);
  EXPECT_EQ(config.provider.flow, billing::Flow::charges);
  EXPECT_EQ(config.provider.rate_per_second, 0U);
  EXPECT_EQ(config.provider.below_minimum, billing::BelowMinimum::hold);
  EXPECT_EQ(config.keys.scheme, billing::KeyScheme::colon);
  EXPECT_EQ(config.schedule.cycle, PeriodGranularity::week);
  EXPECT_EQ(config.schedule.catch_up, CatchUp::hold);
  EXPECT_TRUE(config.schedule.allow_future);
  EXPECT_EQ(config.spend_cap.factor.basis_points, 12'500);
  EXPECT_EQ(config.log.level, LogLevel::debug);
  // Nothing in the table may be left out of the file above.
  for (const auto& spec : key_table()) {
    const bool set_above = spec.key != "key_file";  // excludes key_credential
    const auto& origin = loaded->origin.at(std::string(spec.section) + "." + std::string(spec.key));
    EXPECT_EQ(origin == "default", !set_above) << spec.section << "." << spec.key;
  }
}

TEST_F(ConfigTest, relative_paths_start_at_the_file_and_the_database_at_data_dir) {
  const auto loaded = load(std::string(minimal) +
                           "[node]\ndata_dir = \"data\"\n[schedule]\ncustomers = \"../c.csv\"\n");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().context;
  EXPECT_EQ(loaded->config.node.data_dir, folder_.path() / "data");
  EXPECT_EQ(loaded->config.store.path, folder_.path() / "data/billing.db");
  EXPECT_EQ(loaded->config.schedule.customers, folder_.path().parent_path() / "c.csv");
}

TEST_F(ConfigTest, unknown_key_is_named_with_line_column_and_the_likely_key) {
  EXPECT_EQ(
      problems("[keys]\nnamespace = \"a\"\n  namespce = \"b\"\n[provider]\nkind=\"simulator\""),
      "FILE:3:3: unknown key [keys] namespce; did you mean [keys] namespace?");
}

TEST_F(ConfigTest, unknown_section_is_named) {
  const auto text = problems(std::string(minimal) + "[providr]\nmode = \"test\"\n");
  EXPECT_EQ(text, "FILE:6:1: unknown section of [providr] mode; did you mean [provider] mode?");
}

TEST_F(ConfigTest, key_outside_of_a_section_is_refused) {
  EXPECT_NE(problems("listen = \"127.0.0.1:1\"\n" + std::string(minimal)).find("FILE:1:1: unknown"),
            std::string::npos);
}

TEST_F(ConfigTest, all_problems_are_told_at_once_in_the_order_of_the_file) {
  const auto text = problems("[zeta]\na = 1\n[http]\nlisten = 8080\n[alpha]\nb = true\n");
  const auto first = text.find("FILE:2:1");
  const auto second = text.find("FILE:4:1");
  const auto third = text.find("FILE:6:1");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos) << text;
}

TEST_F(ConfigTest, bad_toml_is_told_with_line_and_column) {
  EXPECT_NE(problems("[keys]\nnamespace = \"a\nscheme = \"v1\"\n").find("FILE:2:"),
            std::string::npos);
  EXPECT_NE(problems("[keys\n").find("not valid TOML"), std::string::npos);
  EXPECT_NE(problems("[keys]\nnamespace = \"a\"\nnamespace = \"b\"\n").find("FILE:3:"),
            std::string::npos);
}

struct Wrong {
  const char* line;
  const char* told;
};

TEST_F(ConfigTest, wrong_types_and_values_are_refused_and_say_what_is_accepted) {
  const Wrong wrongs[] = {
      {"[provider]\ntimeout = 80", "is a number; it must be a whole number with one unit"},
      {"[provider]\ntimeout = \"80\"", "is \"80\"; it must be a whole number with one unit"},
      {"[provider]\ntimeout = \"-80s\"", "with one unit"},
      {"[provider]\ntimeout = \"1.5h\"", "with one unit"},
      {"[provider]\ntimeout = \"80 s\"", "with one unit"},
      {"[provider]\ntimeout = \"99999999999999999999s\"", "with one unit"},
      {"[provider]\ntimeout = \"80S\"", "with one unit"},
      {"[provider]\nmax_in_flight = \"many\"", "it must be a whole number"},
      {"[provider]\nmax_in_flight = 64.0", "is a decimal number; it must be a whole number"},
      {"[provider]\nmax_in_flight = -1", "is -1; it must be between 0 and"},
      {"[provider]\nmax_in_flight = 99999999999", "it must be between 0 and"},
      {"[provider]\nflow = \"intents\"",
       "accepted: payment_intents, payment_intents_one_step, charges"},
      {"[provider]\nmode = \"Test\"", "accepted: test, live"},
      {"[provider]\nmode = true", "is a boolean; it must be text"},
      {"[schedule]\nallow_future = \"true\"", "it must be true or false"},
      {"[schedule]\ncycle = \"month\"", "accepted: monthly, quarterly, yearly, weekly, daily"},
      {"[spend_cap]\nfactor = 0.9", "it must be a number from 1.00"},
      {"[spend_cap]\nfactor = 1.00001", "at most four decimals"},
      {"[spend_cap]\nfactor = inf", "it must be a number from 1.00"},
      {"[spend_cap]\nfactor = \"1.1\"", "it must be a number from 1.00"},
      {"[cluster]\netcd_endpoints = \"http://a\"", "it must be a list"},
      {"[cluster]\netcd_endpoints = [1]", "may hold texts only"},
      {"[node]\nname = 1979-05-27", "is a date or time"},
      {"[node]\nname = \"a\\u0007b\"", "holds a control character"},
      {"[node]\nname = [\"a\"]", "is a list; it must be text"},
      {"[provider]\naccount = \"Bad Account\"", "[provider] account is \"Bad Account\": "},
  };
  for (const auto& wrong : wrongs) {
    const auto text = problems(wrong.line);
    EXPECT_NE(text.find(wrong.told), std::string::npos) << wrong.line << "\n" << text;
    EXPECT_NE(text.find("FILE:2:1: "), std::string::npos) << wrong.line << "\n" << text;
  }
}

TEST_F(ConfigTest, environment_wins_over_the_file_and_a_flag_over_both) {
  sources_.environment = {{"ONCEWARD_HTTP__LISTEN", "127.0.0.1:7001"},
                          {"ONCEWARD_PROVIDER__MAX_IN_FLIGHT", "5"},
                          {"ONCEWARD_SCHEDULE__ALLOW_FUTURE", "true"},
                          {"ONCEWARD_SPEND_CAP__FACTOR", "1.5"},
                          {"ONCEWARD_TOKEN", "no setting, has no double underscore"}};
  sources_.flags = {{"http.listen", "127.0.0.1:7002"}};
  const auto loaded = load(std::string(minimal) + "[http]\nlisten = \"127.0.0.1:7000\"\n");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().context;
  EXPECT_EQ(loaded->config.http.listen, "127.0.0.1:7002");
  EXPECT_EQ(loaded->config.provider.max_in_flight, 5U);
  EXPECT_TRUE(loaded->config.schedule.allow_future);
  EXPECT_EQ(loaded->config.spend_cap.factor.basis_points, 15'000);
  EXPECT_EQ(loaded->origin.at("http.listen"), "flag http.listen");
  EXPECT_EQ(loaded->origin.at("provider.max_in_flight"),
            "environment ONCEWARD_PROVIDER__MAX_IN_FLIGHT");
}

TEST_F(ConfigTest, unknown_names_in_environment_and_flags_are_errors_too) {
  sources_.environment = {{"ONCEWARD_HTTP__LISTN", "x"}};
  sources_.flags = {{"listen", "x"}, {"provider.timeout", "soon"}};
  const auto text = problems(minimal);
  EXPECT_NE(text.find("environment ONCEWARD_HTTP__LISTN: unknown key"), std::string::npos) << text;
  EXPECT_NE(text.find("flag listen: unknown"), std::string::npos) << text;
  EXPECT_NE(text.find("flag provider.timeout: [provider] timeout is \"soon\""), std::string::npos);
}

TEST_F(ConfigTest, secrets_are_never_flags_never_shown_and_never_quoted) {
  sources_.flags = {{"store.url", "postgres://u:hunter2@h/db"}};
  const auto by_flag = problems(minimal);
  EXPECT_NE(by_flag.find("flag store.url: may hold a secret"), std::string::npos) << by_flag;
  EXPECT_EQ(by_flag.find("hunter2"), std::string::npos);

  sources_.flags.clear();
  sources_.environment = {{"ONCEWARD_STORE__URL", "postgres://u:hunter2@h/db"}};
  const auto loaded = load(minimal);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().context;
  EXPECT_NE(show_config(*loaded).find("url = \"********\"  # environment ONCEWARD_STORE__URL"),
            std::string::npos);
  EXPECT_EQ(show_config(*loaded).find("hunter2"), std::string::npos);
  EXPECT_EQ(show_config_json(*loaded).find("hunter2"), std::string::npos);

  sources_.environment = {{"ONCEWARD_STORE__URL", "hunter2\n"}};
  EXPECT_EQ(problems(minimal).find("hunter2"), std::string::npos);
}

TEST_F(ConfigTest, what_is_shown_reads_back_as_the_same_values) {
  const auto first = load(std::string(minimal) + "[spend_cap]\nfactor = 1.0525\n[node]\n" +
                          "name = \"a\\\"b\\\\c\"\ndrain_timeout = \"90s\"\n");
  ASSERT_TRUE(first.has_value()) << first.error().context;
  const auto text = show_config(*first);
  const auto second = load(text);
  ASSERT_TRUE(second.has_value()) << second.error().context << "\n" << text;
  for (const auto& spec : key_table()) {
    EXPECT_EQ(spec.show(first->config), spec.show(second->config)) << spec.key;
  }
}

TEST_F(ConfigTest, missing_file_and_folder_in_its_place_are_told) {
  sources_.file = folder_.path() / "absent.toml";
  EXPECT_NE(load_config(sources_).error().context.find("cannot be read: No such file"),
            std::string::npos);
  sources_.file = folder_.path();
  EXPECT_NE(load_config(sources_).error().context.find("is a directory"), std::string::npos);
}

TEST(Duration, reads_and_prints_one_unit) {
  EXPECT_EQ(parse_duration("500ms"), Milliseconds{500});
  EXPECT_EQ(parse_duration("80s"), Milliseconds{80'000});
  EXPECT_EQ(parse_duration("10m"), Milliseconds{600'000});
  EXPECT_EQ(parse_duration("14d"), Milliseconds{14LL * 86'400'000});
  EXPECT_EQ(parse_duration("3650d"), Milliseconds{3'650LL * 86'400'000});
  EXPECT_EQ(parse_duration("3651d"), std::nullopt);
  for (const char* bad : {"", "s", "1", "1w", "1 s", "+1s", "1h30m", "0x1s", "1s "}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
  for (const char* text : {"500ms", "80s", "10m", "1h", "14d", "0s"}) {
    EXPECT_EQ(to_text(*parse_duration(text)), text);
  }
}

}  // namespace
}  // namespace onceward::app
