// One I/O thread's table of connections and its clock tick.
#include <algorithm>
#include <vector>

#include "platform/http_connection.hpp"

namespace onceward::platform {
namespace {

/// Deadlines are checked by one tick per lane, four times within the shortest timeout: a timer per
/// connection would be re-armed with every request.
std::chrono::milliseconds tick_interval(const HttpServerOptions& options) {
  const auto shortest = std::min(
      {options.header_timeout, options.body_timeout, options.idle_timeout, options.write_timeout});
  return std::clamp<std::chrono::milliseconds>(shortest / 4, std::chrono::milliseconds(5),
                                               std::chrono::milliseconds(250));
}

}  // namespace

HttpLane::HttpLane(HttpShared& shared)
    : shared_(shared),
      stream_buffer_bytes_max_(shared.options.stream_buffer_bytes_max),
      io_(std::make_unique<boost::asio::io_context>(1)),
      tick_(std::make_unique<boost::asio::steady_timer>(*io_)) {}

HttpLane::~HttpLane() {
  close();
}

void HttpLane::adopt(Tcp::socket socket, std::uint64_t id, bool over_limit) {
  if (draining_) return;
  const auto connection = std::make_shared<HttpConnection>(*this, shared_, std::move(socket), id);
  connections_.emplace(id, connection);
  if (over_limit) {
    connection->refuse(503, "too many connections");
  } else {
    connection->start();
  }
  arm_tick();
}

void HttpLane::deliver(std::uint64_t connection, std::uint64_t request_nr, Answer answer) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const auto alive = found->second;  // delivering may remove it from the table
  alive->deliver(request_nr, std::move(answer));
}

void HttpLane::pump_stream(std::uint64_t connection) {
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const auto alive = found->second;
  alive->pump_stream();
}

void HttpLane::forget(std::uint64_t connection) {
  connections_.erase(connection);
  if (connections_.empty()) tick_->cancel();
}

void HttpLane::begin_drain() {
  draining_ = true;
  std::vector<std::shared_ptr<HttpConnection>> all;
  for (const auto& entry : connections_) all.push_back(entry.second);
  for (const auto& connection : all) connection->drain();
}

void HttpLane::arm_tick() {
  if (tick_armed_ || connections_.empty()) return;
  tick_armed_ = true;
  tick_->expires_after(tick_interval(shared_.options));
  tick_->async_wait([this](const AsioError&) {
    tick_armed_ = false;
    on_tick();
    arm_tick();
  });
}

void HttpLane::on_tick() {
  const SteadyTime now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<HttpConnection>> late;
  for (const auto& entry : connections_) {
    if (entry.second->is_late(now)) late.push_back(entry.second);
  }
  for (const auto& connection : late) connection->time_out();
}

void HttpLane::close() {
  std::unique_ptr<boost::asio::io_context> io;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
    io = std::move(io_);
  }
  connections_.clear();
  tick_.reset();
  // The loop destroys the operations that never finished, and with them their connections.
  io.reset();
}

}  // namespace onceward::platform
