// RawServer: a loopback server for tests that need exact bytes on the wire and control over how a
// connection ends. A script says, request by request, what goes back. Also counts what real clients
// hide: connections, requests on each, requests answered at the same time.
#pragma once

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace onceward::test {

struct RawRequest {
  std::size_t connection = 0;        ///< 1, 2, ... in order of acceptance
  std::size_t nr_on_connection = 0;  ///< 1 for the first
  std::string head;                  ///< request line and headers as received
  std::string body;

  [[nodiscard]] std::string line() const { return head.substr(0, head.find("\r\n")); }
  /// Value of the header with exactly this spelling; empty if absent.
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto value = at + name.size() + 4;
    return head.substr(value, head.find("\r\n", value) - value);
  }
};

enum class RawEnd : std::uint8_t { keep, fin, rst };

struct RawReply {
  std::string bytes;
  RawEnd end = RawEnd::keep;
};

/// A whole answer; `headers` are complete lines with "\r\n".
inline RawReply http_reply(int status, const std::string& body, const std::string& headers = {}) {
  return {"HTTP/1.1 " + std::to_string(status) + " Text\r\nContent-Type: application/json\r\n" +
              headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
          RawEnd::keep};
}

/// One thread per connection. The script runs on it and may block; before the server is destroyed
/// nothing may block there any more.
class RawServer {
 public:
  using Script = std::function<RawReply(const RawRequest&)>;

  explicit RawServer(Script script) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, length) != 0 || ::listen(listener_, 256) != 0 ||
        ::getsockname(listener_, generic, &length) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& connection : connections_) connection.join();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<RawRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  [[nodiscard]] std::size_t accepted() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  /// Sends bytes that nobody asked for on every open connection, and waits until the peers' kernels
  /// have them.
  void push(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) {
      send_all(fd, bytes);
      int unacknowledged = 1;
      while (::ioctl(fd, SIOCOUTQ, &unacknowledged) == 0 && unacknowledged > 0) {
        std::this_thread::yield();
      }
    }
  }
  /// Most requests ever between their last byte and their answer at the same time.
  [[nodiscard]] std::size_t concurrent_max() const {
    const std::lock_guard lock(mutex_);
    return concurrent_max_;
  }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      connections_.emplace_back([this, fd, nr = ++accepted_] { serve(fd, nr); });
    }
  }

  void serve(int fd, std::size_t connection) {
    std::string buffer;
    RawEnd end = RawEnd::fin;
    for (std::size_t nr = 1; true; ++nr) {
      RawRequest request{connection, nr, {}, {}};
      if (!read_request(fd, buffer, request)) break;
      const RawReply reply = answer(request);
      send_all(fd, reply.bytes);
      end = reply.end;
      if (end != RawEnd::keep) break;
    }
    const std::lock_guard lock(mutex_);
    open_.erase(std::find(open_.begin(), open_.end(), fd));
    if (end == RawEnd::rst) {
      const linger now{1, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    ::close(fd);
  }

  RawReply answer(const RawRequest& request) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      concurrent_max_ = std::max(concurrent_max_, ++concurrent_);
    }
    RawReply reply = script_(request);
    const std::lock_guard lock(mutex_);
    --concurrent_;
    return reply;
  }

  static bool read_request(int fd, std::string& buffer, RawRequest& request) {
    std::size_t head_end = 0;
    while ((head_end = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (!receive(fd, buffer)) return false;
    }
    request.head = buffer.substr(0, head_end + 2);
    const std::string length = request.header("Content-Length");
    const std::size_t whole = head_end + 4 + (length.empty() ? 0 : std::stoul(length));
    while (buffer.size() < whole) {
      if (!receive(fd, buffer)) return false;
    }
    request.body = buffer.substr(head_end + 4, whole - head_end - 4);
    buffer.erase(0, whole);
    return true;
  }

  static bool receive(int fd, std::string& buffer) {
    char bytes[16384];
    const auto got = ::recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffer.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  static void send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  const Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread acceptor_;

  // --- guarded by mutex_ (connections_: by the acceptor alone until it has ended) ---
  mutable std::mutex mutex_;
  std::vector<RawRequest> requests_;
  std::vector<int> open_;
  std::size_t accepted_ = 0;
  std::size_t concurrent_ = 0;
  std::size_t concurrent_max_ = 0;
  std::vector<std::thread> connections_;
};

/// A loopback port on which nobody listens: connections are refused.
inline std::uint16_t refusing_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, generic, length) != 0 || ::getsockname(fd, generic, &length) != 0) std::abort();
  ::close(fd);
  return ntohs(address.sin_port);
}

}  // namespace onceward::test
