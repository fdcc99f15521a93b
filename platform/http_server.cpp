// HttpServer: binding, accepting, spreading connections over lanes, stopping. HttpResponder and
// HttpResponseStream: the thread-safe way back to a lane.
#include <onceward/platform/http_server.hpp>

#include <fcntl.h>
#include <boost/asio/executor_work_guard.hpp>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <thread>

#include "platform/http_connection.hpp"
#include "platform/http_text.hpp"

namespace onceward::platform {
namespace {

/// Refusals with 503 that may be in progress beyond connections_max; above, sockets are just shut.
constexpr std::size_t refusals_max = 64;
/// Pause after a failed accept, e.g. when the process is out of file descriptors.
constexpr std::chrono::milliseconds accept_retry{50};

struct ListenAddress {
  std::string host;
  std::string port;
};

Result<ListenAddress> parse_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::invalid_argument, "listen address \"" + std::string(text) + "\" " +
                                                 std::string(why) +
                                                 "; expected HOST:PORT, e.g. 127.0.0.1:8080");
  };
  if (colon == std::string_view::npos) return bad("has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size()) return bad("has no valid port");
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad("needs brackets around an IPv6 host");
  }
  if (host.empty()) return bad("has no host");
  return ListenAddress{std::string(host), std::string(port)};
}

Result<Tcp::endpoint> resolve(boost::asio::io_context& io, const std::string& listen) {
  auto address = parse_listen(listen);
  if (!address) return Unexpected{std::move(address).error()};
  AsioError error;
  const auto found =
      Tcp::resolver(io).resolve(address->host, address->port, Tcp::resolver::passive, error);
  if (error || found.empty()) {
    return fail(ErrorCode::io, "cannot resolve listen address " + listen + ": " + error.message());
  }
  return found.begin()->endpoint();
}

/// A child process must not keep our ports and connections open.
void close_on_exec(int fd) {
  (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);  // failure would only leak the descriptor to children
}

std::optional<std::string> find_bad_option(const HttpServerOptions& options) {
  if (options.io_threads == 0 || options.io_threads > 256) return "io_threads must be 1 to 256";
  if (options.connections_max == 0) return "connections_max must be at least 1";
  if (options.header_bytes_max < 256) return "header_bytes_max must be at least 256";
  const auto shortest = std::min(
      {options.header_timeout, options.body_timeout, options.idle_timeout, options.write_timeout});
  if (shortest <= std::chrono::milliseconds::zero()) return "timeouts must be positive";
  return std::nullopt;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerOptions options, HttpHandler handler) {
    shared_.options = std::move(options);
    shared_.handler = std::move(handler);
    for (std::size_t nr = 0; nr < shared_.options.io_threads; ++nr) {
      lanes_.push_back(std::make_shared<HttpLane>(shared_));
    }
    acceptor_.emplace(lanes_.front()->io());
    accept_pause_.emplace(lanes_.front()->io());
  }

  [[nodiscard]] Result<Unit> listen();
  void run();
  void stop(std::chrono::milliseconds deadline);

  [[nodiscard]] const Tcp::endpoint& bound() const noexcept { return bound_; }
  [[nodiscard]] std::size_t connections() const noexcept { return shared_.connections.load(); }

 private:
  using WorkGuard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  void accept();
  void on_accepted(const AsioError& error, Tcp::socket socket);
  void run_lane(HttpLane& lane);

  HttpShared shared_;
  std::vector<std::shared_ptr<HttpLane>> lanes_;  // shared with responders, which may live longer
  std::optional<Tcp::acceptor> acceptor_;
  std::optional<boost::asio::steady_timer> accept_pause_;
  Tcp::endpoint bound_;
  std::vector<WorkGuard> guards_;
  std::vector<std::thread> threads_;
  std::uint64_t connections_accepted_ = 0;  // touched by the first lane only

  std::mutex mutex_;
  std::condition_variable lane_ended_;
  std::size_t lanes_running_ = 0;  // guarded by mutex_
};

Result<Unit> HttpServer::Impl::listen() {
  auto endpoint = resolve(lanes_.front()->io(), shared_.options.listen);
  if (!endpoint) return Unexpected{std::move(endpoint).error()};
  AsioError error;
  acceptor_->open(endpoint->protocol(), error);
  if (!error) acceptor_->set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_->bind(*endpoint, error);
  if (!error) acceptor_->listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error) bound_ = acceptor_->local_endpoint(error);
  if (error) {
    return fail(ErrorCode::io, "cannot listen on " + shared_.options.listen + ": " +
                                   error.message() + "; choose another address or stop its user");
  }
  close_on_exec(acceptor_->native_handle());
  return ok();
}

void HttpServer::Impl::run() {
  accept();
  lanes_running_ = lanes_.size();
  for (const auto& lane : lanes_) {
    guards_.emplace_back(lane->io().get_executor());
    threads_.emplace_back([this, lane] { run_lane(*lane); });
  }
}

void HttpServer::Impl::run_lane(HttpLane& lane) {
  lane.io().run();
  const std::lock_guard lock(mutex_);
  --lanes_running_;
  lane_ended_.notify_all();
}

void HttpServer::Impl::accept() {
  HttpLane& lane = *lanes_[connections_accepted_ % lanes_.size()];
  acceptor_->async_accept(lane.io(), [this](const AsioError& error, Tcp::socket socket) {
    on_accepted(error, std::move(socket));
  });
}

void HttpServer::Impl::on_accepted(const AsioError& error, Tcp::socket socket) {
  if (!acceptor_->is_open()) return;
  if (error) {
    accept_pause_->expires_after(accept_retry);
    accept_pause_->async_wait([this](const AsioError&) {
      if (acceptor_->is_open()) accept();
    });
    return;
  }
  close_on_exec(socket.native_handle());
  HttpLane& lane = *lanes_[connections_accepted_ % lanes_.size()];
  const std::uint64_t id = ++connections_accepted_;
  const std::size_t open = connections();
  const bool over_limit = open >= shared_.options.connections_max;
  if (open < shared_.options.connections_max + refusals_max) {
    if (&lane == lanes_.front().get()) {
      lane.adopt(std::move(socket), id, over_limit);
    } else {
      (void)lane.post([&lane, id, over_limit, moved = std::move(socket)]() mutable {
        lane.adopt(std::move(moved), id, over_limit);
      });  // a closed lane drops the socket, as stop() would
    }
  }
  accept();
}

void HttpServer::Impl::stop(std::chrono::milliseconds deadline) {
  if (threads_.empty()) return;
  for (const std::thread& thread : threads_) {
    ONCEWARD_CHECK(thread.get_id() != std::this_thread::get_id(), "stop() on an I/O thread");
  }
  (void)lanes_.front()->post([this] {
    AsioError ignored;  // a listening socket that does not close is closed with the process
    acceptor_->close(ignored);
    accept_pause_->cancel();
  });
  for (const auto& lane : lanes_) (void)lane->post([&lane] { lane->begin_drain(); });
  guards_.clear();
  {
    std::unique_lock lock(mutex_);
    lane_ended_.wait_for(lock, deadline, [this] { return lanes_running_ == 0; });
  }
  for (const auto& lane : lanes_) lane->io().stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  acceptor_.reset();
  accept_pause_.reset();
  for (const auto& lane : lanes_) lane->close();
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options,
                                                      HttpHandler handler) {
  ONCEWARD_CHECK(handler != nullptr, "an HTTP server needs a handler");
  if (auto bad = find_bad_option(options)) {
    return fail(ErrorCode::invalid_argument, "HTTP server options: " + *bad);
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handler));
  if (auto listening = impl->listen(); !listening) {
    return Unexpected{std::move(listening).error()};
  }
  impl->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() {
  impl_->stop(std::chrono::milliseconds::zero());
}
std::uint16_t HttpServer::port() const noexcept {
  return impl_->bound().port();
}
std::string HttpServer::url() const {
  const auto& bound = impl_->bound();
  const std::string host = bound.address().to_string();
  return "http://" + (bound.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(bound.port());
}
std::size_t HttpServer::connections() const noexcept {
  return impl_->connections();
}
void HttpServer::stop(std::chrono::milliseconds deadline) {
  impl_->stop(deadline);
}

}  // namespace onceward::platform
