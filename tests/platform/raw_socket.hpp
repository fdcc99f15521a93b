// RawSocket: a blocking loopback client socket for tests that need exact bytes on the wire, and to
// see how a connection ends. Every wait is bounded; nothing here understands HTTP beyond lengths.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace onceward::test {

enum class WireEnd : std::uint8_t { open, fin, rst };

class RawSocket {
 public:
  explicit RawSocket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  RawSocket(RawSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        connected_(other.connected_),
        buffer_(std::move(other.buffer_)),
        end_(other.end_) {}
  RawSocket& operator=(RawSocket&&) = delete;
  ~RawSocket() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] WireEnd end() const { return end_; }
  /// Bytes received and not yet taken by read_answer().
  [[nodiscard]] const std::string& buffered() const { return buffer_; }

  /// False when the peer has already closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void shut_sending() { ::shutdown(fd_, SHUT_WR); }

  /// Receives once, for at most `wait`; false when nothing came or the connection ended.
  bool receive(std::chrono::milliseconds wait = std::chrono::seconds(5)) {
    if (end_ != WireEnd::open) return false;
    pollfd watch{fd_, POLLIN, 0};
    if (::poll(&watch, 1, static_cast<int>(wait.count())) <= 0) return false;
    char bytes[65536];
    const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got > 0) buffer_.append(bytes, static_cast<std::size_t>(got));
    if (got == 0) end_ = WireEnd::fin;
    if (got < 0) end_ = errno == ECONNRESET ? WireEnd::rst : WireEnd::fin;
    return got > 0;
  }
  /// Everything until the peer ends the connection (or five quiet seconds).
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(buffer_, {});
  }
  /// One whole answer with Content-Length; shorter when the connection ends before.
  std::string read_answer() {
    std::size_t head = std::string::npos;
    while ((head = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return std::exchange(buffer_, {});
    }
    const std::size_t at = buffer_.find("Content-Length: ");
    std::size_t whole = head + 4;
    if (at < head) whole += std::strtoul(buffer_.c_str() + at + 16, nullptr, 10);
    while (buffer_.size() < whole) {
      if (!receive()) return std::exchange(buffer_, {});
    }
    std::string answer = buffer_.substr(0, whole);
    buffer_.erase(0, whole);
    return answer;
  }
  std::string ask(std::string_view request) {
    send(request);
    return read_answer();
  }

 private:
  int fd_ = -1;
  bool connected_ = false;
  std::string buffer_;
  WireEnd end_ = WireEnd::open;
};

/// "HTTP/1.1 409 Conflict..." -> 409; 0 when there is no status line.
inline int status_of(std::string_view answer) {
  if (answer.substr(0, 9) != "HTTP/1.1 ") return 0;
  return std::atoi(std::string(answer.substr(9, 3)).c_str());
}
inline std::string body_of(std::string_view answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  return head == std::string_view::npos ? "" : std::string(answer.substr(head + 4));
}

}  // namespace onceward::test
