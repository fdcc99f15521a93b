// Rules between configuration keys: each refuses a start that could charge wrongly, listen too
// widely or not work at all.
#include <gtest/gtest.h>

#include "app/config/config_check.hpp"
#include "app/config/config_load.hpp"
#include "tests/app/temp_folder.hpp"

namespace onceward::app {
namespace {

class ConfigRules : public ::testing::Test {
 protected:
  /// What is told about a sound Stripe configuration with these settings on top; empty: accepted.
  std::string told(std::vector<std::pair<std::string, std::string>> settings) {
    ConfigSources sources;
    sources.flags = {{"keys.namespace", "acme"}, {"provider.key_file", "/k"}};
    for (auto& setting : settings) sources.flags.push_back(std::move(setting));
    auto loaded = load_config(sources);
    return loaded ? "" : loaded.error().context;
  }
  void accepts(std::vector<std::pair<std::string, std::string>> settings) {
    EXPECT_EQ(told(std::move(settings)), "");
  }
  void refuses(std::vector<std::pair<std::string, std::string>> settings,
               const std::string& because) {
    const auto text = told(std::move(settings));
    EXPECT_NE(text.find(because), std::string::npos) << because << "\n" << text;
  }
};

TEST_F(ConfigRules, namespace_must_be_chosen) {
  auto loaded = load_config(
      {.file = std::nullopt, .environment = {}, .flags = {{"provider.kind", "simulator"}}});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(loaded.error().context.find("[keys] namespace is not set"), std::string::npos);
}

TEST_F(ConfigRules, scheme_colon_needs_flow_charges) {
  refuses({{"keys.scheme", "colon"}}, "[keys] scheme is \"colon\"");
  refuses({{"keys.scheme", "colon"}, {"provider.flow", "payment_intents_one_step"}},
          "[keys] scheme is \"colon\"");
  accepts({{"keys.scheme", "colon"}, {"provider.flow", "charges"}});
}

TEST_F(ConfigRules, listening_beyond_loopback_needs_tokens) {
  for (const auto* key : {"http.listen", "http.admin_listen"}) {
    for (const auto* listen :
         {"0.0.0.0:8090", "10.0.0.1:8090", "[::]:8090", "billing.local:8090"}) {
      refuses({{key, listen}}, "set [auth] tokens_file");
      accepts({{key, listen}, {"auth.tokens_file", "/tokens"}});
    }
    for (const auto* listen : {"127.0.0.1:0", "127.9.9.9:8090", "[::1]:8090", "localhost:8090"}) {
      accepts({{key, listen}});
    }
    for (const auto* listen : {"8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                               "127.0.0.1:x", "::1:80", "[::1]", "[]:80", ""}) {
      refuses({{key, listen}}, "it must be HOST:PORT");
    }
  }
}

TEST_F(ConfigRules, both_listeners_need_ports_of_their_own) {
  refuses({{"http.listen", "127.0.0.1:9"}, {"http.admin_listen", "127.0.0.1:9"}}, "same address");
  accepts({{"http.listen", "127.0.0.1:0"}, {"http.admin_listen", "127.0.0.1:0"}});
}

TEST_F(ConfigRules, plain_http_is_for_loopback_in_mode_test_only) {
  accepts({{"provider.base_url", "http://127.0.0.1:12111"}});
  accepts({{"provider.base_url", "http://localhost:12111/x"}});
  accepts({{"provider.base_url", "http://[::1]:12111"}});
  refuses({{"provider.base_url", "http://api.stripe.com"}}, "is plain http");
  refuses({{"provider.base_url", "http://127.0.0.1:12111"}, {"provider.mode", "live"}},
          "is plain http");
  accepts({{"provider.mode", "live"}});
  for (const auto* url :
       {"", "api.stripe.com", "ftp://x", "https://", "https://u:p@host", "https://host:x",
        "https://h h", "https://h?q", "http://127.0.0.1.evil@x"}) {
    refuses({{"provider.base_url", url}}, "must be a URL");
  }
  refuses({{"provider.base_url", "http://127.0.0.1.evil.com"}}, "is plain http");
}

TEST_F(ConfigRules, provider_key_comes_from_exactly_one_file) {
  refuses({{"provider.key_file", ""}}, "is not set, nor is key_credential");
  refuses({{"provider.key_credential", "k"}}, "are both set");
  accepts({{"provider.key_file", ""}, {"provider.key_credential", "k"}});
  refuses({{"provider.key_file", ""}, {"provider.key_credential", "../k"}}, "must be a file name");
  accepts({{"provider.key_file", ""}, {"provider.base_url", "http://127.0.0.1:1"}});
}

TEST_F(ConfigRules, simulator_is_never_live) {
  refuses({{"provider.kind", "simulator"}, {"provider.mode", "live"}},
          "the simulator moves no money");
}

TEST_F(ConfigRules, numbers_and_times_have_bounds) {
  refuses({{"provider.timeout", "99ms"}}, "[provider] timeout is out of range");
  refuses({{"provider.timeout", "11m"}}, "[provider] timeout is out of range");
  refuses({{"provider.attempt_deadline", "79s"}}, "[provider] attempt_deadline is out of range");
  refuses({{"provider.max_in_flight", "0"}}, "between 1 and");
  refuses({{"schedule.window", "0"}}, "between 1 and");
  refuses({{"dunning.attempts", "0"}}, "between 1 and");
  refuses({{"cluster.shards", "0"}}, "between 1 and");
  refuses({{"node.name", ""}}, "1 to 64 characters");
}

TEST_F(ConfigRules, time_zone_must_exist) {
  accepts({{"schedule.timezone", "UTC"}});
  for (const auto* zone : {"", "Mars/Olympus", "../zoneinfo/UTC", "/etc/localtime", "Europe"}) {
    refuses({{"schedule.timezone", zone}}, "which is no time zone of this machine");
  }
}

TEST_F(ConfigRules, what_this_build_lacks_is_refused_not_ignored) {
  refuses({{"store.kind", "postgres"}}, "[store] kind");
  refuses({{"cluster.coordinator", "etcd"}}, "[cluster] coordinator");
  refuses({{"kafka.brokers", "localhost:9092"}}, "[kafka] brokers");
  refuses({{"schedule.customers_query", "select 1"}}, "[schedule] customers_query");
  refuses({{"cluster.advertise", "http://a"}}, "[cluster] advertise");
}

TEST_F(ConfigRules, policy_carries_what_was_configured) {
  ConfigSources sources;
  sources.flags = {{"keys.namespace", "acme"},
                   {"provider.kind", "simulator"},
                   {"provider.account", "eu"},
                   {"provider.flow", "charges"},
                   {"keys.scheme", "colon"},
                   {"provider.timeout", "5s"},
                   {"provider.attempt_deadline", "6m"},
                   {"provider.provider_bound", "7m"},
                   {"provider.max_network_retries", "4"},
                   {"provider.below_minimum", "hold"},
                   {"spend_cap.mode", "off"},
                   {"schedule.allow_future", "true"},
                   {"dunning.attempts", "2"},
                   {"dunning.spread", "3d"}};
  auto loaded = load_config(sources);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().context;
  const auto policy = billing_policy(loaded->config);
  EXPECT_EQ(policy.ns.value(), "acme");
  EXPECT_EQ(policy.account.value(), "eu");
  EXPECT_EQ(policy.mode, Mode::test);
  EXPECT_EQ(policy.scheme, billing::KeyScheme::colon);
  EXPECT_EQ(policy.flow, billing::Flow::charges);
  EXPECT_EQ(policy.cap_mode, billing::CapMode::off);
  EXPECT_EQ(policy.below_minimum, billing::BelowMinimum::hold);
  EXPECT_TRUE(policy.allow_future);
  EXPECT_EQ(policy.call_timeout, std::chrono::seconds{5});
  EXPECT_EQ(policy.attempt_deadline, std::chrono::minutes{6});
  EXPECT_EQ(policy.provider_bound, std::chrono::minutes{7});
  EXPECT_EQ(policy.same_key_burst, 4);
  EXPECT_EQ(policy.dunning_attempts, 2);
  EXPECT_EQ(policy.dunning_spread, std::chrono::hours{72});
}

TEST_F(ConfigRules, webhook_secret_comes_from_one_place) {
  accepts({{"webhooks.secret_credential", "stripe_webhook"}});
  accepts({{"webhooks.secret_file", "/w"}});
  refuses({{"webhooks.secret_credential", "w"}, {"webhooks.secret_file", "/w"}}, "are both set");
  refuses({{"webhooks.secret_credential", "../w"}}, "must be a file name");
}

}  // namespace
}  // namespace onceward::app
