// Wiring. Members are declared in the order of their start, so that they end in the reverse.
#include "app/node.hpp"

#include <atomic>
#include <thread>
#include <utility>

#include <onceward/actors/runtime.hpp>
#include <onceward/billing/billing_entity.hpp>
#include <onceward/billing/inbox_entity.hpp>
#include <onceward/billing/quarantine_entity.hpp>
#include <onceward/ingress/http_api.hpp>
#include <onceward/ingress/run_service.hpp>
#include <onceward/journal/sqlite_journal.hpp>
#include <onceward/platform/http_server.hpp>
#include <onceward/platform/system_clock.hpp>
#include <onceward/provider/simulator/simulator.hpp>
#include <onceward/provider/stripe_provider.hpp>

#include "app/admin_api.hpp"
#include "app/config/secrets.hpp"
#include "app/config/store_folder.hpp"
#include "app/run_wiring.hpp"
#include "app/tokens.hpp"

namespace onceward::app {

namespace {

// Customer files come in over HTTP as one body.
constexpr std::size_t upload_bytes_max = 64UL * 1024 * 1024;

constexpr std::int64_t provider_time_wait_ms = 2'000;

using provider::StripeProvider;
using provider::simulator::Simulator;

class RunningNode final : public Node {
 public:
  RunningNode(const Config& config, platform::Log& log) : config_(config), log_(log) {}
  ~RunningNode() override { stop(std::chrono::milliseconds{0}); }

  Result<Unit> start();

  [[nodiscard]] std::string api_url() const override { return server_ ? server_->url() : ""; }
  [[nodiscard]] std::string admin_url() const override { return admin_ ? admin_->url() : ""; }
  [[nodiscard]] std::string simulator_url() const override {
    return simulator_ ? simulator_->url() : "";
  }
  void drain() override { stop(config_.node.drain_timeout); }

 private:
  Result<Unit> open_provider();
  Result<Unit> open_store();
  void await_provider_time() const;
  Result<Unit> start_runtime();
  Result<Unit> start_http();
  void stop(std::chrono::milliseconds patience);
  [[nodiscard]] NodeHealth health() const;
  [[nodiscard]] std::optional<std::string> not_ready() const;

  const Config config_;
  platform::Log& log_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> started_{false};
  bool stopped_ = false;

  std::unique_ptr<Simulator> simulator_;
  std::unique_ptr<StripeProvider> provider_;
  std::unique_ptr<platform::SystemClock> clock_;
  std::unique_ptr<journal::SqliteJournal> journal_;
  std::unique_ptr<ingress::RunService> runs_;
  std::unique_ptr<actors::Runtime> runtime_;
  std::unique_ptr<ingress::HttpApi> api_;
  std::unique_ptr<platform::HttpServer> server_;
  std::unique_ptr<platform::HttpServer> admin_;
};

Result<Unit> RunningNode::open_provider() {
  provider::StripeProviderOptions options;
  const ProviderConfig& wanted = config_.provider;
  options.base_url = wanted.base_url;
  if (wanted.kind == ProviderKind::simulator) {
    auto simulator = Simulator::start({});
    if (!simulator) return Unexpected{std::move(simulator).error()};
    simulator_ = std::move(*simulator);
    options.base_url = simulator_->url();
    options.secret_key = platform::Secret{"sk_test_simulator"};
  } else {
    auto key = read_provider_key(config_);
    if (!key) return Unexpected{std::move(key).error()};
    options.secret_key = platform::Secret{std::move(*key)};
  }
  options.timeout = wanted.timeout;
  options.max_in_flight = wanted.max_in_flight;
  options.rate_per_second = wanted.rate_per_second;
  auto provider = StripeProvider::create(std::move(options));
  if (!provider) return Unexpected{std::move(provider).error()};
  provider_ = std::move(*provider);
  // Its time is known by when recovery asks how old a request is.
  provider_->start();
  auto clock = platform::SystemClock::open([this] { return provider_->provider_now(); });
  if (!clock) return Unexpected{std::move(clock).error()};
  clock_ = std::move(*clock);
  return ok();
}

Result<Unit> RunningNode::open_store() {
  if (config_.store.kind != StoreKind::sqlite) {
    return fail(ErrorCode::invalid_config,
                "[store] kind = \"postgres\" is not available in this release; use \"sqlite\"");
  }
  if (config_.cluster.coordinator != Coordinator::none) {
    return fail(ErrorCode::invalid_config,
                "[cluster] coordinator: only \"none\" is available in this release");
  }
  auto folder = check_store_folder(config_.store.path);
  if (!folder) return folder;
  journal::SqliteJournalOptions options;
  options.path = config_.store.path.string();
  options.identity.ns = config_.keys.ns;
  options.identity.account = config_.provider.account;
  options.identity.mode = config_.provider.mode;
  options.identity.key_scheme = config_.keys.scheme == billing::KeyScheme::colon ? "colon" : "v1";
  options.identity.shards = config_.cluster.shards;
  auto journal = journal::SqliteJournal::open(std::move(options));
  if (!journal) return Unexpected{std::move(journal).error()};
  journal_ = std::move(*journal);
  return ok();
}

// A request that is sent before the provider's time is known can later not be told young from old,
// and would have to wait until it is certainly over. A provider that is down is not waited for
// long.
void RunningNode::await_provider_time() const {
  const std::int64_t until_ms = platform::boottime_ms() + provider_time_wait_ms;
  while (!provider_->provider_now() && platform::boottime_ms() < until_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

Result<Unit> RunningNode::start_runtime() {
  await_provider_time();
  auto runs = make_run_service(config_, *journal_, *clock_);
  if (!runs) return Unexpected{std::move(runs).error()};
  runs_ = std::move(*runs);
  actors::RuntimeOptions options;
  options.node = config_.node.name;
  options.shards = config_.cluster.shards;
  std::vector<actors::EntityBinding> bindings;
  bindings.push_back(
      {"customer/", billing::billing_entity_type(billing_policy(config_)), nullptr, nullptr});
  bindings.push_back({"inbox/", billing::inbox_entity_type(), nullptr, nullptr});
  bindings.push_back({"quarantine/", billing::quarantine_entity_type(), nullptr, nullptr});
  bindings.push_back(runs_->binding());
  auto runtime = actors::Runtime::start(std::move(options), *journal_, *provider_, *clock_,
                                        std::move(bindings));
  if (!runtime) return Unexpected{std::move(runtime).error()};
  runtime_ = std::move(*runtime);
  runs_->attach(*runtime_);
  return ok();
}

Result<Unit> RunningNode::start_http() {
  ingress::HttpApiOptions api_options;
  auto tokens = read_tokens(config_);
  if (!tokens) return Unexpected{std::move(tokens).error()};
  api_options.tokens = std::move(*tokens);
  api_options.mode = config_.provider.mode;
  api_options.ns = config_.keys.ns;
  const auto lines = read_webhook_secrets(config_);
  if (!lines) return Unexpected{lines.error()};
  if (!lines->empty()) {
    auto secrets = ingress::WebhookSecrets::parse(*lines);
    if (!secrets) return Unexpected{std::move(secrets).error()};
    api_options.webhook_secrets = std::move(*secrets);
  }
  auto api = ingress::HttpApi::start(
      std::move(api_options), ingress::HttpApiPorts{*runtime_, *journal_, *clock_, runs_.get(),
                                                    [this] { return not_ready(); }});
  if (!api) return Unexpected{std::move(api).error()};
  api_ = std::move(*api);

  platform::HttpServerOptions admin;
  admin.listen = config_.http.admin_listen;
  admin.connections_max = 64;
  admin.body_bytes_max = 4096;
  auto admin_server = platform::HttpServer::start(
      admin, [this](platform::HttpRequest request, platform::HttpResponder responder) {
        responder.answer(answer_admin(request, health()));
      });
  if (!admin_server) return Unexpected{std::move(admin_server).error()};
  admin_ = std::move(*admin_server);

  platform::HttpServerOptions server;
  server.listen = config_.http.listen;
  server.body_bytes_max = upload_bytes_max;
  auto api_server = platform::HttpServer::start(server, api_->handler());
  if (!api_server) return Unexpected{std::move(api_server).error()};
  server_ = std::move(*api_server);
  return ok();
}

Result<Unit> RunningNode::start() {
  using Step = Result<Unit> (RunningNode::*)();
  // Ports last: who can connect finds a node that works.
  for (const Step step : {&RunningNode::open_provider, &RunningNode::open_store,
                          &RunningNode::start_runtime, &RunningNode::start_http}) {
    auto done = (this->*step)();
    if (!done) return done;
  }
  started_ = true;
  log_.info("node", "ready", {{"api", api_url()}, {"admin", admin_url()}});
  return ok();
}

std::optional<std::string> RunningNode::not_ready() const {
  if (draining_) return "draining";
  const auto stats = runtime_->stats();
  if (stats.store_uncertain) return "the store did not confirm a commit: " + stats.store_problem;
  return std::nullopt;
}

NodeHealth RunningNode::health() const {
  NodeHealth health;
  health.started = started_;
  const auto runtime = runtime_->stats();
  const auto provider = provider_->stats();
  health.checks = {
      {"intake", draining_  ? "draining"
                 : started_ ? ""
                            : "starting"},
      {"store", runtime.store_problem},
      {"provider",
       provider.paused_reason.empty() ? "" : "sending is paused: " + provider.paused_reason,
       // What is owed is kept and sent when it answers again: no reason to refuse work.
       provider.unreachable_reason.empty() ? "" : "no answer: " + provider.unreachable_reason}};
  return health;
}

// Intake first, then the work inside, then what the work needs.
void RunningNode::stop(std::chrono::milliseconds patience) {
  if (std::exchange(stopped_, true)) return;
  draining_ = true;
  if (runs_) runs_->stop();
  if (runtime_) runtime_->drain(patience.count());
  if (server_) server_->stop(std::chrono::milliseconds{2'000});
  if (admin_) admin_->stop(std::chrono::milliseconds{100});
  if (provider_) provider_->stop(0);
  server_.reset();
  admin_.reset();
  api_.reset();
  runtime_.reset();
  runs_.reset();
  journal_.reset();
  provider_.reset();
  simulator_.reset();
}

}  // namespace

Result<std::unique_ptr<Node>> Node::start(const Config& config, platform::Log& log) {
  auto node = std::make_unique<RunningNode>(config, log);
  auto started = node->start();
  if (!started) return Unexpected{std::move(started).error()};
  return std::unique_ptr<Node>(std::move(node));
}

}  // namespace onceward::app
