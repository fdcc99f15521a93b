// HttpEvents: which sockets of a multi handle are ready, and when libcurl wants to be called again.
// Asking libcurl to look at every transfer itself costs a system call per transfer and turn. Used
// by HttpClient only.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <optional>

#include <onceward/core/result.hpp>

namespace onceward::platform {

/// Must outlive the multi handle, which calls back until it is gone. On the client's thread, except
/// wake().
class HttpEvents {
 public:
  HttpEvents() = default;
  HttpEvents(const HttpEvents&) = delete;
  HttpEvents& operator=(const HttpEvents&) = delete;
  ~HttpEvents();

  /// io if the system gives no descriptor or libcurl refuses. Once.
  [[nodiscard]] Result<Unit> attach(CURLM* multi);
  /// Lets libcurl act on what was added and on what has come due.
  void act_on_due();
  /// Waits for a socket, for libcurl's next due time, for wake() or for `longest`, whichever comes
  /// first, and lets libcurl act on it.
  void wait(std::chrono::milliseconds longest);
  /// Ends a wait that runs, or the next one. Any thread.
  void wake() noexcept;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
  static int on_timer(CURLM*, long ms, void* self);
  void watch(curl_socket_t socket, int what);
  void act(curl_socket_t socket, int ready);
  [[nodiscard]] int wait_ms(std::chrono::milliseconds longest) const;

  CURLM* multi_ = nullptr;
  int epoll_ = -1;
  int wake_ = -1;
  std::optional<SteadyTime> due_;  // of libcurl's own timer
};

}  // namespace onceward::platform
