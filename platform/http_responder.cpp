// HttpResponder and HttpResponseStream: the way from any thread back to the lane that owns the
// connection. They name it by number, so that an answer that comes too late finds nobody.
#include <onceward/core/check.hpp>

#include "platform/http_connection.hpp"
#include "platform/http_text.hpp"

namespace onceward::platform {

struct HttpResponder::Target {
  std::shared_ptr<HttpLane> lane;  // outlives the server for late answers
  std::uint64_t connection = 0;
  std::uint64_t request_nr = 0;

  void deliver(Answer answer) const {
    HttpLane* to = lane.get();
    // A closed lane means a stopped server: the connection is gone and nobody waits.
    (void)lane->post([to, id = connection, nr = request_nr, moved = std::move(answer)]() mutable {
      to->deliver(id, nr, std::move(moved));
    });
  }
};

HttpResponder HttpResponderAccess::make(std::shared_ptr<HttpLane> lane, std::uint64_t connection,
                                        std::uint64_t request_nr) {
  return HttpResponder(std::make_unique<HttpResponder::Target>(
      HttpResponder::Target{std::move(lane), connection, request_nr}));
}
HttpResponseStream HttpResponderAccess::make_stream(std::shared_ptr<StreamShared> shared) {
  return HttpResponseStream(std::move(shared));
}

HttpResponder::HttpResponder(std::unique_ptr<Target> target) : target_(std::move(target)) {}
HttpResponder::HttpResponder(HttpResponder&&) noexcept = default;
HttpResponder& HttpResponder::operator=(HttpResponder&& other) noexcept {
  if (target_) target_->deliver(AnswerWhole{plain_answer(500, "the request was not answered")});
  target_ = std::move(other.target_);
  return *this;
}
HttpResponder::~HttpResponder() {
  if (target_) target_->deliver(AnswerWhole{plain_answer(500, "the request was not answered")});
}

std::unique_ptr<HttpResponder::Target> HttpResponder::take() {
  ONCEWARD_CHECK(target_ != nullptr, "a request was answered twice");
  return std::move(target_);
}

void HttpResponder::answer(HttpResponse response) {
  take()->deliver(AnswerWhole{std::move(response)});
}

void HttpResponder::raw(std::string bytes, SocketEnd end) {
  take()->deliver(AnswerRaw{std::move(bytes), end});
}

void HttpResponder::hang() {
  take()->deliver(AnswerHang{});
}

HttpResponseStream HttpResponder::begin_stream(int status, std::vector<HttpHeader> headers) {
  const auto target = take();
  auto shared = std::make_shared<StreamShared>(target->lane, target->connection);
  HttpResponse head;
  head.status = status;
  head.headers = std::move(headers);
  target->deliver(AnswerStream{std::move(head), shared});
  return HttpResponderAccess::make_stream(std::move(shared));
}

namespace {

void wake(const StreamShared& shared) {
  HttpLane* lane = shared.lane.get();
  (void)lane->post(
      [lane, id = shared.connection] { lane->pump_stream(id); });  // gone: nobody reads
}

}  // namespace

HttpResponseStream::HttpResponseStream(std::shared_ptr<StreamShared> shared)
    : shared_(std::move(shared)) {}
HttpResponseStream::HttpResponseStream(HttpResponseStream&&) noexcept = default;
HttpResponseStream& HttpResponseStream::operator=(HttpResponseStream&& other) noexcept {
  abandon();
  shared_ = std::move(other.shared_);
  return *this;
}
HttpResponseStream::~HttpResponseStream() {
  abandon();
}

bool HttpResponseStream::write(std::string chunk) {
  ONCEWARD_CHECK(shared_ != nullptr, "write to a stream after close()");
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->broken) return false;
    if (shared_->pending.size() + chunk.size() > shared_->buffer_bytes_max) return false;
    if (chunk.empty()) return true;
    shared_->pending.append(chunk);
  }
  wake(*shared_);
  return true;
}

void HttpResponseStream::close() {
  ONCEWARD_CHECK(shared_ != nullptr, "close() of a stream that is closed");
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->ended = true;
  }
  wake(*shared_);
  shared_.reset();
}

void HttpResponseStream::abandon() {
  if (!shared_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->abandoned = true;
  }
  wake(*shared_);
  shared_.reset();
}

}  // namespace onceward::platform
