// The life of one connection: read, hand over, write, end. All of it runs on the lane's thread.
#include "platform/http_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "platform/http_text.hpp"

namespace onceward::platform {
namespace {

constexpr std::string_view continue_answer = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t read_bytes = 16 * 1024;
constexpr std::chrono::milliseconds linger_timeout{1000};
constexpr std::chrono::milliseconds no_timeout = std::chrono::milliseconds::max();

std::string peer_text(const Tcp::socket& socket) {
  AsioError error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return "unknown";
  return peer.address().to_string() + ":" + std::to_string(peer.port());
}

}  // namespace

HttpConnection::HttpConnection(HttpLane& lane, HttpShared& shared, Tcp::socket socket,
                               std::uint64_t id)
    : lane_(lane),
      shared_(shared),
      socket_(std::move(socket)),
      id_(id),
      peer_(peer_text(socket_)),
      reader_(shared.options),
      read_space_(std::make_unique<char[]>(read_bytes)) {
  shared_.connections.fetch_add(1, std::memory_order_relaxed);
}

HttpConnection::~HttpConnection() {
  shared_.connections.fetch_sub(1, std::memory_order_relaxed);
  if (stream_) {
    const std::lock_guard lock(stream_->mutex);
    stream_->broken = true;
  }
}

void HttpConnection::start() {
  AsioError ignored;  // without TCP_NODELAY answers are only slower
  socket_.set_option(Tcp::no_delay(true), ignored);
  await(NeedMore{});
}

void HttpConnection::set_phase(Phase phase, std::chrono::milliseconds timeout) {
  phase_ = phase;
  deadline_ =
      timeout == no_timeout ? SteadyTime::max() : std::chrono::steady_clock::now() + timeout;
}

void HttpConnection::await(const NeedMore& need) {
  const HttpServerOptions& options = shared_.options;
  switch (need.phase) {
    case NeedMore::Phase::between_requests:
      set_phase(Phase::idle, options.idle_timeout);
      break;
    case NeedMore::Phase::header:
      // The deadline counts from the first byte: trickling bytes must not extend it.
      if (phase_ != Phase::header) set_phase(Phase::header, options.header_timeout);
      break;
    case NeedMore::Phase::body:
      if (phase_ != Phase::body) set_phase(Phase::body, options.body_timeout);
      break;
  }
  if (!need.send_continue) return read_more();
  // Not out_: a timeout may put its answer there while this is still going out.
  boost::asio::async_write(socket_, boost::asio::buffer(continue_answer),
                           [self = shared_from_this()](const AsioError& error, std::size_t) {
                             if (error) return self->close(false);
                             self->read_more();
                           });
}

void HttpConnection::read_more() {
  if (phase_ == Phase::closed) return;
  socket_.async_read_some(boost::asio::buffer(read_space_.get(), read_bytes),
                          [self = shared_from_this()](const AsioError& error, std::size_t bytes) {
                            self->on_read(error, bytes);
                          });
}

void HttpConnection::on_read(const AsioError& error, std::size_t bytes) {
  // A timeout may have answered 408 while this read was pending; its bytes are then discarded.
  const bool reading = phase_ == Phase::idle || phase_ == Phase::header || phase_ == Phase::body;
  if (!reading) return;
  if (error) return close(false);
  in_.append(read_space_.get(), bytes);
  process_input();
}

void HttpConnection::process_input() {
  auto outcome = reader_.read(in_);
  if (auto* need = std::get_if<NeedMore>(&outcome)) {
    await(*need);
  } else if (auto* read = std::get_if<ReadRequest>(&outcome)) {
    handle(std::move(*read));
  } else {
    const auto& refused = std::get<RefusedRequest>(outcome);
    refuse(refused.status, refused.reason);
  }
}

void HttpConnection::handle(ReadRequest read) {
  HttpRequest& request = read.request;
  request.connection_id = id_;
  request.nr_on_connection = ++request_nr_;
  request.peer = peer_;
  head_only_ = request.method == "HEAD";
  http_1_0_ = read.http_1_0;
  close_after_ = !read.keep_alive || lane_.draining();
  set_phase(Phase::handling, no_timeout);
  HttpResponder responder = HttpResponderAccess::make(lane_.shared_from_this(), id_, request_nr_);
  try {
    shared_.handler(std::move(request), std::move(responder));
  } catch (...) {
    // The responder went with the handler's frame and has already answered 500.
  }
}

void HttpConnection::deliver(std::uint64_t request_nr, Answer answer_given) {
  if (phase_ != Phase::handling || request_nr != request_nr_) return;
  std::visit([this](auto& given) { answer(std::move(given)); }, answer_given);
}

void HttpConnection::answer(AnswerWhole whole) {
  close_after_ = close_after_ || whole.response.close || lane_.draining();
  append_answer(out_, whole.response, {head_only_, close_after_, http_1_0_, false});
  end_ = SocketEnd::fin;
  set_phase(Phase::writing, shared_.options.write_timeout);
  write_out();
}

void HttpConnection::answer(AnswerRaw raw) {
  close_after_ = true;
  end_ = raw.end;
  out_ = std::move(raw.bytes);
  if (out_.empty()) return end(end_);
  set_phase(Phase::writing, shared_.options.write_timeout);
  write_out();
}

void HttpConnection::answer(AnswerHang) {
  set_phase(Phase::hanging, no_timeout);
  discard_input();  // notices when the client gives up
}

void HttpConnection::answer(AnswerStream stream) {
  close_after_ = close_after_ || http_1_0_;
  stream_ = std::move(stream.stream);
  append_answer(out_, stream.head, {head_only_, close_after_, http_1_0_, true});
  set_phase(Phase::streaming, shared_.options.write_timeout);
  write_out();
}

void HttpConnection::write_out() {
  boost::asio::async_write(socket_, boost::asio::buffer(out_),
                           [self = shared_from_this()](const AsioError& error, std::size_t) {
                             self->on_written(error);
                           });
}

void HttpConnection::on_written(const AsioError& error) {
  out_.clear();
  if (phase_ != Phase::writing && phase_ != Phase::streaming) return;
  if (error) return close(false);
  if (phase_ == Phase::streaming) {
    deadline_ = SteadyTime::max();
    return pump_stream();
  }
  after_answer();
}

void HttpConnection::after_answer() {
  if (close_after_) return end(end_);
  phase_ = Phase::idle;
  process_input();
}

void HttpConnection::pump_stream() {
  if (phase_ != Phase::streaming || !out_.empty()) return;  // on_written() comes back here
  std::string data;
  bool ended = false;
  bool abandoned = false;
  {
    const std::lock_guard lock(stream_->mutex);
    data.swap(stream_->pending);
    ended = stream_->ended;
    abandoned = stream_->abandoned;
  }
  if (abandoned) return end(SocketEnd::rst);
  if (!data.empty() && !head_only_) {
    if (http_1_0_) {
      out_ = std::move(data);
    } else {
      append_chunk(out_, data);
    }
  }
  if (ended) {
    stream_.reset();
    if (!http_1_0_ && !head_only_) out_.append(last_chunk);
    phase_ = Phase::writing;
    if (out_.empty()) return after_answer();
  }
  if (out_.empty()) return;
  set_phase(phase_, shared_.options.write_timeout);
  write_out();
}

void HttpConnection::refuse(int status, std::string_view reason) {
  close_after_ = true;
  end_ = SocketEnd::fin;
  append_answer(out_, plain_answer(status, reason), {false, true, false, false});
  set_phase(Phase::writing, shared_.options.write_timeout);
  write_out();
}

void HttpConnection::end(SocketEnd how) {
  if (how == SocketEnd::rst) return close(true);
  linger();
}

void HttpConnection::linger() {
  // close() with unread input would send RST, which may destroy the answer before the peer reads
  // it; so only our side is shut, and what still comes is thrown away for a moment.
  AsioError error;
  socket_.shutdown(Tcp::socket::shutdown_send, error);
  if (error) return close(false);
  set_phase(Phase::lingering, linger_timeout);
  discard_input();
}

void HttpConnection::discard_input() {
  socket_.async_read_some(boost::asio::buffer(read_space_.get(), read_bytes),
                          [self = shared_from_this()](const AsioError& error, std::size_t) {
                            const Phase phase = self->phase_;
                            if (phase != Phase::lingering && phase != Phase::hanging) return;
                            if (error) return self->close(false);
                            self->discard_input();
                          });
}

void HttpConnection::close(bool reset) {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  deadline_ = SteadyTime::max();
  AsioError ignored;  // the socket is given up whatever it says
  if (reset) socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
  if (stream_) {
    const std::lock_guard lock(stream_->mutex);
    stream_->broken = true;
  }
  lane_.forget(id_);
}

void HttpConnection::drain() {
  switch (phase_) {
    case Phase::idle:
    case Phase::header:
    case Phase::body:
    case Phase::lingering:
      return close(false);
    case Phase::hanging:
    case Phase::streaming:
      return close(true);
    case Phase::handling:
    case Phase::writing:
      close_after_ = true;
      return;
    case Phase::closed:
      return;
  }
}

void HttpConnection::time_out() {
  switch (phase_) {
    case Phase::header:
      return refuse(408, "the request headers took too long");
    case Phase::body:
      return refuse(408, "the request body took too long");
    case Phase::writing:
    case Phase::streaming:
      return close(true);
    case Phase::idle:
    case Phase::handling:
    case Phase::hanging:
    case Phase::lingering:
    case Phase::closed:
      return close(false);
  }
}

}  // namespace onceward::platform
