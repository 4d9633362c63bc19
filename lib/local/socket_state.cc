// SPDX-License-Identifier: Apache-2.0
#include "local/socket_state.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "local/fd.h"

namespace suede {

// Asks the kernel for the socket that is bound to the file, as a datagram socket would address it:
// the kernel finds the socket by the file, so that symbolic links, relative paths and network
// namespaces do not matter, and refuses on account of its type before it touches it. /proc/net/unix
// has the path as it was bound, and the sockets of one network namespace alone.
SocketState StateOfSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return SocketState::kUnknown;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) return SocketState::kUnknown;
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (connect(probe.get(), to, sizeof address) == 0) return SocketState::kHeld;  // by datagrams
  switch (errno) {
    case EPROTOTYPE: return SocketState::kHeld;
    case ECONNREFUSED: return SocketState::kDead;
    case ENOENT: return SocketState::kAbsent;
    default: return SocketState::kUnknown;
  }
}

bool IsAbstractNameHeld(std::string_view name, const char* list) {
  std::ifstream sockets(list);
  std::string line;
  std::getline(sockets, line);  // the heads of the columns
  while (std::getline(sockets, line)) {
    constexpr int kColumnsBefore = 7;
    std::istringstream columns(line);
    std::string bound;
    for (int i = 0; i < kColumnsBefore; ++i) columns >> bound;
    if (!std::getline(columns >> std::ws, bound) || !bound.starts_with('@')) continue;
    // The kernel shows each zero byte as '@'; a name may be padded with them.
    bound.erase(0, 1);
    bound.erase(bound.find_last_not_of('@') + 1);
    if (bound == name) return true;
  }
  return false;
}

}  // namespace suede
