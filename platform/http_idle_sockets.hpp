// HttpIdleSockets: the kept connections that no request uses now. libcurl 7.88 takes a kept
// connection for alive while unread bytes wait on it, and would read them as the answer to the next
// request: somebody else's answer. Used by HttpClient only, on its thread.
#pragma once

#include <cstddef>
#include <vector>

#include <poll.h>

namespace onceward::platform {

class HttpIdleSockets {
 public:
  /// `user` is about to send on the connection with that local port.
  void begin_use(const void* user, int local_port);
  /// `user` has ended. `socket` is its connection if that is kept, else negative. Within one turn
  /// of libcurl the connection may have gone to the next user already: then it is not idle.
  void end_use(const void* user, int socket, int local_port);
  /// libcurl closes the socket; its number may soon belong to somebody else.
  void forget(int socket) noexcept;
  /// Ends every idle connection on which a byte or an end waits: nothing was asked there. libcurl
  /// then finds it dead and opens another one. One system call if all are quiet.
  void end_those_that_speak();

 private:
  struct Use {
    const void* user;
    int local_port;
  };
  void erase_idle(std::size_t index) noexcept;

  std::vector<Use> uses_;
  // Parallel: pollfd is what the kernel wants to see.
  std::vector<pollfd> idle_sockets_;
  std::vector<int> idle_local_ports_;
};

}  // namespace onceward::platform
