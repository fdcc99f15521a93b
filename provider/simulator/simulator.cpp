// The socket adapter: hands requests to the pure provider under one mutex, stores what changed,
// delivers answers, and wakes when a waiting answer is due.
#include <onceward/provider/simulator/simulator.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <onceward/platform/http_client.hpp>
#include <onceward/platform/http_server.hpp>
#include <onceward/platform/system_clock.hpp>

#include "provider/simulator/simulator_database.hpp"
#include "provider/simulator/socket_exchange.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr std::size_t connections_max = 8192;
/// How long the waiting thread sleeps when nothing is due; it is woken earlier when something is.
constexpr std::chrono::milliseconds idle_wait{60'000};
/// Webhooks under way at a time; more wait in the provider's own queue.
constexpr std::size_t webhooks_under_way_max = 32;
/// A receiver that has not answered by then has not answered.
constexpr std::chrono::milliseconds webhook_timeout{10'000};

}  // namespace

class Simulator::Impl {
 public:
  Impl(const SimulatorSettings& settings, const Now& started,
       std::optional<SimulatorDatabase> database)
      : started_(started), provider_(settings), database_(std::move(database)) {}

  [[nodiscard]] Result<Unit> restore();
  [[nodiscard]] Result<Unit> serve(const std::string& listen);
  void stop();

  /// Runs `use` on the provider, then stores and delivers what came of it.
  template <class Use>
  auto with_provider(Use&& use) {
    std::vector<Delivery> deliveries;
    std::unique_lock lock(mutex_);
    provider_.advance(driver_now());
    auto result = use(provider_);
    flush(deliveries);
    // The clock, or what was made, may have made something due.
    due_changed_.notify_one();
    lock.unlock();
    deliver_all(std::move(deliveries));
    return result;
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return url_; }
  [[nodiscard]] std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  using Delivery = std::pair<WireAnswer, platform::HttpResponder>;

  [[nodiscard]] Timestamp driver_now() const {
    // Not the wall clock itself: waiting answers must not wait longer when that is set back.
    return started_.wall.plus(
        std::chrono::milliseconds(platform::boottime_ms() - started_.boottime_ms));
  }
  void on_request(platform::HttpRequest request, platform::HttpResponder responder);
  [[nodiscard]] Result<Unit> listen_on(const std::string& address);
  void wait_for_due();
  [[nodiscard]] std::optional<Timestamp> next_due() const;
  void close_listener(std::unique_lock<std::mutex>& lock);
  void reopen_listener(std::unique_lock<std::mutex>& lock);
  void send_webhooks(std::vector<WebhookCall> calls);
  void on_webhook_answer(std::uint64_t nr, std::optional<int> status);
  void flush(std::vector<Delivery>& deliveries);
  static void deliver_all(std::vector<Delivery> deliveries);

  const Now started_;

  mutable std::mutex mutex_;  // guards what follows, up to server_
  std::condition_variable due_changed_;
  SimulatedProvider provider_;
  std::optional<SimulatorDatabase> database_;
  std::unordered_map<RequestNr, platform::HttpResponder> responders_;
  std::optional<Error> failure_;
  bool stopping_ = false;
  std::size_t webhooks_under_way_ = 0;
  std::chrono::milliseconds close_for_{0};        // the listener is to be closed for that long
  std::optional<Timestamp> reopen_at_;            // driver time
  std::unique_ptr<platform::HttpServer> server_;  // null while it is closed

  std::thread waiter_;
  std::unique_ptr<platform::HttpClient> client_;  // for webhooks; thread-safe
  std::string host_;
  std::uint16_t port_ = 0;
  std::string url_;
};

Result<Unit> Simulator::Impl::restore() {
  if (!database_) return ok();
  auto rows = database_->load();
  if (!rows) return Unexpected{std::move(rows).error()};
  return provider_.restore(*rows);
}

Result<Unit> Simulator::Impl::serve(const std::string& listen) {
  platform::HttpClientOptions options;
  options.connections_max = webhooks_under_way_max;
  auto client = platform::HttpClient::start(std::move(options));
  if (!client) return Unexpected{std::move(client).error()};
  client_ = *std::move(client);
  if (auto listening = listen_on(listen); !listening) return listening;
  host_ = listen.substr(0, listen.rfind(':'));
  port_ = server_->port();
  url_ = server_->url();
  waiter_ = std::thread([this] { wait_for_due(); });
  return ok();
}

Result<Unit> Simulator::Impl::listen_on(const std::string& address) {
  platform::HttpServerOptions options;
  options.listen = address;
  options.connections_max = connections_max;
  auto server = platform::HttpServer::start(
      std::move(options), [this](platform::HttpRequest request, platform::HttpResponder responder) {
        on_request(std::move(request), std::move(responder));
      });
  if (!server) return Unexpected{std::move(server).error()};
  server_ = *std::move(server);
  return ok();
}

void Simulator::Impl::on_request(platform::HttpRequest request, platform::HttpResponder responder) {
  const WireRequest wire = to_wire(std::move(request));
  std::vector<Delivery> deliveries;
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return responder.raw("", platform::SocketEnd::rst);
    const auto due_before = next_due();
    const RequestNr nr = provider_.receive(wire, driver_now());
    responders_.emplace(nr, std::move(responder));
    flush(deliveries);
    if (next_due() != due_before || close_for_.count() > 0) due_changed_.notify_one();
  }
  deliver_all(std::move(deliveries));
}

std::optional<Timestamp> Simulator::Impl::next_due() const {
  auto due =
      webhooks_under_way_ < webhooks_under_way_max ? provider_.next_wake() : provider_.next_due();
  if (reopen_at_) due = due ? std::min(*due, *reopen_at_) : *reopen_at_;
  return due;
}

/// Waiting answers, webhooks, and the listener, each at its time.
void Simulator::Impl::wait_for_due() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (close_for_.count() > 0) close_listener(lock);
    if (reopen_at_ && *reopen_at_ <= driver_now()) reopen_listener(lock);
    const auto due = next_due();
    const auto wait = due ? std::chrono::milliseconds(due->ms - driver_now().ms) : idle_wait;
    if (wait.count() > 0 && !stopping_) {
      due_changed_.wait_for(lock, wait);
      continue;
    }
    std::vector<Delivery> deliveries;
    provider_.advance(driver_now());
    flush(deliveries);
    auto calls = provider_.take_webhooks(webhooks_under_way_max - webhooks_under_way_);
    webhooks_under_way_ += calls.size();
    lock.unlock();
    // Answers first: a webhook comes before the answer only where a rule says so.
    deliver_all(std::move(deliveries));
    send_webhooks(std::move(calls));
    lock.lock();
  }
}

void Simulator::Impl::close_listener(std::unique_lock<std::mutex>& lock) {
  reopen_at_ = driver_now().plus(std::exchange(close_for_, std::chrono::milliseconds(0)));
  const auto server = std::move(server_);
  if (server == nullptr) return;
  // Its threads may be waiting for the mutex in on_request().
  lock.unlock();
  server->stop(std::chrono::milliseconds::zero());
  lock.lock();
}

void Simulator::Impl::reopen_listener(std::unique_lock<std::mutex>&) {
  reopen_at_.reset();
  if (auto listening = listen_on(host_ + ":" + std::to_string(port_)); !listening) {
    failure_ = std::move(listening).error();
  }
}

void Simulator::Impl::send_webhooks(std::vector<WebhookCall> calls) {
  for (WebhookCall& call : calls) {
    platform::HttpClientRequest request;
    request.method = platform::HttpMethod::post;
    request.url = std::move(call.url);
    for (const auto& [name, value] : call.headers) request.headers.push_back(name + ": " + value);
    request.body = std::move(call.body);
    request.timeout = webhook_timeout;
    client_->send(std::move(request), [this, nr = call.nr](platform::HttpClientResult&& result) {
      const bool answered = result.outcome == platform::HttpOutcome::complete;
      on_webhook_answer(nr, answered ? std::optional<int>(result.status) : std::nullopt);
    });
  }
}

void Simulator::Impl::on_webhook_answer(std::uint64_t nr, std::optional<int> status) {
  std::vector<Delivery> deliveries;
  {
    const std::lock_guard lock(mutex_);
    --webhooks_under_way_;
    provider_.advance(driver_now());
    provider_.webhook_answered(nr, status);
    flush(deliveries);
    due_changed_.notify_one();
  }
  deliver_all(std::move(deliveries));
}

void Simulator::Impl::flush(std::vector<Delivery>& deliveries) {
  auto rows = provider_.take_changes();
  if (database_ && !rows.empty() && !failure_) {
    if (auto stored = database_->store(rows); !stored) {
      failure_ = std::move(stored).error();
      due_changed_.notify_all();
    }
  }
  for (FinishedRequest& finished : provider_.take_finished()) {
    const auto found = responders_.find(finished.nr);
    if (found == responders_.end()) continue;
    close_for_ = std::max(close_for_, finished.answer.closed_for);
    if (failure_) {
      // What could not be stored must not be told.
      finished.answer.ending = WireEnding::rst;
      finished.answer.body_bytes_sent.reset();
    }
    deliveries.emplace_back(std::move(finished.answer), std::move(found->second));
    responders_.erase(found);
  }
}

void Simulator::Impl::deliver_all(std::vector<Delivery> deliveries) {
  for (auto& [answer, responder] : deliveries) deliver(std::move(answer), std::move(responder));
}

void Simulator::Impl::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  due_changed_.notify_all();
  if (waiter_.joinable()) waiter_.join();
  if (server_) server_->stop(std::chrono::milliseconds::zero());
  if (client_) client_->stop(std::chrono::milliseconds::zero());
  const std::lock_guard lock(mutex_);
  responders_.clear();
  database_.reset();
}

Result<std::unique_ptr<Simulator>> Simulator::start(SimulatorOptions options) {
  auto clock = platform::SystemClock::open({});
  if (!clock) return Unexpected{std::move(clock).error()};
  std::optional<SimulatorDatabase> database;
  if (!options.db.empty()) {
    auto opened = SimulatorDatabase::open(options.db);
    if (!opened) return Unexpected{std::move(opened).error()};
    database.emplace(*std::move(opened));
    options.settings.collect_changes = true;
  }
  auto impl = std::make_unique<Impl>(options.settings, (*clock)->now(), std::move(database));
  if (auto restored = impl->restore(); !restored) return Unexpected{std::move(restored).error()};
  if (auto served = impl->serve(options.listen); !served) {
    return Unexpected{std::move(served).error()};
  }
  return std::unique_ptr<Simulator>(new Simulator(std::move(impl)));
}

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::~Simulator() {
  stop();
}

void Simulator::stop() {
  impl_->stop();
}
std::uint16_t Simulator::port() const {
  return impl_->port();
}
std::string Simulator::url() const {
  return impl_->url();
}
std::optional<Error> Simulator::store_failure() const {
  return impl_->failure();
}

Result<Unit> Simulator::set_faults(std::string_view json) {
  return impl_->with_provider(
      [&](SimulatedProvider& provider) { return provider.set_faults(json); });
}
void Simulator::clear_faults() {
  (void)impl_->with_provider([](SimulatedProvider& provider) {
    provider.clear_faults();
    return ok();
  });  // always ok
}
void Simulator::expire_keys() {
  (void)impl_->with_provider([](SimulatedProvider& provider) {
    provider.expire_keys();
    return ok();
  });  // always ok
}
void Simulator::advance_clock(std::chrono::milliseconds by) {
  (void)impl_->with_provider([&](SimulatedProvider& provider) {
    provider.advance_clock(by);
    return ok();
  });  // always ok
}
WireAnswer Simulator::control(const std::string& method, const std::string& path,
                              const std::string& body) {
  return impl_->with_provider(
      [&](SimulatedProvider& provider) { return provider.control(method, path, body); });
}
Result<Unit> Simulator::set_chaos(ChaosSettings settings) {
  return impl_->with_provider(
      [&](SimulatedProvider& provider) { return provider.set_chaos(std::move(settings)); });
}
std::vector<LedgerRow> Simulator::ledger() const {
  return impl_->with_provider(
      [](const SimulatedProvider& provider) { return provider.ledger().rows(); });
}
Result<std::vector<LedgerOffender>> Simulator::groups_above(const std::vector<std::string>& fields,
                                                            std::size_t max) const {
  return impl_->with_provider([&](const SimulatedProvider& provider) {
    return provider.ledger().groups_above(fields, max);
  });
}
std::vector<WireTraceRow> Simulator::trace() const {
  return impl_->with_provider([](const SimulatedProvider& provider) { return provider.trace(); });
}

}  // namespace onceward::provider::simulator
