// Looks at idle sockets in one poll() and shuts those that have something to say.
#include "platform/http_idle_sockets.hpp"

#include <algorithm>
#include <cstddef>

#include <sys/socket.h>

namespace onceward::platform {

void HttpIdleSockets::begin_use(const void* user, int local_port) {
  std::erase_if(uses_, [=](const Use& use) { return use.user == user; });
  uses_.push_back({user, local_port});
  for (std::size_t i = 0; i < idle_local_ports_.size(); ++i) {
    if (idle_local_ports_[i] == local_port) return erase_idle(i);
  }
}

void HttpIdleSockets::end_use(const void* user, int socket, int local_port) {
  std::erase_if(uses_, [=](const Use& use) { return use.user == user; });
  const bool used_again = std::any_of(uses_.begin(), uses_.end(),
                                      [=](const Use& use) { return use.local_port == local_port; });
  if (socket < 0 || used_again) return;
  forget(socket);  // two users may have ended in one turn
  idle_sockets_.push_back({socket, POLLIN, 0});
  idle_local_ports_.push_back(local_port);
}

void HttpIdleSockets::forget(int socket) noexcept {
  for (std::size_t i = 0; i < idle_sockets_.size(); ++i) {
    if (idle_sockets_[i].fd == socket) return erase_idle(i);
  }
}

void HttpIdleSockets::erase_idle(std::size_t index) noexcept {
  idle_sockets_[index] = idle_sockets_.back();
  idle_sockets_.pop_back();
  idle_local_ports_[index] = idle_local_ports_.back();
  idle_local_ports_.pop_back();
}

void HttpIdleSockets::end_those_that_speak() {
  if (idle_sockets_.empty() || ::poll(idle_sockets_.data(), idle_sockets_.size(), 0) <= 0) return;
  for (const pollfd& idle : idle_sockets_) {
    if (idle.revents == 0) continue;
    // libcurl peeks: what waits must be gone, and no more may come. A peer that outruns this loop
    // is cut off after a bounded number of reads and found out by the next call.
    ::shutdown(idle.fd, SHUT_RDWR);
    char bytes[4096];
    for (int reads = 0; reads < 64; ++reads) {
      if (::recv(idle.fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0) break;
    }
  }
}

}  // namespace onceward::platform
