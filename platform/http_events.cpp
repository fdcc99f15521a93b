// epoll for libcurl's sockets and an eventfd to end its wait.
#include "platform/http_events.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace onceward::platform {

HttpEvents::~HttpEvents() {
  if (epoll_ >= 0) ::close(epoll_);
  if (wake_ >= 0) ::close(wake_);
}

Result<Unit> HttpEvents::attach(CURLM* multi) {
  multi_ = multi;
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    return fail(ErrorCode::io,
                std::string("no descriptor to wait for the network: ") + std::strerror(errno));
  }
  if ((curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, &HttpEvents::on_socket) != CURLM_OK ||
      (curl_multi_setopt)(multi, CURLMOPT_SOCKETDATA, this) != CURLM_OK ||
      (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, &HttpEvents::on_timer) != CURLM_OK ||
      (curl_multi_setopt)(multi, CURLMOPT_TIMERDATA, this) != CURLM_OK) {
    return fail(ErrorCode::io, "libcurl refuses to report its sockets");
  }
  return ok();
}

int HttpEvents::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  static_cast<HttpEvents*>(self)->watch(socket, what);
  return 0;
}

int HttpEvents::on_timer(CURLM*, long ms, void* self) {
  auto& due = static_cast<HttpEvents*>(self)->due_;
  due.reset();
  if (ms >= 0) due = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  return 0;
}

void HttpEvents::watch(curl_socket_t socket, int what) {
  epoll_event event{};
  event.data.fd = socket;
  if (what == CURL_POLL_REMOVE) {
    // A socket that is closed already has left by itself.
    (void)::epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, &event);
    return;
  }
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  // A descriptor's number may come back before libcurl tells that its predecessor is gone.
  if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) == 0) return;
  ONCEWARD_CHECK(errno == ENOENT && ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0,
                 "a socket of libcurl can be waited for");
}

void HttpEvents::act(curl_socket_t socket, int ready) {
  int running = 0;
  ONCEWARD_CHECK(curl_multi_socket_action(multi_, socket, ready, &running) == CURLM_OK,
                 "libcurl is broken");
}

void HttpEvents::act_on_due() {
  if (!due_ || *due_ > std::chrono::steady_clock::now()) return;
  due_.reset();  // libcurl sets the next one from inside
  act(CURL_SOCKET_TIMEOUT, 0);
}

int HttpEvents::wait_ms(std::chrono::milliseconds longest) const {
  auto wait = longest;
  if (due_) {
    wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(
                              *due_ - std::chrono::steady_clock::now()));
  }
  return static_cast<int>(std::max(wait, std::chrono::milliseconds{0}).count());
}

void HttpEvents::wait(std::chrono::milliseconds longest) {
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait_ms(longest));
  ONCEWARD_CHECK(count >= 0 || errno == EINTR, "the sockets of libcurl can be waited for");
  for (int nr = 0; nr < count; ++nr) {
    const epoll_event& event = events[static_cast<std::size_t>(nr)];
    if (event.data.fd == wake_) {
      std::uint64_t told = 0;
      (void)!::read(wake_, &told, sizeof(told));
      continue;
    }
    int ready = 0;
    if ((event.events & EPOLLIN) != 0) ready |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) ready |= CURL_CSELECT_OUT;
    // What neither reads nor writes shows its error in the attempt.
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) ready |= CURL_CSELECT_IN | CURL_CSELECT_ERR;
    act(event.data.fd, ready);
  }
  act_on_due();
}

void HttpEvents::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof(one));  // full only if it is set already
}

}  // namespace onceward::platform
