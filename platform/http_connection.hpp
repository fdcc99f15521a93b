// HttpLane: one I/O thread's world (event loop, its connections, its clock tick). HttpConnection:
// the life of one socket. Private to the HTTP server; the only headers here that name Asio.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include <onceward/platform/http_server.hpp>

#include "platform/http_request_reader.hpp"

namespace onceward::platform {

using Tcp = boost::asio::ip::tcp;
using AsioError = boost::system::error_code;
using SteadyTime = std::chrono::steady_clock::time_point;

struct StreamShared;

struct AnswerWhole {
  HttpResponse response;
};
struct AnswerRaw {
  std::string bytes;
  SocketEnd end = SocketEnd::fin;
};
struct AnswerHang {};
struct AnswerStream {
  HttpResponse head;
  std::shared_ptr<StreamShared> stream;
};
using Answer = std::variant<AnswerWhole, AnswerRaw, AnswerHang, AnswerStream>;

/// What all lanes share: settings that are const after start, and counters.
struct HttpShared {
  HttpServerOptions options;
  HttpHandler handler;
  std::atomic<std::size_t> connections{0};
};

/// The only maker of responders; keeps the lane alive for answers that come late.
class HttpLane;
struct HttpResponderAccess {
  [[nodiscard]] static HttpResponder make(std::shared_ptr<HttpLane> lane, std::uint64_t connection,
                                          std::uint64_t request_nr);
  [[nodiscard]] static HttpResponseStream make_stream(std::shared_ptr<StreamShared> shared);
};

class HttpConnection;

/// Owns the event loop and the connections of one I/O thread. Members without a mutex are touched
/// only by that thread, and after its end by the thread that stops the server.
class HttpLane : public std::enable_shared_from_this<HttpLane> {
 public:
  explicit HttpLane(HttpShared& shared);
  ~HttpLane();

  [[nodiscard]] boost::asio::io_context& io() noexcept { return *io_; }
  /// Runs `work` on the lane's thread, soon. False when the lane is closed: then it never runs.
  template <class Work>
  bool post(Work&& work);

  /// Takes over a fresh socket; refuses it with 503 when `over_limit`.
  void adopt(Tcp::socket socket, std::uint64_t id, bool over_limit);
  void deliver(std::uint64_t connection, std::uint64_t request_nr, Answer answer);
  void pump_stream(std::uint64_t connection);
  void forget(std::uint64_t connection);

  /// Idle connections close now, busy ones after their answer; run() then returns by itself.
  [[nodiscard]] std::size_t stream_buffer_bytes_max() const noexcept {
    return stream_buffer_bytes_max_;
  }
  void begin_drain();
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  [[nodiscard]] std::size_t open_connections() const noexcept { return connections_.size(); }
  /// Destroys connections and loop. Only after the thread has ended; answers then go nowhere.
  void close();

 private:
  void arm_tick();
  void on_tick();

  HttpShared& shared_;
  const std::size_t stream_buffer_bytes_max_;  // a copy: asked for after the server is gone
  // Guards open_ and the life of io_ against threads that post late answers.
  std::mutex mutex_;
  bool open_ = true;
  std::unique_ptr<boost::asio::io_context> io_;
  std::unique_ptr<boost::asio::steady_timer> tick_;
  std::unordered_map<std::uint64_t, std::shared_ptr<HttpConnection>> connections_;
  bool tick_armed_ = false;
  bool draining_ = false;
};

/// The queue between a stream's writer (any thread) and its connection (lane thread).
struct StreamShared {
  StreamShared(std::shared_ptr<HttpLane> owner, std::uint64_t id)
      : lane(std::move(owner)), connection(id), buffer_bytes_max(lane->stream_buffer_bytes_max()) {}

  const std::shared_ptr<HttpLane> lane;  // outlives the server for late writers
  const std::uint64_t connection;
  const std::size_t buffer_bytes_max;

  std::mutex mutex;  // guards what follows
  std::string pending;
  bool ended = false;      // close() was called
  bool abandoned = false;  // dropped without close()
  bool broken = false;     // the connection is gone
};

/// One socket from acceptance to close. Shared by the lane's table and its own pending operations.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpLane& lane, HttpShared& shared, Tcp::socket socket, std::uint64_t id);
  ~HttpConnection();

  void start();
  /// Answers without reading a request, then ends.
  void refuse(int status, std::string_view reason);
  void deliver(std::uint64_t request_nr, Answer answer);
  void pump_stream();
  void drain();
  [[nodiscard]] bool is_late(SteadyTime now) const noexcept { return now >= deadline_; }
  void time_out();

 private:
  enum class Phase : std::uint8_t {
    idle,       // between requests
    header,     // first bytes of a request seen
    body,       // head complete
    handling,   // the handler owes the answer
    writing,    // an answer is going out
    streaming,  // a chunked answer is open
    hanging,    // never to be answered
    lingering,  // our side is shut; waiting for the peer to close
    closed,
  };

  void read_more();
  void on_read(const AsioError& error, std::size_t bytes);
  void process_input();
  void await(const NeedMore& need);
  void handle(ReadRequest read);
  void write_out();
  void on_written(const AsioError& error);
  void after_answer();
  void end(SocketEnd how);
  void linger();
  void discard_input();
  void close(bool reset);
  void set_phase(Phase phase, std::chrono::milliseconds timeout);

  void answer(AnswerWhole whole);
  void answer(AnswerRaw raw);
  void answer(AnswerHang hang);
  void answer(AnswerStream stream);

  HttpLane& lane_;
  HttpShared& shared_;
  Tcp::socket socket_;
  const std::uint64_t id_;
  std::string peer_;
  HttpRequestReader reader_;
  std::string in_;   // received, not yet parsed
  std::string out_;  // being written
  std::unique_ptr<char[]> read_space_;
  std::shared_ptr<StreamShared> stream_;  // shared with the writer, who may live longer
  Phase phase_ = Phase::idle;
  SteadyTime deadline_ = SteadyTime::max();
  std::uint64_t request_nr_ = 0;
  SocketEnd end_ = SocketEnd::fin;
  bool head_only_ = false;
  bool http_1_0_ = false;
  bool close_after_ = false;
};

template <class Work>
bool HttpLane::post(Work&& work) {
  const std::lock_guard lock(mutex_);
  if (!open_) return false;
  boost::asio::post(*io_, std::forward<Work>(work));
  return true;
}

}  // namespace onceward::platform
