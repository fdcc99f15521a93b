// The socket adapter: hands requests to the pure provider under one mutex, stores what changed,
// delivers answers, and wakes when a waiting answer is due.
#include <onceward/provider/simulator/simulator.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <onceward/platform/http_server.hpp>
#include <onceward/platform/system_clock.hpp>

#include "provider/simulator/simulator_database.hpp"

namespace onceward::provider::simulator {
namespace {

constexpr std::size_t connections_max = 8192;
/// How long the waiting thread sleeps when nothing is due; it is woken earlier when something is.
constexpr std::chrono::milliseconds idle_wait{60'000};

WireRequest to_wire(platform::HttpRequest request) {
  WireRequest wire;
  wire.method = std::move(request.method);
  wire.path = std::move(request.path);
  wire.query = std::move(request.query);
  for (auto& header : request.headers) {
    wire.headers.emplace_back(std::move(header.name), std::move(header.value));
  }
  wire.body = std::move(request.body);
  wire.connection = request.connection_id;
  wire.nr_on_connection = request.nr_on_connection;
  return wire;
}

/// The complete head and the first bytes of the body, for an answer that is cut.
std::string cut_bytes(const WireAnswer& answer) {
  if (!answer.body_bytes_sent) return {};
  std::string bytes = "HTTP/1.1 " + std::to_string(answer.status) + " OK\r\n";
  for (const auto& [name, value] : answer.headers) {
    bytes.append(name).append(": ").append(value).append("\r\n");
  }
  bytes.append("Content-Length: ").append(std::to_string(answer.body.size())).append("\r\n\r\n");
  return bytes.append(answer.body, 0, *answer.body_bytes_sent);
}

void deliver(WireAnswer answer, platform::HttpResponder responder) {
  switch (answer.ending) {
    case WireEnding::whole: {
      platform::HttpResponse response;
      response.status = answer.status;
      for (auto& [name, value] : answer.headers) {
        response.headers.push_back({std::move(name), std::move(value)});
      }
      response.body = std::move(answer.body);
      return responder.answer(std::move(response));
    }
    case WireEnding::fin:
      return responder.raw(cut_bytes(answer), platform::SocketEnd::fin);
    case WireEnding::rst:
      return responder.raw(cut_bytes(answer), platform::SocketEnd::rst);
    case WireEnding::hang:
      return responder.hang();
  }
}

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
    lock.unlock();
    deliver_all(std::move(deliveries));
    return result;
  }

  [[nodiscard]] const platform::HttpServer& server() const { return *server_; }
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
  void wait_for_due_answers();
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

  std::thread waiter_;
  std::unique_ptr<platform::HttpServer> server_;
};

Result<Unit> Simulator::Impl::restore() {
  if (!database_) return ok();
  auto rows = database_->load();
  if (!rows) return Unexpected{std::move(rows).error()};
  return provider_.restore(*rows);
}

Result<Unit> Simulator::Impl::serve(const std::string& listen) {
  platform::HttpServerOptions options;
  options.listen = listen;
  options.connections_max = connections_max;
  auto server = platform::HttpServer::start(
      std::move(options), [this](platform::HttpRequest request, platform::HttpResponder responder) {
        on_request(std::move(request), std::move(responder));
      });
  if (!server) return Unexpected{std::move(server).error()};
  server_ = *std::move(server);
  waiter_ = std::thread([this] { wait_for_due_answers(); });
  return ok();
}

void Simulator::Impl::on_request(platform::HttpRequest request, platform::HttpResponder responder) {
  const WireRequest wire = to_wire(std::move(request));
  std::vector<Delivery> deliveries;
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return responder.raw("", platform::SocketEnd::rst);
    const auto due_before = provider_.next_due();
    const RequestNr nr = provider_.receive(wire, driver_now());
    responders_.emplace(nr, std::move(responder));
    flush(deliveries);
    if (provider_.next_due() != due_before) due_changed_.notify_one();
  }
  deliver_all(std::move(deliveries));
}

void Simulator::Impl::wait_for_due_answers() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto due = provider_.next_due();
    const auto wait = due ? std::chrono::milliseconds(due->ms - driver_now().ms) : idle_wait;
    if (wait.count() > 0) {
      due_changed_.wait_for(lock, wait);
      continue;
    }
    std::vector<Delivery> deliveries;
    provider_.advance(driver_now());
    flush(deliveries);
    lock.unlock();
    deliver_all(std::move(deliveries));
    lock.lock();
  }
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
  return impl_->server().port();
}
std::string Simulator::url() const {
  return impl_->server().url();
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
